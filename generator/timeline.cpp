#include "generator/timeline.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/compile.h>
#include <iterator>
#include <stdexcept>

namespace generator {
namespace {

constexpr std::size_t longest_usual_line = 150; // bytes: so that texts of 20 MB do not move while they grow

/// Reads the next number; numbers are separated by one space.
template <class Number>
Number take(std::string_view& text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{})
        throw std::invalid_argument("timeline: a number is missing");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty())
        text.remove_prefix(1);
    return value;
}

/// Iterations are recorded in their order.
const IterationRecord* find(const Timeline& timeline, std::uint32_t iteration) {
    const auto found = std::lower_bound(
        timeline.iterations.begin(), timeline.iterations.end(), iteration,
        [](const IterationRecord& record, std::uint32_t wanted) { return record.iteration < wanted; });
    return found != timeline.iterations.end() && found->iteration == iteration ? &*found : nullptr;
}

} // namespace

// The timelines of a long run have a few hundred thousand lines, and Ctrl-C leaves little time for them:
// therefore the formats are compiled.

std::string timeline_csv(const std::vector<Timeline>& timelines) {
    std::size_t lines = 1;
    for (const Timeline& timeline : timelines)
        lines += timeline.buckets.size();
    std::string csv;
    csv.reserve(lines * longest_usual_line);
    const auto out = std::back_inserter(csv);
    fmt::format_to(out,
                   "rank,iteration,bucket,iteration_start_ns,due_ns,start_ns,end_ns,iteration_end_ns,late_ns,"
                   "bucket_bytes,sent_bytes,received_bytes\n");
    for (const Timeline& timeline : timelines)
        for (const BucketRecord& r : timeline.buckets) {
            fmt::format_to(out, FMT_COMPILE("{},{},{},"), timeline.rank, r.iteration, r.bucket);
            if (const IterationRecord* const iteration = find(timeline, r.iteration))
                fmt::format_to(out, FMT_COMPILE("{},{},{},{},{},"), iteration->start_ns, r.due_ns, r.start_ns,
                               r.end_ns, iteration->end_ns);
            else
                fmt::format_to(out, FMT_COMPILE(",{},{},{},,"), r.due_ns, r.start_ns, r.end_ns);
            fmt::format_to(out, FMT_COMPILE("{},{},{},{}\n"), r.late_ns, r.bytes, r.sent_bytes,
                           r.received_bytes);
        }
    return csv;
}

std::string serialize(const Timeline& timeline) {
    std::string text;
    text.reserve((timeline.buckets.size() + timeline.iterations.size() + 1) * longest_usual_line);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "{} {} {} {} {} {}", timeline.rank, timeline.start_monotonic_ns, timeline.sent_bytes,
                   timeline.received_bytes, timeline.buckets.size(), timeline.iterations.size());
    for (const BucketRecord& r : timeline.buckets)
        fmt::format_to(out, FMT_COMPILE(" {} {} {} {} {} {} {} {} {}"), r.iteration, r.bucket, r.due_ns,
                       r.start_ns, r.end_ns, r.late_ns, r.bytes, r.sent_bytes, r.received_bytes);
    for (const IterationRecord& r : timeline.iterations)
        fmt::format_to(out, FMT_COMPILE(" {} {} {}"), r.iteration, r.start_ns, r.end_ns);
    return text;
}

Timeline parse_timeline(std::string_view text) {
    Timeline timeline;
    timeline.rank = take<int>(text);
    timeline.start_monotonic_ns = take<std::int64_t>(text);
    timeline.sent_bytes = take<std::uint64_t>(text);
    timeline.received_bytes = take<std::uint64_t>(text);
    const auto buckets = take<std::size_t>(text);
    const auto iterations = take<std::size_t>(text);
    for (std::size_t i = 0; i < buckets; ++i) {
        BucketRecord r;
        r.iteration = take<std::uint32_t>(text);
        r.bucket = take<std::uint32_t>(text);
        for (std::int64_t* time : {&r.due_ns, &r.start_ns, &r.end_ns, &r.late_ns})
            *time = take<std::int64_t>(text);
        for (std::uint64_t* bytes : {&r.bytes, &r.sent_bytes, &r.received_bytes})
            *bytes = take<std::uint64_t>(text);
        timeline.buckets.push_back(r);
    }
    for (std::size_t i = 0; i < iterations; ++i) {
        IterationRecord r;
        r.iteration = take<std::uint32_t>(text);
        r.start_ns = take<std::int64_t>(text);
        r.end_ns = take<std::int64_t>(text);
        timeline.iterations.push_back(r);
    }
    return timeline;
}

} // namespace generator
