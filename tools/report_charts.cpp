#include "tools/report_charts.hpp"

#include "tools/chart_bins.hpp"
#include "tools/chart_curves.hpp"
#include "tools/chart_timeline.hpp"
#include "tools/input_failure.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tools {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t margin_ns = 20'000'000; // around what a stretch should show

double seconds(std::int64_t nanoseconds) {
    return static_cast<double>(nanoseconds) / 1e9;
}

/// A curve with what is drawn of it.
struct Drawn {
    ChartCurve curve;
    ChartBins bins;
    std::vector<FineValues> fine;
};

/// The curves of one source.
struct DrawnSource {
    CurveSource source;
    std::vector<Drawn> curves;
};

/// A stretch of the run in full.
struct Window {
    std::string why;
    std::int64_t from_ns;
    std::int64_t to_ns;
};

struct Peak {
    const ChartCurve* curve = nullptr;
    double value = 0;
    std::int64_t at_ns = 0;
};

std::vector<DrawnSource> sources_of(const ReportInput& input) {
    std::vector<DrawnSource> sources;
    for (const TraceSource& trace : input.traces)
        sources.push_back({rate_source(trace), {}});
    for (const LaneSource& lane : input.lanes)
        sources.push_back({lane_source(lane), {}});
    sources.push_back({tcp_source(input), {}});
    return sources;
}

/// The numbers that each of that many curves may have.
struct Share {
    std::size_t bins;
    std::size_t fine_values;
};

Share share_of(const ChartSettings& settings, std::size_t inputs, std::size_t curves) {
    // Half for bins, which are three numbers each, and half for what is drawn in full.
    const std::size_t half = settings.most_numbers / 2 / std::max<std::size_t>(1, inputs * curves);
    return {std::min(settings.most_bins, half / 3), std::min(settings.most_fine_values, half)};
}

/// Returns why files could not be read to their end. A damaged one costs its curves, not the report.
std::vector<std::string> first_pass(std::vector<DrawnSource>& sources, const Share& share) {
    std::vector<std::string> damaged;
    for (DrawnSource& each : sources) {
        for (const ChartCurve& curve : each.source.curves)
            each.curves.push_back({curve, ChartBins(share.bins), {}});
        try {
            each.source.values([&](std::size_t curve, std::int64_t index, double value) {
                each.curves[curve].bins.add(index, value);
            });
        } catch (const std::runtime_error& error) {
            damaged.emplace_back(error.what());
            each.curves.clear();
        }
    }
    return damaged;
}

/// Of the rates of hosts; of those of switch ports where there are no others.
Peak largest_rate(const std::vector<DrawnSource>& sources) {
    Peak of_hosts;
    Peak of_ports;
    for (const DrawnSource& each : sources)
        for (const Drawn& drawn : each.curves) {
            if (drawn.curve.kind != "rate" || drawn.bins.bins().empty())
                continue;
            Peak& peak = drawn.curve.is_switch_port ? of_ports : of_hosts;
            if (!peak.curve || drawn.bins.largest() > peak.value)
                peak = {&drawn.curve, drawn.bins.largest(), drawn.bins.largest_at() * drawn.curve.step_ns};
        }
    return of_hosts.curve ? of_hosts : of_ports;
}

/// The first iterations, and what is around the peak; each in at most half of the fine values of 1 ms.
std::vector<Window> windows_of(const ReportInput& input, const Peak& peak, const Share& share) {
    const std::int64_t longest_ns = static_cast<std::int64_t>(share.fine_values / 2) * 1'000'000;
    std::vector<Window> windows;
    if (const auto first = first_iterations(input)) {
        const std::int64_t from = first->first - margin_ns;
        windows.push_back(
            {"first measured iterations", from, std::min(first->last + margin_ns, from + longest_ns)});
    }
    if (peak.curve) {
        std::int64_t from = peak.at_ns - longest_ns / 2;
        std::int64_t to = peak.at_ns + longest_ns / 2;
        for (const Window& other : windows) { // what is shown already is not shown twice
            if (from >= other.from_ns && from < other.to_ns)
                from = other.to_ns;
            if (to > other.from_ns && to <= other.to_ns)
                to = other.from_ns;
        }
        if (from < to)
            windows.push_back({"largest peak", from, to});
    }
    return windows;
}

/// Curves that have all their fine values as bins, and counts, need no second pass.
bool is_worth_it(const Drawn& drawn) {
    return drawn.bins.width() > 1 && (drawn.curve.kind == "rate" || drawn.curve.kind == "backlog");
}

void second_pass(std::vector<DrawnSource>& sources, const std::vector<Window>& windows) {
    for (DrawnSource& each : sources) {
        bool worth_it = false;
        for (Drawn& drawn : each.curves) {
            if (!is_worth_it(drawn))
                continue;
            worth_it = true;
            for (const Window& window : windows)
                drawn.fine.emplace_back(
                    ChartStretch{window.from_ns / drawn.curve.step_ns, window.to_ns / drawn.curve.step_ns});
        }
        if (worth_it)
            each.source.values([&](std::size_t curve, std::int64_t index, double value) {
                for (FineValues& fine : each.curves[curve].fine)
                    fine.add(index, value);
            });
    }
}

