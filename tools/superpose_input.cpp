#include "tools/superpose_input.hpp"

#include "tools/input_failure.hpp"
#include "tools/trace_cells.hpp"
#include "tools/trace_numbers.hpp"

#include "collectors/burstiness.hpp"
#include "collectors/bursts.hpp"
#include "collectors/period.hpp"
#include "collectors/units.hpp"
#include "generator/failure.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

namespace tools {
namespace {

using collectors::Reading;
using generator::UserError;
using std::chrono::nanoseconds;

constexpr std::string_view none_found = "none found";
constexpr nanoseconds cell_of_predictions = std::chrono::microseconds(100);

/// Calls `block` with the readings of the trace between two instants.
template <class Block>
void for_each_reading(const ChosenTrace& chosen, collectors::Direction direction, Block&& block) {
    using_input(chosen.input, [&](const ReportInput&) {
        collectors::for_each_block(chosen.trace.path, [&](std::span<const collectors::Sample> samples) {
            for (const collectors::Sample& sample : samples)
                block(collectors::reading_of(sample, direction));
        });
        return 0;
    });
}

/// Half of the bytes went in cells that held as many, or more.
double typical_sending_cell(std::vector<double> bytes) {
    std::sort(bytes.begin(), bytes.end(), std::greater<>());
    const double half = std::accumulate(bytes.begin(), bytes.end(), 0.0) / 2;
    double sent = 0;
    for (const double each : bytes)
        if ((sent += each) >= half)
            return each;
    return 0;
}

/// The most in so many successive cells, divided by their number.
double fastest(const CyclicTraffic& traffic, std::size_t cells) {
    cells = std::min(cells, traffic.bytes.size());
    const Superposition alone{{&traffic}, traffic.bytes.size(), {static_cast<double>(cells)}, std::nullopt};
    return draw_once(alone, std::vector<double>{0}).window_bytes[0][0] / static_cast<double>(cells);
}

/// Of what is repeated, with ends in cells.
std::vector<BurstSpan> bursts_of(const ChosenTrace& chosen, collectors::Direction direction, double from_ns,
                                 nanoseconds cell, std::size_t cells, double bytes_per_second) {
    std::vector<BurstSpan> bursts;
    const auto length = static_cast<double>(cells);
    const auto keep = [&](const collectors::Burst& burst) {
        const auto place = [&](nanoseconds instant) {
            return std::clamp((static_cast<double>(instant.count()) - from_ns) /
                                  static_cast<double>(cell.count()),
                              0.0, length);
        };
        if (place(burst.begin) < place(burst.end))
            bursts.push_back({place(burst.begin), place(burst.end)});
    };
    collectors::BurstFinder finder({static_cast<std::uint64_t>(8 * bytes_per_second)}, nanoseconds(0));
    for_each_reading(chosen, direction,
                     [&](const Reading& reading) { finder.add(std::span(&reading, 1), keep); });
    finder.finish(keep);
    return bursts;
}

/// A run that holds the file in its folder nic/.
std::optional<std::filesystem::path> run_around(const std::filesystem::path& trace) {
    const std::filesystem::path folder = std::filesystem::absolute(trace).parent_path();
    if (folder.filename() != "nic" || !std::filesystem::exists(folder.parent_path() / "run.json"))
        return std::nullopt;
    return folder.parent_path();
}

struct PeriodFound {
    nanoseconds length{0};
    std::string source;
};

/// What repeats in the cells; the whole where nothing does.
PeriodFound period_in(collectors::ActivitySeries& series, double length_ns) {
    if (const auto period = collectors::find_period(series.bytes(), series.cell()))
        return {period->length, fmt::format("autocorrelation {:.2f}", period->autocorrelation)};
    return {nanoseconds(std::llround(length_ns)), std::string(none_found)};
}

/// That fit; a hundredth more, for the last reading may be a little early.
std::size_t whole_periods(double length_ns, nanoseconds period) {
    return static_cast<std::size_t>(length_ns / static_cast<double>(period.count()) + 0.01);
}

/// How many cells whole periods take.
std::size_t repeated_cells(const ChosenTrace& chosen, double length_ns, nanoseconds period,
                           nanoseconds cell) {
    const std::string name = chosen.trace.path.string();
    const auto cell_ns = static_cast<double>(cell.count());
    const double all = std::floor(length_ns / cell_ns + 0.01);
    if (!(all >= 1))
        throw UserError(
            fmt::format("{}: is shorter than a cell of {}", name, collectors::format_duration(cell)));
    if (all > TraceCells::most_cells)
        throw UserError(fmt::format("{}: has more than {:.0f} million cells of {}; give a larger --cell",
                                    name, TraceCells::most_cells / 1e6, collectors::format_duration(cell)));
    if (period < cell)
        throw UserError(fmt::format("{}: the period of {} is shorter than a cell of {}", name,
                                    collectors::format_duration(period), collectors::format_duration(cell)));
    const std::size_t periods = whole_periods(length_ns, period);
    if (periods == 0)
        throw UserError(fmt::format("{}: {} of it can be used, which is shorter than the period of {}", name,
                                    collectors::format_duration(nanoseconds(std::llround(length_ns))),
                                    collectors::format_duration(period)));
    const double cells = static_cast<double>(periods) * static_cast<double>(period.count()) / cell_ns;
    return static_cast<std::size_t>(std::clamp(std::round(cells), 1.0, all));
}

std::vector<std::string> warnings_about(const ChosenTrace& chosen, const TraceCells& cells,
                                        const PeriodFound& period) {
    std::vector<std::string> warnings;
    const std::string& name = chosen.input.name;
    if (period.source == none_found)
        warnings.push_back(fmt::format(
            "NO PERIOD FOUND IN {}: a draw covers the whole trace; give --period if it has one", name));
    if (cells.unknown_share() > 0.01)
        warnings.push_back(fmt::format("GAPS IN {}: bytes of {:.1f} % of the time are spread evenly over the "
                                       "gaps, though they may have come in bursts",
                                       name, 100 * cells.unknown_share()));
    if (cells.restarts() > 0)
        warnings.push_back(fmt::format("COUNTER STARTED ANEW {} TIMES IN {}: nobody knows what it counted in "
                                       "between, and that is taken as nothing",
                                       cells.restarts(), name));
    return warnings;
}

} // namespace

ChosenTrace choose_trace(const std::filesystem::path& path) {
    ChosenTrace chosen;
    if (std::filesystem::is_regular_file(path))
        if (const auto run = run_around(path)) {
            chosen.input = read_input(*run);
            for (const TraceSource& trace : chosen.input.traces)
                if (trace.path.filename() == path.filename()) {
                    chosen.trace = trace;
                    return chosen;
                }
        }
    chosen.input = read_input(path);
    for (const TraceSource& trace : chosen.input.traces)
        if (!trace.is_switch_port || chosen.input.kind == ReportInput::Kind::trace) {
            if (chosen.trace.path.empty())
                chosen.trace = trace;
            else
                ++chosen.others;
        }
    if (chosen.trace.path.empty())
        throw UserError(fmt::format("{}: holds no trace of a host's interface", path.string()));
    return chosen;
}

nanoseconds common_cell(std::span<const ChosenTrace> traces) {
    nanoseconds cell{0};
    for (const ChosenTrace& each : traces) {
        nanoseconds interval = each.trace.info.interval;
        if (interval.count() == 0) { // a prediction, or a trace that lost its sidecar
            std::size_t count = 0;
            bool corners = true;
            std::optional<std::int64_t> first;
            std::int64_t last = 0;
            for_each_reading(each, collectors::Direction::tx, [&](const Reading& reading) {
                corners = corners && reading.begin_ns == reading.end_ns;
                first = first.value_or(reading.begin_ns);
                last = reading.begin_ns;
                ++count;
            });
            if (count < 2)
                throw UserError(
                    fmt::format("{}: has {} readings; traffic needs two", each.input.name, count));
            interval = corners ? cell_of_predictions
                               : nanoseconds((last - *first) / static_cast<std::int64_t>(count - 1));
        }
        cell = std::max(cell, interval);
    }
    return cell;
}

JobTrace job_trace(const ChosenTrace& chosen, const JobTraceSettings& settings, nanoseconds cell) {
    const auto measured = chosen.input.kind == ReportInput::Kind::run
                              ? measured_iterations(chosen.input, chosen.trace)
                              : std::nullopt;
    TraceCells cells(cell);
    collectors::ActivitySeries series(cell);
    for_each_reading(chosen, settings.direction, [&](const Reading& reading) {
        const nanoseconds begin(reading.begin_ns);
        if (measured && (begin < measured->from - cell / 2 || begin > measured->to + cell))
            return;
        cells.add(reading);
        series.add(std::span(&reading, 1));
    });
    double length_ns = cells.length_ns();
    if (measured)
        length_ns = std::min(length_ns, static_cast<double>((measured->to - measured->from).count()));

    PeriodFound period{settings.period.value_or(nanoseconds(0)), "--period"};
    if (!settings.period)
        period =
            measured
                ? PeriodFound{(measured->to - measured->from) / static_cast<std::int64_t>(measured->count),
                              "timeline"}
                : period_in(series, length_ns);
    JobTrace job;
    const std::size_t count = repeated_cells(chosen, length_ns, period.length, cell);
    job.from = nanoseconds(std::llround(cells.origin_ns()));
    job.period = period.length;
    job.periods = whole_periods(length_ns, period.length);
    job.period_source = period.source;
    job.warnings = warnings_about(chosen, cells, period);
    job.traffic.bytes = cells.take(count);

    const double typical = typical_sending_cell(job.traffic.bytes);
    if (!(typical > 0))
        throw UserError(fmt::format("{}: nothing was {} there", chosen.trace.path.string(),
                                    settings.direction == collectors::Direction::tx ? "sent" : "received"));
    const double seconds = collectors::in_seconds(cell);
    job.sending_bits_per_second = 8 * typical / seconds;
    job.traffic.bursts = bursts_of(chosen, settings.direction, static_cast<double>(job.from.count()), cell,
                                   count, typical / 2 / seconds);
    job.resolved_from =
        std::max(collectors::resolved_from(cell, std::nullopt), chosen.trace.info.sampler.resolved_from);
    job.peak_bits_per_second =
        8 * fastest(job.traffic, static_cast<std::size_t>(job.resolved_from / cell)) / seconds;
    return job;
}

} // namespace tools
