#include "tools/report_sections.hpp"

#include "generator/expectation.hpp"
#include "generator/measured_values.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;
using generator::MeasuredValue;
using generator::QuantityUnit;

/// One tile of the first screen.
struct Headline {
    std::string id;
    std::string label;
    std::optional<double> value;
    QuantityUnit unit = QuantityUnit::ratio;
    std::string text; ///< the value as people read it; empty: made from value and unit
    std::string trust;
    std::string formula;
};

Json headline_json(const Headline& each) {
    std::string text = each.text;
    if (text.empty())
        text = each.value ? generator::format_quantity(*each.value, each.unit) : "not measured";
    return {{"id", each.id},
            {"label", each.label},
            {"value", each.value ? Json(*each.value) : Json()},
            {"unit", generator::to_text(each.unit)},
            {"text", text},
            {"trust", each.trust},
            {"formula", each.formula}};
}

/// Of the run as far as it got.
std::vector<MeasuredValue> measured(const std::string& quantity, const ReportRun& run) {
    return generator::measured_values(generator::parse_quantity(quantity), run.document);
}

/// The largest certified one of all interfaces.
Headline peak_to_mean(const ReportRun& run) {
    Headline headline{.id = "ptm_5ms",
                      .label = "peak to mean at 5 ms (sent)",
                      .formula =
                          "PtM(tau) = E(tau) / (tau x mean rate); E(tau): most bytes in any window tau"};
    std::string problem;
    for (const MeasuredValue& value : measured("ptm(5ms, tx)", run)) {
        if (!value.lower) {
            problem = value.problem;
            continue;
        }
        if (headline.value && *headline.value >= *value.lower)
            continue;
        headline.value = value.lower;
        headline.text = fmt::format("{:.4g} : 1", *value.lower);
        headline.trust =
            fmt::format("certified on {}; at most {:.4g}{}{}", value.where, value.upper.value_or(0),
                        value.predicted ? fmt::format(", predicted {:.4g}", *value.predicted) : "",
                        value.problem.empty() ? "" : "; but " + value.problem);
    }
    if (!headline.value)
        headline.trust = problem;
    return headline;
}

Headline iteration_time(const ReportRun& run) {
    Headline headline{.id = "iteration_p50",
                      .label = "iteration time, median",
                      .value = number_in(run.document, "/iterations/seconds/p50"),
                      .unit = QuantityUnit::seconds,
                      .formula = "end of the optimizer - start of the iteration, on the slowest rank"};
    const double count = number_in(run.document, "/iterations/measured").value_or(0);
    const auto predicted = number_in(run.document, "/iterations/predicted_seconds");
    headline.trust =
        fmt::format("{:.0f} iterations; {}", count,
                    predicted ? "predicted " + generator::format_quantity(*predicted, QuantityUnit::seconds)
                              : "nothing predicted");
    return headline;
}

Headline bus_bandwidth(const ReportRun& run) {
    const auto value = number_in(run.document, "/bandwidth/bus_bytes_per_second");
    return {.id = "bus_bandwidth",
            .label = "bus bandwidth",
            .value = value,
            .unit = QuantityUnit::bytes_per_second,
            .trust = value ? fmt::format("{} of all-reduce traffic per rank",
                                         collectors::format_bit_rate(8 * *value))
                           : "no all-reduce between ranks was measured",
            .formula = "bytes of the all-reduces / their time on the slowest rank x 2(N-1)/N (nccl-tests)"};
}

Headline start_lateness(const ReportRun& run) {
    const auto bucket = number_in(run.document, "/all_reduce_seconds/p50");
    return {.id = "start_lateness_p99",
            .label = "start lateness, p99",
            .value = number_in(run.document, "/bucket_start_lateness_seconds/p99"),
            .unit = QuantityUnit::seconds,
            .trust = fmt::format("the sender's own delay, not the network's{}",
                                 bucket ? "; a typical all-reduce takes " +
                                              generator::format_quantity(*bucket, QuantityUnit::seconds)
                                        : ""),
            .formula = "start of a bucket - max(when it was due, end of the bucket before it)"};
}

Headline losses(const ReportRun& run) {
    const auto retransmits = number_in(run.document, "/tcp/retransmitted_segments");
    const MeasuredValue of_counters = measured("drops", run).front();
    const auto drops = of_counters.estimate;
    const bool all_known = retransmits && drops && of_counters.upper == drops;
    Headline headline{.id = "losses",
                      .label = "retransmits and drops",
                      .unit = QuantityUnit::count,
                      .formula =
                          "segments that the ranks' connections sent again + packets that interfaces, queues "
                          "and sampled switch ports dropped"};
    if (all_known)
        headline.value = *retransmits + *drops;
    else if (retransmits || drops)
        headline.text = fmt::format("at least {:.0f}", retransmits.value_or(0) + drops.value_or(0));
    const auto shown = [](const std::optional<double>& value) {
        return value ? fmt::format("{:.0f}", *value) : "unknown";
    };
    headline.trust = fmt::format(
        "segments sent again by the ranks' own connections: {}; packets dropped: {}; warm-up included",
        shown(retransmits), shown(drops));
    return headline;
}

Headline mean_rate(const ReportRun& run) {
    Headline headline{.id = "mean_rate",
                      .label = "mean rate of the busier direction",
                      .unit = QuantityUnit::bytes_per_second,
                      .formula = "bytes that the interface counted / recorded time"};
    for (const MeasuredValue& value : measured("mean_rate", run))
        if (value.estimate && *value.estimate >= headline.value.value_or(0)) {
            headline.value = value.estimate;
            headline.text = collectors::format_bit_rate(8 * *value.estimate);
            headline.trust =
                fmt::format("{}{}", value.where, value.problem.empty() ? "" : "; but " + value.problem);
        }
    return headline;
}

Headline missed_share(const ReportRun& run) {
    Headline headline{.id = "missed_share",
                      .label = "ticks missed",
                      .unit = QuantityUnit::share,
                      .formula = "sampling ticks that came too late / all"};
    headline.value = measured("missed_share", run).front().estimate;
    headline.trust =
        fmt::format("{:.0f} samples", number_in(run.document, "/interfaces/0/samples").value_or(0));
    return headline;
}

} // namespace

Json headline_section(const ReportRun& run) {
    Json section = Json::array({headline_json(peak_to_mean(run))});
    if (run.input->kind == ReportInput::Kind::trace) {
        section.push_back(headline_json(mean_rate(run)));
        section.push_back(headline_json(missed_share(run)));
        return section;
    }
    for (const auto& make : {iteration_time, bus_bandwidth, start_lateness, losses})
        section.push_back(headline_json(make(run)));
    return section;
}

} // namespace tools
