#include "tools/report_sections.hpp"

#include "collectors/units.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <ctime>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tools {
namespace {

std::string duration_text(double seconds) {
    return collectors::format_duration(std::chrono::nanoseconds(std::llround(1e9 * seconds)));
}

std::string trace_text(const ReportRun& run) {
    const auto span = number_in(run.document, "/interfaces/0/span_seconds");
    const collectors::TraceInfo& info = run.input->traces.front().info;
    std::string text = duration_text(span.value_or(0)) + ", sampled";
    if (info.interval.count() > 0)
        text += " every " + collectors::format_duration(info.interval);
    return text + " from " + (info.source.empty() ? "an unknown source" : info.source);
}

std::string buckets_text(const std::vector<BucketNumbers>& buckets) {
    if (buckets.empty())
        return "buckets unknown";
    double least = static_cast<double>(buckets.front().bytes);
    double most = 0;
    double sum = 0;
    for (const BucketNumbers& bucket : buckets) {
        const auto bytes = static_cast<double>(bucket.bytes);
        least = std::min(least, bytes);
        most = std::max(most, bytes);
        sum += bytes;
    }
    std::string text = fmt::format("{} bucket{} of {}", buckets.size(), buckets.size() == 1 ? "" : "s",
                                   collectors::format_bytes(least));
    if (most > least)
        text += " to " + collectors::format_bytes(most);
    return buckets.size() == 1 ? text
                               : fmt::format("{}, {} per iteration", text, collectors::format_bytes(sum));
}

} // namespace

std::string ran_text(const ReportRun& run) {
    if (run.input->kind == ReportInput::Kind::trace)
        return trace_text(run);
    const auto number = [&](const char* path) { return number_in(run.document, path); };
    const double count = number("/iterations/count").value_or(0);
    const double planned = number("/profile/run/iterations").value_or(count);
    const double warmup = number("/iterations/warmup").value_or(0);
    std::string text = planned > count ? fmt::format("{:.0f} of {:.0f} iterations", count, planned)
                                       : fmt::format("{:.0f} iteration{}", count, count == 1 ? "" : "s");
    if (warmup > 0)
        text += warmup == 1 ? ", the first as warm-up" : fmt::format(", the first {:.0f} as warm-up", warmup);
    text += "; " + buckets_text(run.timeline.buckets);
    if (const double scale = number("/context/byte_scale").value_or(1); scale != 1)
        text += fmt::format("; bytes x {:.6g} of the profile's", scale);
    return text;
}

std::string utc_text(std::int64_t realtime_ns) {
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time_t{realtime_ns / 1'000'000'000}));
}

} // namespace tools
