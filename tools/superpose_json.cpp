#include "tools/superpose_report.hpp"

#include "tools/draw_statistics.hpp"
#include "tools/superposition.hpp"

#include "generator/failure.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tools {
namespace {

using collectors::in_seconds;
using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

constexpr double most_work = 2e12;        // cells that are looked at: about an hour on one core
constexpr double precise_share = 0.01;    // half-width of an interval that counts as converged
constexpr double precise_quantile = 0.05; // of the quantile
constexpr std::size_t curve_points = 200; // of a distribution

Json probability_json(std::size_t successes, std::size_t count) {
    const Probability found = probability(successes, count);
    return {{"share", found.share}, {"lower", found.lower}, {"upper", found.upper}};
}

Json distribution_json(std::vector<double> values, double unit = 1) {
    std::sort(values.begin(), values.end());
    Json result{{"min", values.front() / unit}};
    for (const auto& [name, share] : {std::pair{"p5", 0.05}, {"p50", 0.5}, {"p95", 0.95}, {"p99", 0.99}})
        result[name] = quantile(values, share) / unit;
    result["max"] = values.back() / unit;
    return result;
}

double in_cells(nanoseconds length, nanoseconds cell) {
    return static_cast<double>(length.count()) / static_cast<double>(cell.count());
}

/// The longest period of all.
std::size_t covered_cells(const std::vector<SuperposedTrace>& traces, const SuperposeSettings& settings) {
    std::size_t cells = 1;
    for (const SuperposedTrace& each : traces)
        cells =
            std::max(cells, static_cast<std::size_t>(std::llround(in_cells(each.job.period, settings.cell))));
    return cells;
}

/// Where the jobs' traffic stands at the start of each period, from the trace with the most of them, if each
/// job begins as much later as its offset says.
std::vector<std::vector<double>> given_starts(const std::vector<SuperposedTrace>& traces,
                                              const SuperposeSettings& settings) {
    const auto longest = std::max_element(traces.begin(), traces.end(), [](const auto& a, const auto& b) {
        return a.job.traffic.bytes.size() < b.job.traffic.bytes.size();
    });
    const double period =
        static_cast<double>(longest->job.traffic.bytes.size()) / static_cast<double>(longest->job.periods);
    std::vector<std::vector<double>> all(longest->job.periods);
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t job = 0; job < settings.jobs; ++job) {
            const auto length = static_cast<double>(traces[job % traces.size()].job.traffic.bytes.size());
            const double start = std::fmod(
                static_cast<double>(i) * period - in_cells(settings.offsets[job], settings.cell), length);
            all[i].push_back(start < 0 ? start + length : start);
        }
    return all;
}

Json input_json(const SuperposedTrace& each, std::size_t index, std::size_t traces,
                const SuperposeSettings& settings) {
    const JobTrace& job = each.job;
    std::vector<std::size_t> jobs;
    for (std::size_t i = index; i < settings.jobs; i += traces)
        jobs.push_back(i);
    double inside = 0;
    for (const BurstSpan& burst : job.traffic.bursts)
        inside += burst.end - burst.begin;
    const auto cells = static_cast<double>(job.traffic.bytes.size());
    const collectors::TraceInfo& info = each.chosen.trace.info;
    return {{"name", each.chosen.input.name},
            {"trace", each.chosen.trace.path.string()},
            {"jobs", jobs},
            {"interfaces", each.chosen.others + 1},
            {"host", info.host},
            {"interface", info.interface},
            {"source", info.source},
            {"byte_unit", info.byte_unit},
            {"from_seconds", in_seconds(job.from)},
            {"length_seconds", cells * in_seconds(settings.cell)},
            {"period_seconds", in_seconds(job.period)},
            {"periods", job.periods},
            {"period_source", job.period_source},
            {"mean_bits_per_second", 8 * bytes_per_cell(job.traffic) / in_seconds(settings.cell)},
            {"sending_bits_per_second", job.sending_bits_per_second},
            {"peak_bits_per_second", job.peak_bits_per_second},
            {"bursts", job.traffic.bursts.size()},
            {"share_of_time_in_bursts", inside / cells}};
}

std::size_t count_above(std::span<const double> values, double limit) {
    return static_cast<std::size_t>(
        std::count_if(values.begin(), values.end(), [&](double value) { return value > limit; }));
}

std::size_t count_overlaps(std::span<const char> overlaps) {
    return static_cast<std::size_t>(std::count(overlaps.begin(), overlaps.end(), 1));
}

