#include "tools/report_input.hpp"

#include "tools/report_order.hpp"
#include "tools/run_file.hpp"

#include "collectors/queue_lane.hpp"
#include "collectors/sidecar_numbers.hpp"
#include "collectors/slow_lane.hpp"
#include "generator/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <fmt/format.h>

namespace tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using generator::UserError;

constexpr std::string_view timeline_header =
    "rank,iteration,bucket,iteration_start_ns,due_ns,start_ns,end_ns,iteration_end_ns,late_ns,bucket_bytes,"
    "sent_bytes,received_bytes";

std::string content_of(const fs::path& path) {
    if (fs::exists(path) && !fs::is_regular_file(path)) // opening a pipe would wait for its writer
        throw UserError(fmt::format("{}: is no regular file", path.string()));
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw UserError(fmt::format("{}: cannot be opened: {}", path.string(), std::strerror(errno)));
    return {std::istreambuf_iterator<char>(file), {}};
}

/// One field, up to the next comma.
std::string_view take_field(std::string_view& line) {
    const std::size_t end = std::min(line.find(','), line.size());
    const std::string_view field = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    return field;
}

template <class Number>
bool parse(std::string_view field, Number& value) {
    const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
    return error == std::errc{} && end == field.data() + field.size();
}

/// A time, which is not so large that differences do not fit.
bool parse_time(std::string_view field, std::int64_t& value) {
    return parse(field, value) && collectors::is_sensible(value);
}

bool parse_time(std::string_view field, std::optional<std::int64_t>& value) {
    return field.empty() || parse_time(field, value.emplace());
}

bool parse_line(std::string_view line, BucketSpan& span) {
    const auto next = [&](auto& value) { return parse(take_field(line), value); };
    const auto next_time = [&](auto& value) { return parse_time(take_field(line), value); };
    return next(span.rank) && span.rank >= 0 && next(span.iteration) && next(span.bucket) &&
           next_time(span.iteration_start_ns) && next_time(span.due_ns) && next_time(span.start_ns) &&
           next_time(span.end_ns) && next_time(span.iteration_end_ns) && next_time(span.late_ns) &&
           next(span.bucket_bytes) && next(span.sent_bytes) && next(span.received_bytes) && line.empty();
}

/// What is to be added to a host's clock to get that of the switch's host; 0 where it is not known.
std::int64_t clock_offset_ns(const Json& host) {
    const Json::json_pointer offset("/clock/start/offset_seconds");
    return host.contains(offset) && host[offset].is_number() ? std::llround(1e9 * host[offset].get<double>())
                                                             : 0;
}

/// Time 0 of the run on the clock of a host: of the rank that uses the interface, of any rank of the host,
/// and of a switch, which is on the host of the launch's rank 0, that of rank 0.
std::optional<std::int64_t> start_of_run(const Json& run, const std::string& host,
                                         const std::string& interface, bool is_switch_port) {
    std::optional<std::int64_t> of_host;
    const Json::json_pointer hosts("/context/hosts");
    if (!run.contains(hosts))
        return std::nullopt;
    for (const Json& each : run[hosts])
        for (const Json& rank : each.value("ranks", Json::array())) {
            const Json start = rank.value("start_monotonic_ns", Json());
            if (!start.is_number_integer())
                continue;
            if (is_switch_port && rank.value("rank", -1) == 0)
                return start.get<std::int64_t>() + clock_offset_ns(each);
            const bool same_host = !is_switch_port && each.value("host", "") == host;
            if (same_host && rank.value("interface", "") == interface)
                return start.get<std::int64_t>();
            if (same_host && !of_host)
                of_host = start.get<std::int64_t>();
        }
    return of_host;
}

