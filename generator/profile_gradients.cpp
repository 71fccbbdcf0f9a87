#include "generator/bucketing.hpp"
#include "generator/profile_reader.hpp"
#include "generator/profile_sections.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace generator {
namespace {

constexpr Range<std::uint64_t> size_range{1, std::numeric_limits<std::int64_t>::max()};
constexpr Range<nanoseconds> position_range{nanoseconds(0), std::chrono::hours(24)};
constexpr Range<nanoseconds> cycle_range{std::chrono::microseconds(1), std::chrono::hours(1)};
constexpr std::uint64_t most_copies = 1'000'000; // of all buckets together

/// Rules inside one bucket.
void check_bucket(const ExplicitBucket& bucket, const std::vector<Group>& groups,
                  const ObjectReader& section) {
    if (bucket.every > nanoseconds(0) && bucket.repeat == 1) {
        section.fail("every", "needs \"repeat\" of at least 2");
    }
    const nanoseconds last = std::max(bucket.ready_after, bucket.needed_at.value_or(nanoseconds(0)));
    if (bucket.every > (position_range.most - last) / std::max(1u, bucket.repeat - 1)) {
        section.fail("every", "the last copy must be at most " + shown(position_range.most) +
                                  " after the iteration's start");
    }
    if (bucket.collective == Collective::send) {
        const auto is_pair = [](const std::vector<int>& members) { return members.size() == 2; };
        const bool pairs = bucket.group > 0 && std::all_of(groups[bucket.group - 1].members.begin(),
                                                           groups[bucket.group - 1].members.end(), is_pair);
        if (!pairs) {
            section.fail("group", "a send needs a group whose lists have two ranks: sender and receiver");
        }
    } else if (bucket.needed_at && *bucket.needed_at < bucket.ready_after) {
        section.fail("needed_at", fmt::format("must not be before ready_after, {}, is {}",
                                              shown(bucket.ready_after), shown(*bucket.needed_at)));
    }
}

ExplicitBucket read_bucket(ObjectReader section, const std::vector<Group>& groups) {
    ExplicitBucket bucket;
    const auto bytes = section.bytes("bytes", size_range);
    bucket.ready_after = section.duration("ready_after", position_range).value_or(bucket.ready_after);
    bucket.needed_at = section.duration("needed_at", position_range);
    if (const auto collective = section.choice("collective", collective_names)) {
        bucket.collective = static_cast<Collective>(*collective);
    }
    std::vector<std::string_view> names{"all"};
    for (const Group& group : groups) {
        names.push_back(group.name);
    }
    bucket.group = static_cast<std::uint32_t>(section.choice("group", names).value_or(0));
    bucket.repeat = static_cast<std::uint32_t>(section.count("repeat", {1, most_copies}).value_or(1));
    bucket.every = section.duration("every", position_range).value_or(bucket.every);
    section.finish();
    if (!bytes) {
        section.fail("bytes", "required");
    }
    bucket.bytes = *bytes;
    check_bucket(bucket, groups, section);
    return bucket;
}

/// Together they must fit into 63 bits and into memory.
void check_totals(const std::vector<ExplicitBucket>& buckets, const std::vector<ObjectReader>& sections) {
    std::uint64_t bytes = 0;
    std::uint64_t copies = 0;
    for (std::size_t i = 0; i < buckets.size(); ++i) {
        copies += buckets[i].repeat;
        if (copies > most_copies) {
            sections[i].fail("repeat",
                             fmt::format("all buckets together must be at most {} copies", most_copies));
        }
        if (buckets[i].bytes > (size_range.most - bytes) / buckets[i].repeat) {
            sections[i].fail("bytes",
                             fmt::format("all buckets together must be at most {}", size_range.most));
        }
        bytes += buckets[i].bytes * buckets[i].repeat;
    }
}

} // namespace

GradientSettings read_gradients(ObjectReader section, const std::vector<Group>& groups) {
    GradientSettings gradients;
    if (const auto bucketing = section.choice("bucketing", bucketing_names)) {
        gradients.bucketing = static_cast<Bucketing>(*bucketing);
    }
    const auto size = [&section](std::string_view key, std::uint64_t otherwise) {
        return section.bytes(key, size_range).value_or(otherwise);
    };
    gradients.first_bucket_bytes = size("first_bucket_bytes", gradients.first_bucket_bytes);
    gradients.bucket_cap_bytes = size("bucket_cap_bytes", gradients.bucket_cap_bytes);
    gradients.fusion_threshold = size("fusion_threshold", gradients.fusion_threshold);
    gradients.cycle_time = section.duration("cycle_time", cycle_range).value_or(gradients.cycle_time);
    gradients.partition_bytes = size("partition_bytes", gradients.partition_bytes);
    gradients.first_iteration_single =
        section.flag("first_iteration_single").value_or(gradients.first_iteration_single);
    gradients.overlap = section.flag("overlap").value_or(gradients.overlap);
    gradients.broadcast_buffers = section.flag("broadcast_buffers").value_or(gradients.broadcast_buffers);
    if (const auto sharding = section.choice("sharding", sharding_names)) {
        gradients.sharding = static_cast<Sharding>(*sharding);
    }
    gradients.prefetch =
        static_cast<std::uint32_t>(section.count("prefetch", {0, 1000}).value_or(gradients.prefetch));
    const std::vector<ObjectReader> buckets = section.sections("buckets");
    for (const ObjectReader& bucket : buckets) {
        gradients.buckets.push_back(read_bucket(bucket, groups));
    }
    section.finish();
    check_totals(gradients.buckets, buckets);
    return gradients;
}

/// Where its members launched a group's last bucket: of a send, its sender and its receiver.
struct Launched {
    nanoseconds first{0};
    nanoseconds second{0};
};

void check_launch_order(const Profile& profile, const Origin& origin) {
    const nanoseconds optimizer_start = explicit_buckets(profile).optimizer_start;
    std::vector<Launched> groups(profile.groups.size() + 1);
    for (std::size_t i = 0; i < profile.gradients.buckets.size(); ++i) {
        const ExplicitBucket& bucket = profile.gradients.buckets[i];
        Launched& before = groups[bucket.group];
        const auto check = [&](std::string_view key, nanoseconds position, nanoseconds least) {
            if (position < least) {
                throw std::invalid_argument(
                    fmt::format("{}: must not be before the previous bucket's{}, {}, is {}",
                                origin.name(fmt::format("/gradients/buckets/{}/{}", i, key)),
                                bucket.group > 0 ? " of this group" : "", shown(least), shown(position)));
            }
        };
        const bool send = bucket.collective == Collective::send;
        const nanoseconds received = bucket.needed_at.value_or(optimizer_start);
        check("ready_after", bucket.ready_after, send ? before.first : std::max(before.first, before.second));
        if (send) {
            check("needed_at", received, before.second);
        }
        const nanoseconds later = (bucket.repeat - 1) * bucket.every;
        before = {bucket.ready_after + later,
                  send && !bucket.needed_at ? received : (send ? received : bucket.ready_after) + later};
    }
}

} // namespace generator
