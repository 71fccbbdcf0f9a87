#include "generator/failure.hpp"

#include <csignal>
#include <cstring>
#include <fmt/format.h>

namespace generator {
namespace {

std::string stop_text(int signal) {
    if (signal == SIGCONT) // see StopRequest
        return "stopped by mpirun (Ctrl-C, or another signal to it; announced by signal 18)";
    return fmt::format("stopped by signal {} ({})", signal, strsignal(signal));
}

} // namespace

Stopped::Stopped(int signal) : std::runtime_error(stop_text(signal)), signal_(signal) {}

} // namespace generator
