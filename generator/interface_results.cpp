#include "generator/interface_results.hpp"

#include "collectors/burstiness.hpp"
#include "collectors/summary_warnings.hpp"
#include "collectors/trace_file.hpp"
#include "collectors/units.hpp"
#include "generator/asked_windows.hpp"
#include "generator/background_records.hpp"
#include "generator/crossing.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace generator {
namespace {

using collectors::Direction;

/// Beyond the largest share of headers (90 bytes on the wire for each 1448 of payload: 6.2 %), or of
/// acknowledgements alone.
constexpr double surprising_surplus = 0.08;
/// On the wire: the header of a small packet, or an acknowledgement of one.
constexpr double frame_bytes = 90;
/// More than the samples at the ends of the measured iterations can miss.
constexpr double surprising_deficit = 0.1;
/// Of the measured time, beside two sampling intervals.
constexpr double surprising_cut = 0.05;

struct Span {
    nanoseconds from{0};
    nanoseconds to{0};
};

/// The measured iterations of the sampling rank in the time of its trace.
std::optional<Span> measured_span(const Timeline& timeline, const collectors::TraceInfo& info,
                                  std::uint32_t first, std::uint32_t last) {
    if (first >= last || timeline.iterations.size() < last)
        return std::nullopt;
    const std::int64_t shift = timeline.start_monotonic_ns - info.start_monotonic_ns;
    return Span{nanoseconds(timeline.iterations[first].start_ns + shift),
                nanoseconds(timeline.iterations[last - 1].end_ns + shift)};
}

} // namespace

std::string count_warning(const InterfaceResult& result) {
    const collectors::InterfaceSummary& summary = result.summary;
    const std::string where =
        fmt::format("{} {} OF {}", summary.interface, collectors::to_text(summary.direction), summary.host);
    const auto payload = static_cast<double>(result.payload_bytes);
    const auto counted = static_cast<double>(summary.nic_bytes);
    std::string both =
        fmt::format("counted {} B for {} B of payload", summary.nic_bytes, result.payload_bytes);
    if (result.has_background)
        both +=
            fmt::format(" and {} to {} B of background traffic", result.background.least_bytes,
                        result.background.most_bytes ? std::to_string(*result.background.most_bytes) : "?");
    if (!result.shared_with.empty())
        both += fmt::format(" and {} to {} B of job {}", result.others.least_bytes,
                            result.others.most_bytes ? std::to_string(*result.others.most_bytes) : "?",
                            fmt::join(result.shared_with, ", "));
    if (summary.quality.samples < 2)
        return fmt::format(
            "NO METRICS OF {}: {} samples in the measured iterations; give a shorter --interval "
            "or more iterations",
            where, summary.quality.samples);
    const double measured = collectors::in_seconds(result.to - result.from);
    const double recorded = collectors::in_seconds(summary.quality.span);
    if (measured - recorded >
        surprising_cut * measured + 2 * collectors::in_seconds(summary.quality.achieved_interval.p99))
        return fmt::format(
            "TRACE OF {} IS INCOMPLETE: it holds {} of the {} that were measured; its metrics and "
            "bytes are those of this part, which the payload is not",
            where, collectors::format_duration(summary.quality.span),
            collectors::format_duration(result.to - result.from));
    // What a job did not tell may explain any surplus.
    const OtherPayload others = result.others + result.background;
    const OtherPayload opposite_others = result.opposite_others + result.opposite_background;
    const bool all_told = others.most_bytes && opposite_others.most_bytes;
    const auto most = payload + static_cast<double>(others.most_bytes.value_or(0));
    const auto most_opposite =
        static_cast<double>(result.opposite_payload_bytes + opposite_others.most_bytes.value_or(0));
    const double framing =
        surprising_surplus * std::max(most, most_opposite) +
        frame_bytes * static_cast<double>(result.messages + others.messages + opposite_others.messages);
    if (all_told && counted > most + framing + 1e6)
        return fmt::format("OTHER TRAFFIC ON {}: it {}", where, both);
    if (counted < (payload + static_cast<double>(others.least_bytes)) * (1 - surprising_deficit))
        return fmt::format("BYTES ARE MISSING ON {}: it {}; is /sys of another network namespace?", where,
                           both);
    return "";
}

