#include "tools/chart_curves.hpp"

#include "tools/chart_rate.hpp"
#include "tools/number_rows.hpp"

#include "collectors/sidecar_numbers.hpp"
#include "collectors/trace_file.hpp"
#include "collectors/units.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace tools {

namespace {

using collectors::Direction;

constexpr std::int64_t millisecond_ns = 1'000'000;

std::int64_t index_at(std::int64_t time_ns, std::int64_t step_ns) {
    return time_ns / step_ns - (time_ns % step_ns < 0 ? 1 : 0);
}

/// A column of a lane's file and the chart that shows it.
struct LaneChart {
    std::string_view column;
    std::string_view kind;
    std::string_view name;
    std::string_view unit;
    bool is_count;
};

constexpr std::array<LaneChart, 2> queue_charts{{
    {"backlog_bytes", "backlog", "", "B", false}, // for the name see queue_name()
    {"drops", "drops", "", "packets", true},
}};

constexpr std::array<LaneChart, 8> slow_charts{{
    {"queue_backlog_bytes", "backlog", "interface queue", "B", false},
    {"queue_drops", "drops", "interface queue", "packets", true},
    {"rx_drops", "drops", "rx", "packets", true},
    {"tx_drops", "drops", "tx", "packets", true},
    {"tcp_retransmits", "retransmits", "retransmits", "segments", true},
    {"tcp_timeouts", "retransmits", "timeouts", "events", true},
    {"ecn_marks_received", "retransmits", "ECN marks received", "packets", true},
    {"ecn_marks_echoed", "retransmits", "ECN marks echoed", "packets", true},
}};

/// How wide the bins of a lane are: as far apart as its rows.
std::int64_t lane_step_ns(const LaneSource& lane) {
    const std::int64_t usual =
        lane.kind == LaneSource::Kind::queue ? 2 * millisecond_ns : 100 * millisecond_ns;
    const std::int64_t rows = lane.step_ns > 0 ? lane.step_ns : usual;
    return std::max(millisecond_ns, rows / millisecond_ns * millisecond_ns);
}

/// The slow lane reads the queue of an interface too, less often.
std::string queue_name(const LaneSource& lane, std::int64_t step_ns) {
    return lane.is_switch_port
               ? "switch port queue"
               : "interface queue every " + collectors::format_duration(std::chrono::nanoseconds(step_ns));
}

/// Which column of the file shows in which curve; counters give what they rose by.
struct LaneColumnUse {
    std::size_t column = 0;
    bool is_count = false;
};

using Row = std::span<const std::optional<std::int64_t>>;

void read_lane(const LaneSource& lane, std::int64_t step_ns, const std::vector<LaneColumnUse>& uses,
               const std::function<void(std::size_t, std::int64_t, double)>& value) {
    std::vector<std::optional<std::int64_t>> before(uses.size());
    for_each_number_row(lane.path, [&](Row row) {
        if (row.empty() || !row[0] || !collectors::is_sensible(*row[0]))
            return;
        const std::int64_t index = index_at(*row[0] + lane.offset_ns, step_ns);
        for (std::size_t i = 0; i < uses.size(); ++i) {
            if (uses[i].column >= row.size() || row[uses[i].column].value_or(-1) < 0)
                continue; // -1: not known
            const std::int64_t now = *row[uses[i].column];
            if (!uses[i].is_count)
                value(i, index, static_cast<double>(now));
            else if (before[i] && now >= *before[i])
                value(i, index, static_cast<double>(now - *before[i]));
            before[i] = now;
        }
    });
}

/// When a bucket of a rank ended.
using BucketEnds = std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, std::int64_t>;

BucketEnds bucket_ends(const ReportInput& input) {
    BucketEnds ends;
    for (const BucketSpan& span : input.timeline)
        if (span.end_ns)
            ends[{span.rank, span.iteration, span.bucket}] = *span.end_ns;
    return ends;
}

struct TcpPoint {
    std::int64_t index;
    std::size_t curve;
    double value;
};

struct TcpChart {
    std::string_view column;
    std::string_view kind;
    std::string_view unit;
    double scale;
    bool is_count;
};

constexpr std::array<TcpChart, 3> tcp_charts{{
    {"rtt_us", "rtt", "ms", 1e-3, false},
    {"cwnd_segments", "cwnd", "segments", 1, false},
    {"retransmitted_segments", "resent", "segments", 1, true},
}};

} // namespace

