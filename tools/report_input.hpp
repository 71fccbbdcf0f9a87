#pragma once

#include "collectors/trace_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// What gradburst-report reads: run directories, and traces of gradburst-collect. Traces stay on disk until
/// somebody asks for their samples.
namespace tools {

/// One line of timeline.csv. Times are ns since the start of the run, on which all ranks agreed; those of an
/// iteration that did not end are absent.
struct BucketSpan {
    int rank = 0;
    std::uint32_t iteration = 0;
    std::uint32_t bucket = 0;
    std::optional<std::int64_t> iteration_start_ns;
    std::optional<std::int64_t> due_ns;
    std::optional<std::int64_t> start_ns;
    std::optional<std::int64_t> end_ns;
    std::optional<std::int64_t> iteration_end_ns;
    std::int64_t late_ns = 0;
    std::uint64_t bucket_bytes = 0;
    std::uint64_t sent_bytes = 0;
    std::uint64_t received_bytes = 0;

    bool operator==(const BucketSpan&) const = default;
};

/// A trace that is not yet read: `collectors::blocks_of(path)` does.
struct TraceSource {
    std::filesystem::path path;
    collectors::TraceInfo info;
    std::int64_t offset_ns = 0;  ///< add to t_ns: time since the start of the run
    bool is_switch_port = false; ///< its tx leads to a host, after the port's queue
};

/// A file of the slow lane (drops, retransmits), or of the queue in front of an interface or a switch port.
struct LaneSource {
    enum class Kind { slow, queue };

    std::filesystem::path path;
    std::string host;
    std::string interface;
    Kind kind = Kind::slow;
    std::int64_t offset_ns = 0;  ///< as of a trace
    std::int64_t step_ns = 0;    ///< how far apart its rows are; 0: as usual
    bool is_switch_port = false; ///< as of the trace beside it
};

/// What one argument names: a run directory, a bare trace, or the directory of a sweep.
struct ReportInput {
    enum class Kind { run, trace, sweep };

    std::string name; ///< as given
    std::filesystem::path path;
    Kind kind = Kind::run;
    nlohmann::ordered_json run;        ///< run.json as it is, of a sweep sweep.json; null for a trace
    std::vector<BucketSpan> timeline;  ///< by rank, iteration, bucket
    std::vector<TraceSource> traces;   ///< by lowest rank, then by name
    std::vector<LaneSource> lanes;     ///< as the traces
    std::filesystem::path tcp_path;    ///< tcp.csv; empty if there is none
    std::vector<std::string> warnings; ///< in CAPITALS what was missing or unreadable
};

/// Throws generator::UserError that names file and place: nothing there, no run, damaged, of another format.
ReportInput read_input(const std::filesystem::path& path);

/// The lines of a timeline.csv, sorted. A last line without its end is ignored: the disk was full. Throws
/// generator::UserError that names the line; `name` is the file's.
std::vector<BucketSpan> parse_timeline_csv(std::string_view text, const std::string& name);

} // namespace tools
