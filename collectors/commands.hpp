#pragma once

#include "collectors/source_choice.hpp"
#include "collectors/units.hpp"

#include <chrono>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// The commands of gradburst-collect.
namespace collectors {

/// The user's mistake: exit code 2. Everything else that goes wrong is 1.
struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct RecordSettings {
    std::vector<std::string> interfaces; ///< names and patterns
    std::filesystem::path trace_path;    ///< with the interface in the name if there are several
    std::optional<SourceKind> source;    ///< chosen per interface if there is none
    SourceFolders folders;
    bool counters_wrap = false; ///< they are declared to have 32 bits
    std::chrono::nanoseconds interval{std::chrono::microseconds(500)};
    std::optional<std::chrono::nanoseconds> duration; ///< until a signal if there is none
    bool overwrite = false;
    bool fifo = false;                        ///< SCHED_FIFO
    std::optional<int> cpu;                   ///< to which the sampling thread is pinned
    std::optional<std::uint64_t> max_samples; ///< in one file
    bool rotate = false;                      ///< go on in further files
    std::optional<std::string> prometheus;    ///< ADDR:PORT where metrics are served meanwhile
    bool queue = false;                       ///< sample the interface's queue too, beside the trace
    bool slow_lane = true;                    ///< drops, errors and TCP's counters, beside the trace
    std::chrono::nanoseconds queue_interval{std::chrono::milliseconds(5)};
};

struct ReportSettings {
    std::filesystem::path trace_path;
    std::vector<std::chrono::nanoseconds> windows; ///< the standard ones if empty
    std::vector<BitRate> rates;
    std::chrono::nanoseconds from{std::chrono::nanoseconds::min()};
    std::chrono::nanoseconds to{std::chrono::nanoseconds::max()};
    bool json = false;
};

struct SumSettings {
    std::vector<std::filesystem::path> trace_paths; ///< two or more
    /// Of each trace but the first: what to add to its host's CLOCK_MONOTONIC to get that of the first one's.
    std::vector<std::chrono::nanoseconds> offsets;
    std::vector<std::chrono::nanoseconds> end_offsets; ///< the same at the end; empty: as at the start
    std::chrono::nanoseconds offset_error{0};          ///< of all these, either way
    std::vector<std::chrono::nanoseconds> windows;
    std::vector<BitRate> rates;
    bool json = false;
};

struct ExportSettings {
    std::filesystem::path trace_path;
    std::filesystem::path out;
    bool overwrite = false;
};

/// Records until the duration is over or SIGINT, SIGTERM or SIGHUP comes; prints a summary. Returns the exit
/// code.
int record_command(const RecordSettings& settings);
/// Prints what a trace says.
int report_command(const ReportSettings& settings);
/// Prints what several traces say together.
int sum_command(const SumSettings& settings);
/// Writes a trace in the format that the name of the new file asks for.
int export_command(const ExportSettings& settings);
/// Lists the interfaces of this host.
int interfaces_command();

} // namespace collectors
