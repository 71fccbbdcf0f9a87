#pragma once

#include "collectors/binary_record.hpp"
#include "collectors/trace.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Trace files. A name that ends with `.bin` means 32-byte binary records (binary_record.hpp); any other a
/// CSV with the header `t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags` and nothing else, so that
/// pandas, DuckDB and gnuplot read it as it is. Beside it stands `<name>.json`, the sidecar that explains it.
/// A long trace may go on in further files: trace.csv, trace.csv.1, trace.csv.2 ... with one sidecar,
/// trace.json; readers of trace.csv read all of them.
namespace collectors {

/// trace.csv -> trace.json
std::filesystem::path sidecar_path(const std::filesystem::path& trace_path);
/// trace.csv, 2 -> trace.csv.2; part 0 is the trace itself. No interface's name ends like that.
std::filesystem::path part_path(const std::filesystem::path& trace_path, std::size_t part);
/// True if the name says that the trace, or its further file, is binary.
bool is_binary(const std::filesystem::path& trace_path);

struct TraceFileOptions {
    bool overwrite = false;                   ///< replace an existing trace, with all its parts
    std::optional<std::uint64_t> max_samples; ///< in one file
    bool keep_sidecar = false; ///< the sidecar that is there explains this trace too (an export)
    bool rotate = false;       ///< go on in the next file after that many; otherwise the trace is full
};

/// What is known of a trace once it has ended; see TraceInfo.
struct TraceEnd {
    std::string reason;
    std::uint64_t missed = 0;
    std::uint64_t failed = 0;
    std::optional<std::chrono::nanoseconds> lost_from = {};
    SamplerFacts sampler = {};
    ClockFacts clocks = {};
};

/// Writes a trace while it is recorded. What was appended stays readable whatever happens next. A trace has
/// one writer: it is locked until its writer ends, and nobody else replaces it before, with or without
/// `overwrite`; reading it meanwhile is free. Errors are std::system_error that names the file.
class TraceWriter {
public:
    /// Creates the file, a CSV with its header; refuses to replace an existing one unless told to.
    explicit TraceWriter(std::filesystem::path path, const TraceFileOptions& options = {});
    ~TraceWriter();
    TraceWriter(const TraceWriter&) = delete;
    TraceWriter& operator=(const TraceWriter&) = delete;

    /// Writes the sidecar with `complete` false; to be called once the start of the trace is known.
    void begin(const TraceInfo& info);
    /// What does not fit into a full trace is left out.
    void append(std::span<const Sample> samples);
    /// Rewrites the sidecar: the interface has another name from now on.
    void rename(Renaming renaming);
    /// Rewrites the sidecar with `complete` true and closes the trace.
    void finish(TraceEnd end);

    /// Rewrites the sidecar of a trace that ends here for that reason, not complete.
    void give_up(std::string reason);

    /// True once `max_samples` are written and the trace may not go on in another file.
    bool full() const { return room() == 0 && !options_.rotate; }
    std::uint64_t written() const { return written_; } ///< samples in all files
    const std::filesystem::path& path() const { return path_; }

private:
    std::uint64_t room() const;
    void open_part();
    void close_part();
    void lock();
    void close_all() noexcept;
    void write(std::span<const Sample> samples);

    std::filesystem::path path_;
    TraceFileOptions options_;
    std::size_t part_ = 0;
    std::uint64_t in_part_ = 0; ///< samples
    std::uint64_t written_ = 0;
    int descriptor_ = -1;
    int lock_ = -1; ///< on the first file, also while a further one is written
    BinaryEncoder encoder_;
    std::vector<char> block_;
    TraceInfo info_;
};

/// Calls `block` with the samples of a trace in order, some thousand at a time: memory does not grow with the
/// file. A last line or record that is not whole is ignored (its writer was killed); any other malformed
/// line, or a sample that begins before the one above it ended, is a std::runtime_error that names file and
/// place.
void for_each_block(const std::filesystem::path& path,
                    const std::function<void(std::span<const Sample>)>& block);

/// The same as a function that can be called again and again, see SampleBlocks.
inline auto blocks_of(const std::filesystem::path& path) {
    return [path](const std::function<void(std::span<const Sample>)>& block) { for_each_block(path, block); };
}

/// The sidecar of a trace. Without one `reason` says so.
TraceInfo read_trace_info(const std::filesystem::path& path);

/// The whole trace in memory: 48 bytes for each sample.
Trace read_trace(const std::filesystem::path& path);

/// Writes a finished trace with its sidecar, in place of an older one.
void write_trace(const std::filesystem::path& path, const Trace& trace);

} // namespace collectors
