#include "tools/report_input.hpp"

#include "tools/report_order.hpp"

#include "collectors/queue_lane.hpp"
#include "collectors/slow_lane.hpp"
#include "generator/failure.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

namespace tools {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using generator::UserError;

constexpr std::string_view run_format = "gradburst-run/1";
constexpr std::string_view format_name = "gradburst-run/";
constexpr std::string_view timeline_header =
    "rank,iteration,bucket,iteration_start_ns,due_ns,start_ns,end_ns,iteration_end_ns,late_ns,bucket_bytes,"
    "sent_bytes,received_bytes";

std::string content_of(const fs::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw UserError(fmt::format("{}: cannot be opened: {}", path.string(), std::strerror(errno)));
    return {std::istreambuf_iterator<char>(file), {}};
}

void require_format(const Json& run, const fs::path& path) {
    const auto format = run.is_object() ? run.find("format") : run.end();
    if (!run.is_object() || format == run.end() || !format->is_string())
        throw UserError(fmt::format("{}: /format: is missing; this is no run.json", path.string()));
    const std::string text = format->get<std::string>();
    if (text == run_format)
        return;
    if (!text.starts_with(format_name))
        throw UserError(fmt::format("{}: /format: is \"{}\", not \"{}\"", path.string(), text, run_format));
    int version = 0;
    const char* const digits = text.data() + format_name.size();
    const auto [end, error] = std::from_chars(digits, text.data() + text.size(), version);
    const bool newer = error == std::errc{} && end == text.data() + text.size() && version > 1;
    throw UserError(
        fmt::format("{}: /format: is \"{}\", and this gradburst-report ({}) reads \"{}\" alone; {}",
                    path.string(), text, GRADBURST_VERSION, run_format,
                    newer ? "use the gradburst-report of the version that made this run, or a later one"
                          : "use the gradburst-report of the version that made this run, or repeat the run"));
}

Json read_run_json(const fs::path& path) {
    Json run;
    try {
        run = Json::parse(content_of(path));
    } catch (const Json::parse_error& error) { // says line and column
        throw UserError(fmt::format("{}: is no JSON: {}", path.string(), error.what()));
    }
    require_format(run, path);
    return run;
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

bool parse(std::string_view field, std::optional<std::int64_t>& value) {
    return field.empty() || parse(field, value.emplace());
}

bool parse_line(std::string_view line, BucketSpan& span) {
    const auto next = [&](auto& value) { return parse(take_field(line), value); };
    return next(span.rank) && next(span.iteration) && next(span.bucket) && next(span.iteration_start_ns) &&
           next(span.due_ns) && next(span.start_ns) && next(span.end_ns) && next(span.iteration_end_ns) &&
           next(span.late_ns) && next(span.bucket_bytes) && next(span.sent_bytes) &&
           next(span.received_bytes) && line.empty();
}

/// Time 0 of the run on the clock of a host: of the rank that uses the interface, of any rank of the host,
/// and of a switch, which is on the host of rank 0, that of rank 0.
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
            const bool same_host =
                is_switch_port ? rank.value("rank", -1) == 0 : each.value("host", "") == host;
            if (same_host && rank.value("interface", "") == interface)
                return start.get<std::int64_t>();
            if (same_host && !of_host)
                of_host = start.get<std::int64_t>();
        }
    return of_host;
}

bool is_part(const fs::path& path) {
    return path.extension() != ".csv" && path.extension() != ".bin"; // trace.csv.1 is read with trace.csv
}

bool ends_with(const fs::path& path, std::string_view end) {
    return path.filename().string().ends_with(end);
}

std::int64_t lane_start(const fs::path& path) {
    fs::path sidecar = path;
    return Json::parse(content_of(sidecar.replace_extension(".json"))).at("start_monotonic_ns");
}

/// Beside which trace a lane stands tells whose it is.
void add_lane(ReportInput& input, const TraceSource& trace, const fs::path& path, LaneSource::Kind kind) {
    if (!fs::exists(path))
        return;
    try {
        const std::int64_t shift = lane_start(path) - trace.info.start_monotonic_ns;
        input.lanes.push_back({path, trace.info.host, trace.info.interface, kind, trace.offset_ns + shift,
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

ReportInput read_run(const fs::path& folder) {
    ReportInput input;
    const fs::path record = folder / "run.json";
    if (!fs::exists(record))
        throw UserError(fmt::format("{}: holds no run.json, so it is no run directory; name the run's "
                                    "folder, or the CSV file of a trace",
                                    folder.string()));
    input.run = read_run_json(record);
    const fs::path timeline = folder / "timeline.csv";
    if (fs::exists(timeline))
        input.timeline = parse_timeline_csv(content_of(timeline), timeline.string());
    else
        input.warnings.push_back(
            "NO TIMELINE: timeline.csv is missing; iterations and buckets are not known");
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
                fmt::format("{}, line {}: must be 12 whole numbers, is '{}'", name, number, line));
    }
    const auto place = [](const BucketSpan& span) {
        return std::tuple(span.rank, span.iteration, span.bucket);
    };
    std::sort(spans.begin(), spans.end(),
              [&](const BucketSpan& a, const BucketSpan& b) { return place(a) < place(b); });
    return spans;
}

ReportInput read_input(const fs::path& path) {
    if (!fs::exists(path))
        throw UserError(fmt::format("{}: is not there", path.string()));
    ReportInput input = fs::is_directory(path) ? read_run(path) : read_trace(path);
    input.name = path.string();
    input.path = path;
    return input;
}

} // namespace tools
