#pragma once

#include "collectors/lane.hpp"
#include "collectors/recording.hpp"

#include <filesystem>
#include <string>

/// What `record` prints at its end.
namespace collectors {

/// Reads the trace again: what was recorded, how well, and what comes next. Warnings go to stderr.
void print_trace_summary(const std::filesystem::path& trace_path, const SourceReport& report,
                         const std::string& reason);

/// The queue's file of a trace.
void print_queue_summary(const std::filesystem::path& trace_path, const LaneFileReport& report);

} // namespace collectors