/// Of the traces that a launch's jobs have in common, one whose interface carries none of this job's ranks.
bool belongs_to_other_jobs(const Json& run, const collectors::TraceInfo& info) {
    const Json::json_pointer hosts("/context/hosts");
    if (!run.contains("job") || !run.contains(hosts))
        return false;
    for (const Json& each : run[hosts])
        for (const Json& rank : each.value("ranks", Json::array()))
            if (each.value("host", "") == info.host && rank.value("interface", "") == info.interface)
                return false;
    return true;
}

bool is_part(const fs::path& path) {
    return path.extension() != ".csv" && path.extension() != ".bin"; // trace.csv.1 is read with trace.csv
}

bool ends_with(const fs::path& path, std::string_view end) {
    return path.filename().string().ends_with(end);
}

Json lane_sidecar(const fs::path& path) {
    const fs::path sidecar = collectors::sidecar_path(path);
    return Json::parse(content_of(sidecar));
}

/// Beside which trace a lane stands tells whose it is.
void add_lane(ReportInput& input, const TraceSource& trace, const fs::path& path, LaneSource::Kind kind) {
    if (!fs::exists(path))
        return;
    try {
        const Json sidecar = lane_sidecar(path);
        const std::int64_t shift =
            collectors::time_of(sidecar, "start_monotonic_ns") - trace.info.start_monotonic_ns;
        input.lanes.push_back(
            {path, trace.info.host, trace.info.interface, kind, trace.offset_ns + shift,
             sidecar.contains("interval_ns") ? collectors::length_of(sidecar, "interval_ns") : 0,
             trace.is_switch_port});
    } catch (const std::exception& error) {
        input.warnings.push_back(fmt::format("{} CANNOT BE READ: {}", path.string(), error.what()));
    }
}

void add_trace(ReportInput& input, const fs::path& path) {
    TraceSource trace;
    trace.path = path;
    try {
        trace.info = collectors::read_trace_info(path);
    } catch (const std::exception& error) {
        input.warnings.push_back(fmt::format("TRACE {} CANNOT BE READ: {}", path.string(), error.what()));
        return;
    }
    trace.is_switch_port = trace.info.side.starts_with("switch port");
    if (input.kind == ReportInput::Kind::run) {
        if (!trace.is_switch_port && belongs_to_other_jobs(input.run, trace.info))
            return;
        const auto start =
            start_of_run(input.run, trace.info.host, trace.info.interface, trace.is_switch_port);
        if (start)
            trace.offset_ns = trace.info.start_monotonic_ns - *start;
        else
            input.warnings.push_back(
                fmt::format("TRACE OF {} {} IS NOT ALIGNED: run.json does not say when the run began on that "
                            "host's clock; it stands as if sampling had begun with the run",
                            trace.info.host, trace.info.interface));
    }
    input.traces.push_back(trace);
    add_lane(input, trace, collectors::slow_path(path), LaneSource::Kind::slow);
    add_lane(input, trace, collectors::queue_path(path), LaneSource::Kind::queue);
}

void add_traces_of(ReportInput& input, const fs::path& folder) {
    std::vector<fs::path> paths;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
        if (!is_part(entry.path()) && !ends_with(entry.path(), ".slow.csv") &&
            !ends_with(entry.path(), ".queue.csv"))
            paths.push_back(entry.path());
    std::sort(paths.begin(), paths.end());
    for (const fs::path& path : paths)
        add_trace(input, path);
    if (input.traces.empty())
        input.warnings.push_back(
            fmt::format("NO TRACES: {} holds none; there is no picture of the rate", folder.string()));
}

/// What timeline.csv lacks of the iterations that every rank finished; empty if it has them, or does not
/// exist.
std::string lacking_iterations(const ReportInput& input) {
    const Json iterations = input.run.value("iterations", Json());
    const std::size_t finished = iterations.is_object() ? iterations.value("count", std::size_t{0}) : 0;
    std::map<int, std::set<std::uint32_t>> ended; // by rank
    for (const BucketSpan& span : input.timeline) {
        std::set<std::uint32_t>& of_rank = ended[span.rank];
        if (span.iteration_end_ns)
            of_rank.insert(span.iteration);
    }
    if (ended.empty() && finished > 0 && input.warnings.empty())
        return fmt::format("it has none of the {} iterations", finished);
    for (const auto& [rank, known] : ended)
        if (known.size() < finished)
            return fmt::format("it has {} of the {} iterations of rank {}", known.size(), finished, rank);
    return "";
}