CurveSource rate_source(const TraceSource& trace) {
    const std::int64_t step_ns = chart_step_ns(trace.info);
    std::vector<Direction> directions{Direction::tx};
    if (!trace.is_switch_port)
        directions.push_back(Direction::rx);
    CurveSource source;
    for (const Direction direction : directions)
        source.curves.push_back({"rate", trace.info.host, trace.info.interface,
                                 direction == Direction::tx ? "tx" : "rx", "Mbit/s", trace.is_switch_port,
                                 false, step_ns});
    source.values = [trace, step_ns, directions](const auto& value) {
        const double megabits = 8e3 / static_cast<double>(step_ns); // of one byte in a bin
        std::vector<RateGrid> grids;
        for (std::size_t i = 0; i < directions.size(); ++i)
            grids.emplace_back(step_ns, trace.offset_ns, chart_longest_distance_ns(trace.info),
                               [&value, i, megabits](std::int64_t index, double bytes) {
                                   value(i, index, bytes * megabits);
                               });
        collectors::for_each_block(trace.path, [&](std::span<const collectors::Sample> samples) {
            for (const collectors::Sample& sample : samples)
                for (std::size_t i = 0; i < grids.size(); ++i)
                    grids[i].add(collectors::reading_of(sample, directions[i]));
        });
    };
    return source;
}

CurveSource lane_source(const LaneSource& lane) {
    const std::vector<std::string> names = column_names(lane.path);
    const std::int64_t step_ns = lane_step_ns(lane);
    const bool is_queue = lane.kind == LaneSource::Kind::queue;
    const std::span<const LaneChart> charts =
        is_queue ? std::span<const LaneChart>(queue_charts) : std::span<const LaneChart>(slow_charts);
    CurveSource source;
    std::vector<LaneColumnUse> uses;
    for (const LaneChart& chart : charts)
        if (const auto column = column_of(names, chart.column)) {
            source.curves.push_back({std::string(chart.kind), lane.host, lane.interface,
                                     is_queue ? queue_name(lane, step_ns) : std::string(chart.name),
                                     std::string(chart.unit), lane.is_switch_port, chart.is_count, step_ns});
            uses.push_back({*column, chart.is_count});
        }
    source.values = [lane, step_ns, uses](const auto& value) { read_lane(lane, step_ns, uses, value); };
    return source;
}

CurveSource tcp_source(const ReportInput& input, std::size_t most_ranks) {
    CurveSource source{{}, [](const auto&) {}};
    if (input.tcp_path.empty())
        return source;
    std::set<std::int64_t> ranks;
    for (const BucketSpan& span : input.timeline)
        ranks.insert(span.rank);
    const bool each = ranks.size() <= most_ranks;
    std::map<std::int64_t, std::size_t> place; // of a rank among the curves of one kind
    for (const std::int64_t rank : ranks)
        place.emplace(rank, each ? place.size() : 0);
    const std::size_t groups = each ? ranks.size() : 1;
    for (const TcpChart& chart : tcp_charts)
        for (std::size_t group = 0; group < groups; ++group) {
            const auto rank = std::next(ranks.begin(), static_cast<std::ptrdiff_t>(group));
            const std::string name =
                each ? fmt::format("rank {}", *rank) : fmt::format("all {} ranks", ranks.size());
            source.curves.push_back({std::string(chart.kind), "", "", name, std::string(chart.unit), false,
                                     chart.is_count, millisecond_ns});
        }
    source.values = [path = input.tcp_path, ends = std::make_shared<BucketEnds>(bucket_ends(input)), place,
                     groups](const auto& value) {
        const std::vector<std::string> names = column_names(path);
        const auto rank = column_of(names, "rank");
        const auto iteration = column_of(names, "iteration");
        const auto bucket = column_of(names, "bucket");
        if (!rank || !iteration || !bucket)
            return;
        std::vector<TcpPoint> points; // of all ranks by time: the file is by rank
        for_each_number_row(path, [&](Row row) {
            if (row.size() < names.size() || !row[*rank] || !row[*iteration] || !row[*bucket])
                return;
            const auto end = ends->find({*row[*rank], *row[*iteration], *row[*bucket]});
            if (end == ends->end())
                return;
            for (std::size_t i = 0; i < tcp_charts.size(); ++i) {
                const auto column = column_of(names, tcp_charts[i].column);
                if (column && row[*column])
                    points.push_back({index_at(end->second, millisecond_ns),
                                      i * groups + place.at(*row[*rank]),
                                      static_cast<double>(*row[*column]) * tcp_charts[i].scale});
            }
        });
        std::stable_sort(points.begin(), points.end(),
                         [](const TcpPoint& a, const TcpPoint& b) { return a.index < b.index; });
        for (const TcpPoint& point : points)
            value(point.curve, point.index, point.value);
    };
    return source;
}

} // namespace tools
