#pragma once

#include "tools/report_input.hpp"
#include "tools/superposition.hpp"

#include "collectors/trace.hpp"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

/// Traces as jobs that repeat for ever.
namespace tools {

struct JobTraceSettings {
    collectors::Direction direction = collectors::Direction::tx;
    std::optional<std::chrono::nanoseconds> period; ///< none: the run's timeline tells it, or autocorrelation
    std::optional<std::chrono::nanoseconds> cell;   ///< none: the longest interval of the traces
};

/// Which trace an argument of gradburst-report means: a trace, also one in a run directory's nic/; of a run
/// directory the interface of its lowest rank.
struct ChosenTrace {
    ReportInput input;
    TraceSource trace;
    std::size_t others = 0; ///< interfaces of the run that it does not mean
};

/// Throws generator::UserError: nothing there, no trace in it.
ChosenTrace choose_trace(const std::filesystem::path& path);

/// The cell that suits all of them: the longest interval between readings; of predictions, which have none,
/// 100 us. Throws generator::UserError if a trace has fewer than two readings.
std::chrono::nanoseconds common_cell(std::span<const ChosenTrace> traces);

/// What one job does for ever, and how it is known.
struct JobTrace {
    CyclicTraffic traffic;
    std::chrono::nanoseconds from{0};   ///< of the trace, what is repeated
    std::chrono::nanoseconds period{0}; ///< of one iteration
    std::size_t periods = 0;            ///< in what is repeated
    std::string period_source;          ///< "timeline", "autocorrelation 0.98", "--period", "none found"
    double sending_bits_per_second = 0; ///< half of the bytes went at this rate or faster
    double peak_bits_per_second = 0;    ///< over the smallest window that is resolved
    std::chrono::nanoseconds resolved_from{0};
    std::vector<std::string> warnings; ///< in CAPITALS
};

/// Reads the trace block by block, twice. Bytes between two readings are spread evenly over the cells between
/// their midpoints. What is repeated: a run's measured iterations; else as many whole periods as fit, from
/// the first reading on. Bursts are stretches above half of the sending rate. Throws generator::UserError: no
/// traffic, shorter than a period, too many cells.
JobTrace job_trace(const ChosenTrace& chosen, const JobTraceSettings& settings,
                   std::chrono::nanoseconds cell);

} // namespace tools
