#pragma once

#include "generator/timeline.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace generator {

/// What rank 0 shows on standard error while traffic flows: one line that renews itself on a terminal, else a
/// plain line every few seconds. Called in the compute gaps only.
class Progress {
public:
    /// `job`: its name, where several show theirs; each then prints plain lines.
    Progress(const std::string& job, std::optional<std::uint32_t> iterations,
             std::optional<std::chrono::nanoseconds> duration);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(const IterationRecord& record);

private:
    std::string job_;
    bool terminal_;
    std::optional<std::uint32_t> iterations_;
    std::optional<std::chrono::nanoseconds> duration_;
    std::chrono::steady_clock::time_point next_;
    bool line_open_ = false;
};

/// True when standard error, and what mpirun makes of it, is a terminal: Open MPI hands ranks a terminal of
/// its own, so its parent's descriptor decides.
bool shown_on_terminal();

} // namespace generator