Json numbers(const std::vector<std::optional<double>>& values) {
    Json json = Json::array();
    for (const auto& value : values) {
        const double number = rounded(value.value_or(0));
        if (!value)
            json.push_back(nullptr);
        else if (number == std::floor(number) && std::abs(number) < 1e15)
            json.push_back(static_cast<std::int64_t>(number)); // "0", not "0.0"
        else
            json.push_back(number);
    }
    return json;
}

template <class Value>
Json of_bins(const Drawn& drawn, Value value) {
    std::vector<std::optional<double>> values;
    const std::span<const ChartBin> bins = drawn.bins.bins();
    for (const ChartBin& bin : bins) {
        // A rate is known for each fine index or not at all: what is known of less than half a bin does not
        // stand for it. The last bin may be short.
        const bool sparse = drawn.curve.kind == "rate" && &bin != &bins.back() &&
                            2 * static_cast<std::int64_t>(bin.count) < drawn.bins.width();
        values.push_back(bin.count == 0 || sparse ? std::nullopt : std::optional<double>(value(bin)));
    }
    return numbers(values);
}

Json curve_json(const Drawn& drawn) {
    const ChartCurve& curve = drawn.curve;
    Json json{{"kind", curve.kind},
              {"host", curve.host},
              {"interface", curve.interface},
              {"name", curve.name},
              {"unit", curve.unit},
              {"switch_port", curve.is_switch_port},
              {"step_s", seconds(curve.step_ns)},
              {"start_s", seconds(drawn.bins.first() * curve.step_ns)},
              {"bin_s", seconds(drawn.bins.width() * curve.step_ns)},
              {"largest", rounded(drawn.bins.largest())}};
    if (curve.is_count) {
        json["sum"] = of_bins(drawn, [](const ChartBin& bin) { return bin.sum; });
        return json;
    }
    json["mean"] = of_bins(drawn, [](const ChartBin& bin) { return bin.mean(); });
    const bool has_band = std::any_of(drawn.bins.bins().begin(), drawn.bins.bins().end(),
                                      [](const ChartBin& bin) { return bin.count > 1; });
    if (has_band) {
        json["least"] = of_bins(drawn, [](const ChartBin& bin) { return bin.least; });
        json["most"] = of_bins(drawn, [](const ChartBin& bin) { return bin.most; });
    }
    json["fine"] = Json::array();
    for (const FineValues& fine : drawn.fine)
        json["fine"].push_back({{"start_s", seconds(fine.stretch().first * curve.step_ns)},
                                {"values", numbers({fine.values().begin(), fine.values().end()})}});
    return json;
}

/// What stayed 0 all the time is named and not drawn.
bool stayed_zero(const Drawn& drawn) {
    return drawn.bins.largest() == 0;
}

Json input_json(const ReportInput& input, const ChartSettings& settings, std::size_t inputs) {
    std::vector<DrawnSource> sources = sources_of(input);
    std::size_t curves = 0;
    for (const DrawnSource& each : sources)
        curves += each.source.curves.size();
    const Share share = share_of(settings, inputs, curves);
    const std::vector<std::string> damaged = first_pass(sources, share);
    const Peak peak = largest_rate(sources);
    const std::vector<Window> windows = windows_of(input, peak, share);
    second_pass(sources, windows);

    const Json::json_pointer scale("/context/byte_scale");
    const bool has_scale = input.run.is_object() && input.run.contains(scale) && input.run[scale].is_number();
    Json json{{"name", input.name},
              {"byte_scale", has_scale ? input.run[scale] : Json(1)},
              {"not_drawn", damaged},
              {"peak", nullptr},
              {"windows", Json::array()}};
    if (peak.curve)
        json["peak"] = {{"host", peak.curve->host},     {"interface", peak.curve->interface},
                        {"name", peak.curve->name},     {"at_s", seconds(peak.at_ns)},
                        {"value", rounded(peak.value)}, {"unit", peak.curve->unit}};
    for (const Window& window : windows)
        json["windows"].push_back(
            {{"why", window.why}, {"from_s", seconds(window.from_ns)}, {"to_s", seconds(window.to_ns)}});
    json["curves"] = Json::array();
    json["stayed_zero"] = Json::array();
    for (const DrawnSource& each : sources)
        for (const Drawn& drawn : each.curves) {
            if (drawn.bins.bins().empty())
                continue;
            if (stayed_zero(drawn))
                json["stayed_zero"].push_back({{"kind", drawn.curve.kind},
                                               {"host", drawn.curve.host},
                                               {"interface", drawn.curve.interface},
                                               {"name", drawn.curve.name}});
            else
                json["curves"].push_back(curve_json(drawn));
        }
    json["timeline"] = timeline_json(input, settings.most_bars / std::max<std::size_t>(1, inputs),
                                     peak.curve ? std::optional(peak.at_ns) : std::nullopt);
    json["distributions"] = distributions_json(input);
    return json;
}

} // namespace

Json charts_json(std::span<const ReportInput> inputs, const ChartSettings& settings) {
    Json json{{"format", "gradburst-charts/1"}, {"runs", Json::array()}};
    for (const ReportInput& input : inputs)
        json["runs"].push_back(using_input(
            input, [&](const ReportInput& used) { return input_json(used, settings, inputs.size()); }));
    return json;
}

} // namespace tools
