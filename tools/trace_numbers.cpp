#include "tools/trace_numbers.hpp"

#include "collectors/summary.hpp"
#include "collectors/summary_json.hpp"
#include "generator/asked_windows.hpp"
#include "generator/failure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
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

/// Of the direction that moved more.
double mean_bits_per_second(const TraceSource& trace, const Period& period) {
    std::array<std::uint64_t, 2> bytes{};
    std::optional<collectors::Sample> first;
    collectors::Sample before;
    collectors::for_each_block(trace.path, [&](std::span<const collectors::Sample> samples) {
        for (const collectors::Sample& sample : samples) {
            if (nanoseconds(sample.t_ns) < period.from || nanoseconds(sample.t_ns) > period.to)
                continue;
            if (!first)
                first = sample;
            else if (!(sample.flags & collectors::SampleFlag::new_segment)) {
                bytes[0] += sample.tx_bytes >= before.tx_bytes ? sample.tx_bytes - before.tx_bytes : 0;
                bytes[1] += sample.rx_bytes >= before.rx_bytes ? sample.rx_bytes - before.rx_bytes : 0;
            }
            before = sample;
        }
    });
    if (!first || before.t_ns <= first->t_ns)
        return 0;
    return 8e9 * static_cast<double>(std::max(bytes[0], bytes[1])) /
           static_cast<double>(before.t_ns - first->t_ns);
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
    settings.rates = generator::asked_rates(asked, line_rate(input), mean_bits_per_second(trace, period));
    Json summaries = Json::array();
    for (const collectors::InterfaceSummary& summary :
         collectors::summarize(trace.info, collectors::blocks_of(trace.path),
                               std::array{Direction::tx, Direction::rx}, settings))
        summaries.push_back(collectors::summary_json(summary));
    return summaries;
}

} // namespace tools
