#include "generator/stop_request.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>

namespace generator {
namespace {

// A signal handler can reach nothing but globals.
std::atomic<int> received_signal{0};
std::atomic<int> event_descriptor{-1};

constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};

void on_signal(int signal) {
    const int saved_errno = errno;
    int none = 0;
    received_signal.compare_exchange_strong(none, signal);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(event_descriptor.load(), &one, sizeof one);
    errno = saved_errno;
}

} // namespace

StopRequest::StopRequest() {
    event_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_descriptor < 0)
        throw std::system_error(errno, std::generic_category(), "create an eventfd for signals");
    received_signal = 0;
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (const int signal : signals)
        if (sigaction(signal, &action, nullptr) != 0)
            throw std::system_error(errno, std::generic_category(), "install a signal handler");
}

StopRequest::~StopRequest() {
    for (const int signal : signals)
        std::signal(signal, SIG_DFL);
    ::close(event_descriptor.exchange(-1));
}

int StopRequest::descriptor() const {
    return event_descriptor;
}

int StopRequest::signal() const {
    return received_signal;
}

} // namespace generator