/// What the first `count` draws alone would have told.
Json step_json(const Draws& draws, const SuperposeSettings& settings, std::size_t count) {
    Json step{{"draws", count},
              {"overlap", probability_json(count_overlaps(std::span(draws.overlaps).first(count)), count)},
              {"buffers", Json::array()},
              {"backlog_p99", nullptr}};
    if (draws.backlog_bytes.empty())
        return step;
    std::vector<double> sorted(draws.backlog_bytes.begin(),
                               draws.backlog_bytes.begin() + static_cast<std::ptrdiff_t>(count));
    std::sort(sorted.begin(), sorted.end());
    for (const std::uint64_t buffer : settings.buffers)
        step["buffers"].push_back(probability_json(count_above(sorted, static_cast<double>(buffer)), count));
    const auto range = quantile_range(sorted, 0.99);
    step["backlog_p99"] = {{"bytes", quantile(sorted, 0.99)},
                           {"lower", range ? Json(range->lower) : Json()},
                           {"upper", range ? Json(range->upper) : Json()}};
    return step;
}

double half_width(const Json& interval) {
    return (interval["upper"].get<double>() - interval["lower"].get<double>()) / 2;
}

/// Empty where a share is known well enough.
std::string imprecision(const std::string& name, const Json& share) {
    return half_width(share) <= precise_share
               ? ""
               : fmt::format("{} is known to +-{:.1f} %, not to +-{:.0f} %", name, 100 * half_width(share),
                             100 * precise_share);
}

Json convergence_json(const Draws& draws, const SuperposeSettings& settings) {
    Json steps = Json::array();
    for (const std::size_t part : {8U, 4U, 2U, 1U})
        if (const std::size_t count = settings.phases / part; count > 0)
            steps.push_back(step_json(draws, settings, count));
    const Json& last = steps.back();
    std::vector<std::string> reasons{imprecision("P(overlap)", last["overlap"])};
    for (std::size_t i = 0; i < last["buffers"].size(); ++i)
        reasons.push_back(imprecision(
            fmt::format("P(queue > {})", collectors::format_bytes(static_cast<double>(settings.buffers[i]))),
            last["buffers"][i]));
    if (const Json& p99 = last["backlog_p99"]; p99.is_object()) {
        if (p99["lower"].is_null())
            reasons.push_back("too few draws bound the 99th percentile of the queue");
        else if (half_width(p99) > precise_quantile * p99["bytes"].get<double>())
            reasons.push_back(
                fmt::format("the 99th percentile of the queue is known to +-{}, not to +-{:.0f} %",
                            collectors::format_bytes(half_width(p99)), 100 * precise_quantile));
    }
    std::erase(reasons, "");
    return {{"converged", reasons.empty()}, {"reasons", reasons}, {"steps", steps}};
}

/// The largest queue at shares of the draws that are evenly spread.
Json curve_json(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    Json curve = Json::array();
    const std::size_t points = std::min(curve_points, values.size());
    for (std::size_t i = 1; i <= points; ++i) {
        const std::size_t rank =
            i * values.size() / points; // draws up to this one, the last one is the largest
        curve.push_back(
            {{"bytes", values[rank - 1]},
             {"share_above", 1 - static_cast<double>(rank) / static_cast<double>(values.size())}});
    }
    return curve;
}

/// Of every draw at once: E of a sum is at most the sum of the E of its parts.
std::vector<double> aligned_bounds(const std::vector<SuperposedTrace>& traces,
                                   const SuperposeSettings& settings, std::span<const double> windows) {
    std::vector<double> bounds(windows.size());
    for (std::size_t i = 0; i < traces.size(); ++i) {
        Superposition alone{{&traces[i].job.traffic},
                            traces[i].job.traffic.bytes.size(),
                            {windows.begin(), windows.end()},
                            std::nullopt};
        const Draws own = draw_once(alone, std::vector<double>{0.0});
        const auto times = static_cast<double>((settings.jobs - i + traces.size() - 1) /
                                               traces.size()); // jobs of this trace
        for (std::size_t j = 0; j < windows.size(); ++j)
            bounds[j] += times * own.window_bytes[j][0];
    }
    return bounds;
}

} // namespace

