#include "tools/trace_numbers.hpp"

#include "collectors/summary.hpp"
#include "collectors/summary_json.hpp"
#include "generator/asked_windows.hpp"
#include "generator/failure.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace tools {
namespace {

using collectors::Direction;
using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

struct Period {
    nanoseconds from = nanoseconds::min();
    nanoseconds to = nanoseconds::max();
};

/// The iterations that count, in the time of the trace; all of it where none do.
Period measured_period(const ReportInput& input, const TraceSource& trace) {
    const auto measured = measured_iterations(input, trace);
    return measured ? Period{measured->from, measured->to} : Period{};
}

/// Of the links of a run; nobody told a bare trace.
std::optional<collectors::BitRate> line_rate(const ReportInput& input) {
    const Json::json_pointer rate("/context/line_rate_bits_per_second");
    if (!input.run.is_object() || !input.run.contains(rate) || !input.run[rate].is_number_unsigned())
        return std::nullopt;
    return collectors::BitRate{input.run[rate].get<std::uint64_t>()};
}

} // namespace

std::optional<MeasuredIterations> measured_iterations(const ReportInput& input, const TraceSource& trace) {
    if (!input.run.is_object() || !input.run.contains("iterations"))
        return std::nullopt;
    const std::uint32_t warmup = input.run["iterations"].value("warmup", 0U);
    const std::uint32_t count = input.run["iterations"].value("count", 0U);
    std::int64_t from = std::numeric_limits<std::int64_t>::max();
    std::int64_t to = std::numeric_limits<std::int64_t>::min();
    for (const BucketSpan& span : input.timeline)
        if (span.iteration >= warmup && span.iteration < count && span.iteration_start_ns &&
            span.iteration_end_ns) {
            from = std::min(from, *span.iteration_start_ns);
            to = std::max(to, *span.iteration_end_ns);
        }
    if (from >= to)
        return std::nullopt;
    return MeasuredIterations{nanoseconds(from - trace.offset_ns), nanoseconds(to - trace.offset_ns),
                              count - warmup};
}

Json trace_summaries(const ReportInput& input, const TraceSource& trace,
                     std::span<const generator::Expectation> asked) {
    const Period period = measured_period(input, trace);
    collectors::SummarySettings settings;
    settings.windows = generator::asked_windows(asked);
    settings.from = period.from;
    settings.to = period.to;
    settings.rates = [&](double mean) { return generator::asked_rates(asked, line_rate(input), mean); };
    Json summaries = Json::array();
    for (const collectors::InterfaceSummary& summary :
         collectors::summarize(trace.info, collectors::blocks_of(trace.path),
                               std::array{Direction::tx, Direction::rx}, settings))
        summaries.push_back(collectors::summary_json(summary));
    return summaries;
}

} // namespace tools
