#include "collectors/summary_json.hpp"

#include "collectors/units.hpp"

#include <nlohmann/json.hpp>

namespace collectors {

namespace {

using Json = nlohmann::ordered_json;

Json number_if(bool known, double value) {
    return known ? Json(value) : Json(nullptr);
}

Json spread_json(const Spread& spread) {
    return {
        {"p50", in_seconds(spread.p50)}, {"p99", in_seconds(spread.p99)}, {"max", in_seconds(spread.max)}};
}

Json curve_json(const InterfaceSummary& summary, PredictedRatios predicted) {
    Json curve = Json::array();
    const bool traffic = summary.nic_bytes > 0;
    for (std::size_t i = 0; i < summary.curve.points.size(); ++i) {
        const BurstinessPoint& point = summary.curve.points[i];
        const Bounds ratio = peak_to_mean(summary.curve, point);
        const bool shown = point.resolved && traffic;
        const DispersionPoint dispersion = dispersion_at(summary, i);
        const bool varied = shown && dispersion.shown();
        const bool expected = i < predicted.size() && predicted[i].has_value();
        curve.push_back(
            {{"tau_seconds", in_seconds(point.window)},
             {"resolved", point.resolved},
             {"e_lower_bytes", number_if(shown, point.bytes.lower)},
             {"e_estimate_bytes", number_if(shown, point.bytes.estimate)},
             {"e_upper_bytes", number_if(shown, point.bytes.upper)},
             {"ptm_lower", number_if(shown, ratio.lower)},
             {"ptm_estimate", number_if(shown, ratio.estimate)},
             {"ptm_upper", number_if(shown, ratio.upper)},
             {"ptm_predicted", expected ? Json(*predicted[i]) : Json(nullptr)},
             {"windows", dispersion.count},
             {"coefficient_of_variation", number_if(varied, dispersion.coefficient_of_variation)},
             {"index_of_dispersion_bytes", number_if(varied, dispersion.index_of_dispersion_bytes)}});
    }
    return curve;
}

Json backlog_json(const InterfaceSummary& summary) {
    Json backlog = Json::array();
    const bool traffic = summary.nic_bytes > 0;
    for (const BacklogPoint& point : summary.backlog)
        backlog.push_back({{"rate_bits_per_second", point.rate.bits_per_second},
                           {"lower_bytes", number_if(traffic, point.bytes.lower)},
                           {"estimate_bytes", number_if(traffic, point.bytes.estimate)},
                           {"upper_bytes", number_if(traffic, point.bytes.upper)},
                           {"predicted_bytes", nullptr}});
    return backlog;
}

Json spread_if(bool known, const Spread& spread) {
    return known ? spread_json(spread) : Json(nullptr);
}

Json bursts_json(const BurstSummary& bursts) {
    const bool any = bursts.count > 0;
    return {{"threshold_bits_per_second", bursts.threshold_bits_per_second},
            {"merge_gap_seconds", in_seconds(bursts.merge_gap)},
            {"count", bursts.count},
            {"median_length_seconds", number_if(any, in_seconds(bursts.length.p50))},
            {"median_bytes", number_if(any, bursts.median_bytes)},
            {"largest_bytes", number_if(any, bursts.largest_bytes)},
            {"length_seconds", spread_if(any, bursts.length)},
            {"pause_seconds", spread_if(bursts.pauses > 0, bursts.pause)},
            {"pauses", bursts.pauses},
            {"duty_cycle", bursts.duty_cycle},
            {"share_of_bytes", bursts.share_of_bytes}};
}

Json period_json(const std::optional<Period>& period) {
    if (!period)
        return nullptr;
    return {{"seconds", in_seconds(period->length)}, {"autocorrelation", period->autocorrelation}};
}

Json time_keeping_json(const TimeKeeping& kept) {
    const std::optional<TimeSteering>& by = kept.steering;
    return {{"synchronised", by ? Json(by->synchronised) : Json(nullptr)},
            {"maximum_error_seconds", by ? Json(in_seconds(by->maximum_error)) : Json(nullptr)},
            {"estimated_error_seconds", by ? Json(in_seconds(by->estimated_error)) : Json(nullptr)},
            {"frequency_ppm", by ? Json(by->frequency_ppm) : Json(nullptr)},
            {"ptp_clock", kept.ptp_clock ? Json(*kept.ptp_clock) : Json(nullptr)}};
}

} // namespace

Json summary_json(const InterfaceSummary& summary, PredictedRatios predicted) {
    const TraceQuality& quality = summary.quality;
    const bool measured = summary.curve.span.count() > 0;
    const bool on_grid = summary.info.interval.count() > 0; // not: a prediction, or nobody knows
    return {{"host", summary.host},
            {"interface", summary.interface},
            {"direction", std::string(to_text(summary.direction))},
            {"source", summary.info.source},
            {"byte_unit", summary.info.byte_unit},
            {"nic_bytes", measured ? Json(summary.nic_bytes) : Json(nullptr)},
            {"mean_bits_per_second", number_if(measured, summary.mean_bits_per_second)},
            {"span_seconds", in_seconds(summary.curve.span)},
            {"interval_seconds", number_if(on_grid, in_seconds(summary.info.interval))},
            {"resolved_from_seconds", number_if(measured, in_seconds(summary.curve.resolved_from))},
            {"refresh_period_seconds",
             number_if(summary.refresh_period.has_value(),
                       in_seconds(summary.refresh_period.value_or(std::chrono::seconds(0))))},
            {"samples", quality.samples},
            {"missed", quality.ticks_known ? Json(quality.missed) : Json(nullptr)},
            {"missed_at_least", quality.missed},
            {"failed", quality.ticks_known ? Json(quality.failed) : Json(nullptr)},
            {"failed_at_least", quality.failed},
            {"restarts", quality.restarts},
            {"gaps", quality.gaps.count},
            {"longest_gap_seconds", in_seconds(quality.gaps.longest)},
            {"total_gap_seconds", in_seconds(quality.gaps.total)},
            {"achieved_interval_seconds", spread_json(quality.achieved_interval)},
            {"lateness_seconds", spread_if(on_grid, quality.lateness)},
            {"read_width_seconds", spread_json(quality.read_width)},
            {"sampler_cpu_share",
             number_if(!summary.info.sampler.scheduling.empty(), summary.info.sampler.cpu_share)},
            {"sampler_scheduling", summary.info.sampler.scheduling},
            {"time_keeping", time_keeping_json(summary.info.time_keeping)},
            {"lost_from_seconds",
             summary.info.lost_from ? Json(in_seconds(*summary.info.lost_from)) : Json(nullptr)},
            {"complete", summary.info.complete},
            {"whole", summary.whole ? Json(*summary.whole) : Json(nullptr)},
            {"reason", summary.info.reason},
            {"burstiness", curve_json(summary, predicted)},
            {"backlog", backlog_json(summary)},
            {"bursts", bursts_json(summary.bursts)},
            {"period", period_json(summary.period)},
            {"warnings", summary.warnings}};
}

} // namespace collectors
