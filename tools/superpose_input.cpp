#include "tools/superpose_input.hpp"

#include "tools/input_failure.hpp"
#include "tools/trace_numbers.hpp"

#include "collectors/burstiness.hpp"
#include "collectors/bursts.hpp"
#include "collectors/period.hpp"
#include "collectors/segments.hpp"
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

constexpr double most_cells = 2e7; // 160 MB
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

/// Bytes of readings in cells of a grid.
class Cells {
public:
    explicit Cells(nanoseconds cell) : cell_(static_cast<double>(cell.count())) {}

    /// Cells begin at the first reading.
    void add(const Reading& reading) {
        const double now = collectors::midpoint_ns(reading);
        if (!origin_)
            origin_ = now;
        if (previous_) {
            const bool anew = collectors::starts_segment(reading, *previous_);
            const bool corner =
                reading.begin_ns == reading.end_ns && previous_->begin_ns == previous_->end_ns;
            const double step = now - collectors::midpoint_ns(*previous_);
            if (anew || (!corner && step > 2.5 * cell_))
                unknown_ += step;
            if (anew)
                ++restarts_;
            else if (reading.bytes != previous_->bytes)
                spread(collectors::midpoint_ns(*previous_), now,
                       static_cast<double>(reading.bytes - previous_->bytes));
        }
        end_ = now;
        previous_ = reading;
    }

    double origin_ns() const { return origin_.value_or(0); }
    double length_ns() const { return end_ - origin_ns(); }
    double unknown_share() const { return length_ns() > 0 ? unknown_ / length_ns() : 0; }
    std::size_t restarts() const { return restarts_; }
    std::vector<double> take(std::size_t count) {
        bytes_.resize(count);
        return std::move(bytes_);
    }

private:
    void spread(double from, double to, double bytes) {
        const double first = (from - *origin_) / cell_;
        const double last = (to - *origin_) / cell_;
        if (last <= 0)
            return;
        if (last > most_cells)
            throw UserError(
                fmt::format("has more than {:.0f} million cells; give a larger --cell", most_cells / 1e6));
        const double per_cell = bytes / (last - first);
        auto at = static_cast<std::size_t>(std::max(first, 0.0));
        bytes_.resize(std::max(bytes_.size(), static_cast<std::size_t>(std::ceil(last))));
        for (; static_cast<double>(at) < last; ++at) {
            const double begin = std::max(first, static_cast<double>(at));
            const double end = std::min(last, static_cast<double>(at + 1));
            // All of it, or a share of it: what lies in one cell must not be rounded.
            bytes_[at] += begin == first && end == last ? bytes : per_cell * (end - begin);
        }
    }

    double cell_;
    std::optional<double> origin_;
    double end_ = 0;
    std::optional<Reading> previous_;
    double unknown_ = 0; ///< ns
    std::size_t restarts_ = 0;
    std::vector<double> bytes_;
};

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
    return {nanoseconds(std::llround(length_ns)), "none found"};
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
    const std::string name = chosen.trace.path.string();
    JobTrace job;
    const auto measured = chosen.input.kind == ReportInput::Kind::run
                              ? measured_iterations(chosen.input, chosen.trace)
                              : std::nullopt;
    Cells cells(cell);
    collectors::ActivitySeries series(cell);
    for_each_reading(chosen, settings.direction, [&](const Reading& reading) {
        const nanoseconds begin(reading.begin_ns);
        if (measured && (begin < measured->from - cell / 2 || begin > measured->to + cell))
            return;
        cells.add(reading);
        series.add(std::span(&reading, 1));
    });
    const auto cell_ns = static_cast<double>(cell.count());
    double length_ns = cells.length_ns();
    if (measured)
        length_ns = std::min(length_ns, static_cast<double>((measured->to - measured->from).count()));
    const double all = std::floor(length_ns / cell_ns + 0.01);
    if (!(all >= 1))
        throw UserError(
            fmt::format("{}: is shorter than a cell of {}", name, collectors::format_duration(cell)));
    if (all > most_cells)
        throw UserError(fmt::format("{}: has more than {:.0f} million cells of {}; give a larger --cell",
                                    name, most_cells / 1e6, collectors::format_duration(cell)));

    PeriodFound period{nanoseconds(0), "--period"};
    if (settings.period)
        period.length = *settings.period;
    else if (measured)
        period = {(measured->to - measured->from) / static_cast<std::int64_t>(measured->count), "timeline"};
    else
        period = period_in(series, length_ns);
    const auto period_ns = static_cast<double>(period.length.count());
    if (period_ns < cell_ns)
        throw UserError(fmt::format("{}: the period of {} is shorter than a cell of {}", name,
                                    collectors::format_duration(period.length),
                                    collectors::format_duration(cell)));
    // A hundredth: the last reading may be a little early.
    job.periods = static_cast<std::size_t>(length_ns / period_ns + 0.01);
    if (job.periods == 0)
        throw UserError(fmt::format("{}: {} of it can be used, which is shorter than the period of {}", name,
                                    collectors::format_duration(nanoseconds(std::llround(length_ns))),
                                    collectors::format_duration(period.length)));
    const auto count = static_cast<std::size_t>(
        std::clamp(std::round(static_cast<double>(job.periods) * period_ns / cell_ns), 1.0, all));
    job.from = nanoseconds(std::llround(cells.origin_ns()));
    job.period = period.length;
    job.period_source = period.source;
    const double unknown = cells.unknown_share();
    const std::size_t restarts = cells.restarts();
    job.traffic.bytes = cells.take(count);

    const double typical = typical_sending_cell(job.traffic.bytes);
    if (!(typical > 0))
        throw UserError(fmt::format("{}: nothing was {} there", name,
                                    settings.direction == collectors::Direction::tx ? "sent" : "received"));
    const double seconds = collectors::in_seconds(cell);
    job.sending_bits_per_second = 8 * typical / seconds;
    job.traffic.bursts = bursts_of(chosen, settings.direction, static_cast<double>(job.from.count()), cell,
                                   count, typical / 2 / seconds);
    job.resolved_from =
        std::max(collectors::resolved_from(cell, std::nullopt), chosen.trace.info.sampler.resolved_from);
    job.peak_bits_per_second =
        8 * fastest(job.traffic, static_cast<std::size_t>(job.resolved_from / cell)) / seconds;

    const std::string capitals = chosen.input.name;
    if (period.source == "none found")
        job.warnings.push_back(fmt::format(
            "NO PERIOD FOUND IN {}: a draw covers the whole trace; give --period if it has one", capitals));
    if (unknown > 0.01)
        job.warnings.push_back(fmt::format("GAPS IN {}: bytes of {:.1f} % of the time are spread evenly over "
                                           "the gaps, though they may have come in bursts",
                                           capitals, 100 * unknown));
    if (restarts > 0)
        job.warnings.push_back(
            fmt::format("COUNTER STARTED ANEW {} TIMES IN {}: nobody knows what it counted "
                        "in between, and that is taken as nothing",
                        restarts, capitals));
    return job;
}

} // namespace tools
