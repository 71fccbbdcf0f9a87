#include "tools/chart_timeline.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t most_order_statistics = 200;
constexpr std::size_t most_bucket_curves = 8;

std::int64_t microseconds(std::int64_t nanoseconds) {
    return nanoseconds / 1000;
}

/// "1-40 and 300-310"
std::string ranges_text(const std::set<std::uint32_t>& numbers) {
    std::string text;
    for (auto it = numbers.begin(); it != numbers.end();) {
        const std::uint32_t first = *it;
        std::uint32_t last = first;
        while (++it != numbers.end() && *it == last + 1)
            last = *it;
        text += fmt::format("{}{}", text.empty() ? "" : " and ", first);
        if (last != first)
            text += fmt::format("-{}", last);
    }
    return text;
}

/// The iteration that was going on then, on any rank; the last that began before.
std::uint32_t iteration_at(const ReportInput& input, std::int64_t time_ns) {
    std::uint32_t found = 0;
    for (const BucketSpan& span : input.timeline)
        if (span.start_ns && *span.start_ns <= time_ns)
            found = std::max(found, span.iteration);
    return found;
}

/// As many whole iterations as there is room for: two thirds of them the first, the others around the peak.
std::set<std::uint32_t> shown_iterations(const std::vector<std::uint32_t>& all, std::size_t room,
                                         std::optional<std::uint32_t> peak) {
    std::set<std::uint32_t> shown;
    if (all.size() <= room)
        return {all.begin(), all.end()};
    const std::size_t first = peak ? std::max<std::size_t>(1, room * 2 / 3) : room;
    shown.insert(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(first));
    if (peak) {
        const auto at = std::lower_bound(all.begin(), all.end(), *peak);
        const std::size_t rest = std::max<std::size_t>(1, room - first);
        auto begin = at - std::min<std::ptrdiff_t>(at - all.begin(), static_cast<std::ptrdiff_t>(rest / 2));
        for (std::size_t i = 0; i < rest && begin != all.end(); ++i, ++begin)
            shown.insert(*begin);
    }
    return shown;
}

bool is_finished(const BucketSpan& span) {
    return span.start_ns && span.end_ns;
}

Json sorted_seconds(std::vector<double>& values) {
    std::sort(values.begin(), values.end());
    Json json = Json::array();
    for (const double value : order_statistics(values, most_order_statistics))
        json.push_back(rounded(value, 5));
    return json;
}

} // namespace

std::uint32_t first_measured_iteration(const ReportInput& input) {
    const Json::json_pointer warmup("/iterations/warmup");
    if (!input.run.is_object() || !input.run.contains(warmup) || !input.run[warmup].is_number_integer())
        return 0;
    return input.run[warmup].get<std::uint32_t>();
}

std::optional<ChartStretch> first_iterations(const ReportInput& input) {
    const std::uint32_t first = first_measured_iteration(input);
    ChartStretch stretch{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
    for (const BucketSpan& span : input.timeline)
        if (is_finished(span) && (span.iteration == first || span.iteration == first + 1)) {
            stretch.first = std::min(stretch.first, *span.start_ns);
            stretch.last = std::max(stretch.last, *span.end_ns);
        }
    if (stretch.last <= stretch.first)
        return std::nullopt;
    return stretch;
}

Json timeline_json(const ReportInput& input, std::size_t most_bars, std::optional<std::int64_t> peak_ns) {
    if (input.timeline.empty())
        return nullptr;
    std::map<std::uint32_t, std::size_t> bars_of; // iteration
    std::set<int> ranks;
    for (const BucketSpan& span : input.timeline) {
        ++bars_of[span.iteration];
        ranks.insert(span.rank);
    }
    std::size_t largest = 0;
    std::vector<std::uint32_t> all;
    for (const auto& [iteration, bars] : bars_of) {
        largest = std::max(largest, bars);
        all.push_back(iteration);
    }
    const std::size_t stride = (2 * largest + most_bars - 1) / most_bars; // 1, unless two do not fit
    const std::size_t room = std::max<std::size_t>(1, most_bars * stride / std::max<std::size_t>(1, largest));
    const auto peak = peak_ns ? std::optional(iteration_at(input, *peak_ns)) : std::nullopt;
    const std::set<std::uint32_t> shown = shown_iterations(all, room, peak);

    std::map<int, std::size_t> row; // of a rank
    Json rank_numbers = Json::array();
    for (const int rank : ranks) {
        const std::size_t place = row.size();
        row[rank] = place;
        if (place % stride == 0)
            rank_numbers.push_back(rank);
    }
    Json bars = Json::array();
    Json iterations = Json::array();
    const BucketSpan* before = nullptr;
    for (const BucketSpan& span : input.timeline) {
        if (!shown.contains(span.iteration) || row[span.rank] % stride != 0)
            continue;
        if (is_finished(span))
            for (const std::int64_t number :
                 {std::int64_t{span.rank}, std::int64_t{span.iteration}, std::int64_t{span.bucket},
                  microseconds(*span.start_ns), microseconds(*span.end_ns)})
                bars.push_back(number);
        const bool anew = !before || before->rank != span.rank || before->iteration != span.iteration;
        if (anew && span.iteration_start_ns && span.iteration_end_ns)
            for (const std::int64_t number :
                 {std::int64_t{span.rank}, std::int64_t{span.iteration},
                  microseconds(*span.iteration_start_ns), microseconds(*span.iteration_end_ns)})
                iterations.push_back(number);
        before = &span;
    }
    std::string text = fmt::format("iterations {} of {}", ranges_text(shown), all.size());
    if (shown.size() == all.size())
        text = fmt::format("all {} iterations", all.size());
    if (stride > 1)
        text += fmt::format(", {} of {} ranks", rank_numbers.size(), ranks.size());
    return {{"shown", text},
            {"ranks", rank_numbers},
            {"first_measured", first_measured_iteration(input)},
            {"bar_columns", {"rank", "iteration", "bucket", "start_us", "end_us"}},
            {"bars", bars},
            {"iteration_columns", {"rank", "iteration", "start_us", "end_us"}},
            {"iterations", iterations}};
}

Json distributions_json(const ReportInput& input) {
    const std::uint32_t first = first_measured_iteration(input);
    std::map<std::uint32_t, std::vector<double>> durations;
    std::map<std::uint32_t, std::uint64_t> bytes;
    std::vector<double> lateness;
    for (const BucketSpan& span : input.timeline) {
        if (span.iteration < first || !is_finished(span))
            continue;
        const bool has_own_curve = durations.contains(span.bucket) || durations.size() < most_bucket_curves;
        if (has_own_curve) {
            durations[span.bucket].push_back(static_cast<double>(*span.end_ns - *span.start_ns) / 1e9);
            bytes[span.bucket] = span.bucket_bytes;
        }
        lateness.push_back(static_cast<double>(span.late_ns) / 1e9);
    }
    Json buckets = Json::array();
    for (auto& [bucket, values] : durations)
        buckets.push_back({{"bucket", bucket},
                           {"bytes", bytes[bucket]},
                           {"count", values.size()},
                           {"seconds", sorted_seconds(values)}});
    return {{"buckets", buckets},
            {"lateness", {{"count", lateness.size()}, {"seconds", sorted_seconds(lateness)}}}};
}

} // namespace tools
