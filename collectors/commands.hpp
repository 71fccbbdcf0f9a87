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
    std::chrono::nanoseconds interval{std::chrono::microseconds(500)};
    std::optional<std::chrono::nanoseconds> duration; ///< until a signal if there is none
    bool overwrite = false;
    bool queue = false; ///< sample the interface's queue too, beside the trace
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

/// Records until the duration is over or SIGINT, SIGTERM or SIGHUP comes; prints a summary. Returns the exit
/// code.
int record_command(const RecordSettings& settings);
/// Prints what a trace says.
int report_command(const ReportSettings& settings);
/// Lists the interfaces of this host.
int interfaces_command();

} // namespace collectors