Json superpose_json(const std::vector<SuperposedTrace>& traces, const SuperposeSettings& settings,
                    std::size_t threads) {
    Superposition superposition;
    double mean = 0; // bytes in a cell
    nanoseconds resolved_from{0};
    for (std::size_t i = 0; i < settings.jobs; ++i) {
        superposition.jobs.push_back(&traces[i % traces.size()].job.traffic);
        mean += bytes_per_cell(*superposition.jobs.back());
    }
    for (const SuperposedTrace& each : traces)
        resolved_from = std::max(resolved_from, each.job.resolved_from);
    std::vector<nanoseconds> resolved;
    for (const nanoseconds window : settings.windows)
        if (window >= resolved_from)
            resolved.push_back(window);
    for (const nanoseconds window : resolved)
        superposition.windows.push_back(in_cells(window, settings.cell));
    superposition.cells = covered_cells(traces, settings);
    const double seconds = in_seconds(settings.cell);
    const double load = settings.rate ? mean / (settings.rate->bytes_per_second() * seconds) : 0;
    if (settings.rate && load < 1)
        superposition.drained = settings.rate->bytes_per_second() * seconds;

    const auto given =
        settings.offsets.empty() ? std::vector<std::vector<double>>() : given_starts(traces, settings);
    const std::size_t count = settings.offsets.empty() ? settings.phases : given.size();
    const double work = static_cast<double>(count) * static_cast<double>(summed_cells(superposition)) *
                        static_cast<double>(settings.jobs + resolved.size() + 4);
    if (work > most_work)
        throw generator::UserError(fmt::format(
            "{} draws of {} jobs over {} cells of {} would take hours; fewer --phases, a larger "
            "--cell, or the --period of the traces help",
            count, settings.jobs, summed_cells(superposition), collectors::format_duration(settings.cell)));

    const Draws draws = settings.offsets.empty() ? draw_phases(superposition, count, settings.seed, threads)
                                                 : draw_given(superposition, given);
    std::vector<double> offsets;
    for (const nanoseconds offset : settings.offsets)
        offsets.push_back(in_seconds(offset));

    Json inputs = Json::array();
    for (std::size_t i = 0; i < traces.size(); ++i)
        inputs.push_back(input_json(traces[i], i, traces.size(), settings));
    Json burstiness = Json::array();
    const std::vector<double> bounds = aligned_bounds(traces, settings, superposition.windows);
    for (std::size_t i = 0, known = 0; i < settings.windows.size(); ++i) {
        const bool is_resolved = settings.windows[i] >= resolved_from;
        const double mean_bytes = mean * in_cells(settings.windows[i], settings.cell);
        burstiness.push_back(
            {{"tau_seconds", in_seconds(settings.windows[i])},
             {"e_bytes", is_resolved ? distribution_json(draws.window_bytes[known]) : Json()},
             {"ptm", is_resolved ? distribution_json(draws.window_bytes[known], mean_bytes) : Json()},
             {"e_bound_bytes", is_resolved ? Json(bounds[known]) : Json()},
             {"ptm_bound", is_resolved ? Json(bounds[known] / mean_bytes) : Json()}});
        known += is_resolved ? 1U : 0U;
    }
    Json link;
    if (settings.rate)
        link = {{"rate_bits_per_second", settings.rate->bits_per_second}, {"load", load}};
    Json backlog;
    Json buffers = Json::array();
    if (!draws.backlog_bytes.empty())
        backlog = {{"bytes", distribution_json(draws.backlog_bytes)},
                   {"curve", curve_json(draws.backlog_bytes)}};
    for (const std::uint64_t buffer : settings.buffers)
        buffers.push_back(
            {{"buffer_bytes", buffer},
             {"probability",
              draws.backlog_bytes.empty()
                  ? Json()
                  : probability_json(count_above(draws.backlog_bytes, static_cast<double>(buffer)), count)}});
    return {{"format", "gradburst-superpose/1"},
            {"version", GRADBURST_VERSION},
            {"created_at", settings.created_at},
            {"direction", settings.direction == collectors::Direction::tx ? "tx" : "rx"},
            {"jobs", settings.jobs},
            {"draws", count},
            {"seed", settings.offsets.empty() ? Json(settings.seed) : Json()},
            {"offsets_seconds", settings.offsets.empty() ? Json() : Json(offsets)},
            {"cell_seconds", seconds},
            {"covered_seconds", static_cast<double>(superposition.cells) * seconds},
            {"resolved_from_seconds", in_seconds(resolved_from)},
            {"mean_bits_per_second", 8 * mean / seconds},
            {"inputs", inputs},
            {"link", link},
            {"burstiness", burstiness},
            {"backlog", backlog},
            {"buffers", buffers},
            {"overlap", probability_json(count_overlaps(draws.overlaps), count)},
            {"convergence", settings.offsets.empty() ? convergence_json(draws, settings) : Json()},
            {"warnings", superposition_warnings(traces, settings, load)}};
}

} // namespace tools
