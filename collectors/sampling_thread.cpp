#include "collectors/sampling_thread.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <system_error>

#include <sched.h>

#include <fmt/format.h>

namespace collectors {

namespace {

/// Above all ordinary threads, below what the kernel itself runs (50).
constexpr int fifo_priority = 10;

} // namespace

std::vector<int> allowed_cpus() {
    std::vector<int> cpus;
    cpu_set_t allowed;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0)
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
            if (CPU_ISSET(static_cast<std::size_t>(cpu), &allowed))
                cpus.push_back(cpu);
    return cpus;
}

std::string prepare_sampling_thread(bool fifo, std::optional<int> cpu) {
    if (cpu) {
        cpu_set_t only;
        CPU_ZERO(&only);
        CPU_SET(static_cast<std::size_t>(*cpu), &only);
        if (::sched_setaffinity(0, sizeof only, &only) != 0)
            throw std::system_error(errno, std::generic_category(),
                                    fmt::format("pin the sampling thread to CPU {}", *cpu));
    }
    if (!fifo)
        return "SCHED_OTHER";
    sched_param parameter{};
    parameter.sched_priority = fifo_priority;
    if (::sched_setscheduler(0, SCHED_FIFO, &parameter) == 0)
        return fmt::format("SCHED_FIFO {}", fifo_priority);
    return fmt::format("SCHED_OTHER (SCHED_FIFO was refused: {})", std::strerror(errno));
}

} // namespace collectors
