#include "generator/stop_request.hpp"

#include "generator/failure.hpp"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <sys/eventfd.h>
#include <system_error>
#include <unistd.h>
#include <vector>

namespace generator {
namespace {

using Clock = std::chrono::steady_clock;

// A signal handler can reach nothing but globals.
std::atomic<bool> held{false};
std::atomic<int> received_signal{0};
std::atomic<std::int64_t> requested_at_ns{0};
std::atomic<int> event_descriptor{-1};
timer_t grace_timer{};

std::int64_t now_ns() {
    return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

void remember(int signal) {
    std::int64_t never = 0;
    if (!requested_at_ns.compare_exchange_strong(never, now_ns()))
        return;
    received_signal = signal;
    itimerspec grace{};
    grace.it_value.tv_nsec = std::chrono::nanoseconds(stop_grace).count();
    ::timer_settime(grace_timer, 0, &grace, nullptr);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(event_descriptor.load(), &one, sizeof one);
}

void on_signal(int signal, siginfo_t* info, void*) {
    if (signal == SIGCONT && info->si_pid != ::getppid())
        return; // somebody who had stopped this process continues it
    if (!held)
        ::_exit(interrupted);
    const int saved_errno = errno;
    remember(signal);
    errno = saved_errno;
}

void on_end_of_grace(int) {
    ::_exit(interrupted);
}

std::vector<int> stop_signals() {
    std::vector<int> signals{SIGINT, SIGTERM, SIGHUP};
    if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) // under its mpirun
        signals.push_back(SIGCONT);
    return signals;
}

} // namespace

StopRequest::StopRequest() {
    held = false;
    received_signal = 0;
    requested_at_ns = 0;
    event_descriptor = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_descriptor < 0)
        throw std::system_error(errno, std::generic_category(), "create an eventfd for signals");
    sigevent event{};
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    if (::timer_create(CLOCK_MONOTONIC, &event, &grace_timer) != 0)
        throw std::system_error(errno, std::generic_category(), "create a timer for the time after a signal");
    struct sigaction end {};
    end.sa_handler = on_end_of_grace;
    struct sigaction stop {};
    stop.sa_sigaction = on_signal;
    stop.sa_flags = SA_SIGINFO | SA_RESTART;
    bool installed = ::sigaction(SIGALRM, &end, nullptr) == 0;
    for (const int signal : stop_signals())
        installed = installed && ::sigaction(signal, &stop, nullptr) == 0;
    if (!installed)
        throw std::system_error(errno, std::generic_category(), "install a signal handler");
}

StopRequest::~StopRequest() {
    for (const int signal : stop_signals())
        std::signal(signal, SIG_DFL);
    ::timer_delete(grace_timer);
    std::signal(SIGALRM, SIG_DFL);
    ::close(event_descriptor.exchange(-1));
}

void StopRequest::hold() {
    held = true;
}

void StopRequest::request(int signal) {
    remember(signal);
}

int StopRequest::descriptor() const {
    return event_descriptor;
}

int StopRequest::signal() const {
    return received_signal;
}

bool StopRequest::requested_for(std::chrono::nanoseconds time) const {
    return received_signal != 0 && now_ns() - requested_at_ns >= time.count();
}

} // namespace generator