std::vector<InterfaceResult> interface_results(const std::vector<InterfaceTrace>& traces,
                                               const std::vector<Timeline>& timelines,
                                               const Workload& workload, const RunStatistics& statistics,
                                               std::uint32_t warmup, const AskedMetrics& asked,
                                               std::vector<std::string>& warnings) {
    const std::uint32_t last = statistics.finished_iterations;
    const std::uint32_t first = statistics.measured_iterations > 0 ? warmup : 0;
    std::vector<InterfaceResult> results;
    std::vector<collectors::TraceInfo> recorded;
    if (first < warmup && last > 0)
        warnings.push_back("NO ITERATION AFTER WARM-UP: THE METRICS INCLUDE IT");
    for (const InterfaceTrace& each : traces) {
        const collectors::Trace trace = collectors::read_trace(each.file);
        recorded.push_back(trace.info);
        const Timeline& timeline = timelines.at(static_cast<std::size_t>(each.ranks.front()));
        const std::optional<Span> span = measured_span(timeline, trace.info, first, last);
        if (!span) {
            warnings.push_back(fmt::format("NO ITERATION FINISHED while {} on {} was sampled: no metrics",
                                           trace.info.interface, trace.info.host));
            continue;
        }
        const auto crossing_in = [&](Direction direction) {
            return crossing(workload, each.ranks, static_cast<int>(timelines.size()), direction, first, last,
                            each.loopback);
        };
        const std::int64_t from_ns = trace.info.start_monotonic_ns + span->from.count();
        const std::int64_t to_ns = trace.info.start_monotonic_ns + span->to.count();
        // All ranks of a job start at the same instant, as exactly as their clocks are known.
        const auto background_in = [&](const std::vector<FlowRecord>* flows, const std::vector<int>& ranks,
                                       std::int64_t start_ns, Direction direction) {
            return flows == nullptr ? OtherPayload{}
                                    : background_payload(*flows, ranks, direction, from_ns - start_ns,
                                                         to_ns - start_ns, each.loopback);
        };
        const auto others_in = [&](Direction direction) {
            OtherPayload all = other_payload(each.others, direction, from_ns, to_ns, each.loopback);
            for (const OtherTraffic& other : each.others)
                for (const Timeline* const told : other.timelines)
                    if (told != nullptr) {
                        all = all + background_in(other.background, other.ranks, told->start_monotonic_ns,
                                                  direction);
                        break;
                    }
            return all;
        };
        const Crossing sent = crossing_in(Direction::tx);
        const Crossing received = crossing_in(Direction::rx);
        for (const Direction direction : {Direction::tx, Direction::rx}) {
            InterfaceResult result;
            result.summary = collectors::summarize(
                trace, direction, span->from, span->to, asked_windows(asked.expectations),
                [&](double mean) { return asked_rates(asked.expectations, asked.line_rate, mean); });
            result.ranks = each.ranks;
            result.from = span->from;
            result.to = span->to;
            const bool is_tx = direction == Direction::tx;
            const Crossing& own = is_tx ? sent : received;
            const Crossing& opposite = is_tx ? received : sent;
            result.payload_bytes = own.bytes;
            result.opposite_payload_bytes = opposite.bytes;
            result.messages = own.messages + opposite.messages;
            for (const OtherTraffic& other : each.others)
                result.shared_with.push_back(other.job);
            result.others = others_in(direction);
            const Direction other_direction = is_tx ? Direction::rx : Direction::tx;
            result.opposite_others = others_in(other_direction);
            const std::int64_t start_ns = timeline.start_monotonic_ns;
            result.background = background_in(each.background, each.ranks, start_ns, direction);
            result.opposite_background =
                background_in(each.background, each.ranks, start_ns, other_direction);
            result.has_background = each.background != nullptr && !each.background->empty();
            if (const std::string warning = count_warning(result); !warning.empty())
                warnings.push_back(warning);
            results.push_back(std::move(result));
        }
    }
    for (std::string& warning : collectors::warnings_about_hosts(recorded))
        warnings.push_back(std::move(warning));
    return results;
}

} // namespace generator
