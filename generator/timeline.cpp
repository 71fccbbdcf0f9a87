#include "generator/timeline.hpp"

#include <charconv>
#include <fmt/format.h>
#include <iterator>
#include <map>
#include <stdexcept>

namespace generator {
namespace {

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

} // namespace

std::string timeline_csv(const std::vector<Timeline>& timelines) {
    std::string csv =
        "rank,iteration,bucket,iteration_start_ns,due_ns,start_ns,end_ns,iteration_end_ns,late_ns,"
        "bucket_bytes,sent_bytes,received_bytes\n";
    for (const Timeline& timeline : timelines) {
        std::map<std::uint32_t, IterationRecord> iterations;
        for (const IterationRecord& record : timeline.iterations)
            iterations[record.iteration] = record;
        for (const BucketRecord& record : timeline.buckets) {
            const auto found = iterations.find(record.iteration);
            const bool ended = found != iterations.end();
            fmt::format_to(std::back_inserter(csv), "{},{},{},{},{},{},{},{},{},{},{},{}\n", timeline.rank,
                           record.iteration, record.bucket,
                           ended ? std::to_string(found->second.start_ns) : "", record.due_ns,
                           record.start_ns, record.end_ns, ended ? std::to_string(found->second.end_ns) : "",
                           record.late_ns, record.bytes, record.sent_bytes, record.received_bytes);
        }
    }
    return csv;
}

std::string serialize(const Timeline& timeline) {
    std::string text =
        fmt::format("{} {} {} {} {} {}", timeline.rank, timeline.start_monotonic_ns, timeline.sent_bytes,
                    timeline.received_bytes, timeline.buckets.size(), timeline.iterations.size());
    for (const BucketRecord& r : timeline.buckets)
        fmt::format_to(std::back_inserter(text), " {} {} {} {} {} {} {} {} {}", r.iteration, r.bucket,
                       r.due_ns, r.start_ns, r.end_ns, r.late_ns, r.bytes, r.sent_bytes, r.received_bytes);
    for (const IterationRecord& r : timeline.iterations)
        fmt::format_to(std::back_inserter(text), " {} {} {}", r.iteration, r.start_ns, r.end_ns);
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
