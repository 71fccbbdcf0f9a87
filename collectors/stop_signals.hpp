#pragma once

#include <algorithm>
#include <cstdint>

#include <pthread.h>
#include <signal.h>
#include <time.h>

namespace collectors {

/// Holds back the signals that end a recording, so that they are waited for and never interrupt. After
/// `release` the next one ends the program at once.
class StopSignals {
public:
    StopSignals() {
        ::sigemptyset(&signals_);
        for (const int signal : {SIGINT, SIGTERM, SIGHUP})
            ::sigaddset(&signals_, signal);
        ::pthread_sigmask(SIG_BLOCK, &signals_, &before_);
        // A shell script starts background programs with SIGINT ignored; `kill -INT` must end them all the
        // same. SIGHUP stays as it is, for nohup.
        ::signal(SIGINT, SIG_DFL);
    }
    ~StopSignals() { release(); }
    StopSignals(const StopSignals&) = delete;
    StopSignals& operator=(const StopSignals&) = delete;

    /// The number of the signal that came, 0 after `timeout_ns`.
    int wait(std::int64_t timeout_ns) const {
        const timespec timeout{timeout_ns / 1'000'000'000, timeout_ns % 1'000'000'000};
        return std::max(0, ::sigtimedwait(&signals_, nullptr, &timeout));
    }

    void release() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
    sigset_t signals_{};
    sigset_t before_{};
};

} // namespace collectors
