#pragma once

#include "collectors/trace.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

/// Trace files: a CSV with the header `t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags` and nothing
/// else, so that pandas, DuckDB and gnuplot read it as it is, and beside it `<name>.json`, the sidecar that
/// explains it.
namespace collectors {

/// trace.csv -> trace.json
std::filesystem::path sidecar_path(const std::filesystem::path& trace_path);

/// Writes a trace while it is recorded. What was appended stays readable whatever happens next. Errors are
/// std::system_error that names the file.
class TraceWriter {
public:
    /// Creates the file with its header; refuses to replace an existing one unless `overwrite`.
    explicit TraceWriter(std::filesystem::path path, bool overwrite = false);
    ~TraceWriter();
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    /// Writes the sidecar with `complete` false; to be called once the start of the trace is known.
    void begin(const TraceInfo& info);
    void append(std::span<const Sample> samples);
    /// Rewrites the sidecar with `complete` true and closes the trace.
    void finish(std::string reason, std::uint64_t missed, std::uint64_t failed, SamplerFacts sampler = {});

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    int descriptor_ = -1;
    TraceInfo info_;
};

/// Reads a trace and its sidecar. A last line without line end is ignored (its writer was killed); any other
/// malformed line is a std::runtime_error that names file and line. Without a sidecar `info.reason` says so.
Trace read_trace(const std::filesystem::path& path);

/// Writes a finished trace with its sidecar, in place of an older one.
void write_trace(const std::filesystem::path& path, const Trace& trace);

} // namespace collectors