ReportInput read_run(const fs::path& folder) {
    ReportInput input;
    const fs::path record = folder / "run.json";
    if (const fs::path sweep = folder / "sweep.json"; !fs::exists(record) && fs::exists(sweep)) {
        input.kind = ReportInput::Kind::sweep;
        input.run = parse_sweep_json(content_of(sweep), sweep.string());
        return input;
    }
    if (!fs::exists(record) && fs::exists(folder / "launch.json"))
        throw UserError(
            fmt::format("{}: is a launch of several jobs; name a job's folder in it", folder.string()));
    if (!fs::exists(record))
        throw UserError(fmt::format("{}: holds no run.json, so it is no run directory; name the run's "
                                    "folder, or the CSV file of a trace",
                                    folder.string()));
    input.run = parse_run_json(content_of(record), record.string());
    const fs::path timeline = folder / "timeline.csv";
    if (fs::exists(timeline))
        input.timeline = parse_timeline_csv(content_of(timeline), timeline.string());
    else
        input.warnings.push_back(
            "NO TIMELINE: timeline.csv is missing; iterations and buckets are not known");
    if (const std::string lacking = lacking_iterations(input); !lacking.empty())
        input.warnings.push_back("TIMELINE IS NOT WHOLE: " + lacking);
    if (fs::exists(folder / "tcp.csv"))
        input.tcp_path = folder / "tcp.csv";
    add_traces_of(input, folder / "nic");
    sort_by_rank(input);
    return input;
}

ReportInput read_trace(const fs::path& path) {
    if (path.extension() == ".json")
        throw UserError(
            fmt::format("{}: is JSON; name the run's folder, or the CSV file of a trace", path.string()));
    ReportInput input;
    input.kind = ReportInput::Kind::trace;
    add_trace(input, path);
    if (input.traces.empty())
        throw UserError(input.warnings.front());
    return input;
}

} // namespace

std::vector<BucketSpan> parse_timeline_csv(std::string_view text, const std::string& name) {
    std::vector<BucketSpan> spans;
    for (std::size_t number = 1; text.find('\n') != std::string_view::npos; ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(line.size() + 1);
        if (number == 1) {
            if (line != timeline_header)
                throw UserError(fmt::format("{}, line 1: must be {}", name, timeline_header));
            continue;
        }
        if (!parse_line(line, spans.emplace_back()))
            throw UserError(
                fmt::format("{}, line {}: must be 12 whole numbers, times of at most 36 years, is '{}'", name,
                            number, line));
    }
    const auto place = [](const BucketSpan& span) {
        return std::tuple(span.rank, span.iteration, span.bucket);
    };
    std::sort(spans.begin(), spans.end(),
              [&](const BucketSpan& a, const BucketSpan& b) { return place(a) < place(b); });
    const auto twice =
        std::adjacent_find(spans.begin(), spans.end(),
                           [&](const BucketSpan& a, const BucketSpan& b) { return place(a) == place(b); });
    if (twice != spans.end())
        throw UserError(fmt::format("{}: bucket {} of iteration {} of rank {} stands there twice", name,
                                    twice->bucket, twice->iteration, twice->rank));
    return spans;
}

ReportInput read_input(const fs::path& path) {
    if (!fs::exists(path))
        throw UserError(fmt::format("{}: is not there", path.string()));
    if (!fs::is_directory(path) && !fs::is_regular_file(path))
        throw UserError(fmt::format("{}: is neither a folder nor a regular file", path.string()));
    ReportInput input = fs::is_directory(path) ? read_run(path) : read_trace(path);
    input.name = path.string();
    input.path = path;
    return input;
}

} // namespace tools
