#pragma once

#include <optional>
#include <string>
#include <vector>

namespace collectors {

/// The CPUs on which this process may run.
std::vector<int> allowed_cpus();

/// Prepares the calling thread for sampling: pins it to `cpu` and asks for SCHED_FIFO if `fifo`. Returns the
/// scheduling policy that it got: without the right to SCHED_FIFO it stays an ordinary thread, and the text
/// says so. Throws std::system_error if it cannot be pinned.
std::string prepare_sampling_thread(bool fifo, std::optional<int> cpu);

} // namespace collectors
