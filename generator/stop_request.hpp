#pragma once

#include <chrono>

namespace generator {

/// How long a process lives after it was told to stop, whatever it does then: Ctrl-C ends all ranks within a
/// second.
inline constexpr std::chrono::milliseconds stop_grace{800};

/// SIGINT, SIGTERM and SIGHUP as a request to end the run in good order. From Open MPI's mpirun SIGCONT is
/// one too: told to end, it first sends SIGCONT to the ranks of its own host, a second later SIGTERM, and
/// SIGKILL as soon as one of them has left after that; only then it turns to the other hosts, in the same
/// way. Only one object at a time.
class StopRequest {
public:
    /// Installs the handlers; until `hold` a signal ends the process at once. Throws std::system_error.
    StopRequest();
    ~StopRequest();
    StopRequest(const StopRequest&) = delete;
    StopRequest& operator=(const StopRequest&) = delete;

    /// From now on there is something to bring to an end, for which the process has its grace.
    void hold();
    /// As if the signal had come to this process: another rank got it.
    void request(int signal);

    int descriptor() const; ///< readable once a stop was requested
    int signal() const;     ///< the first one that came, 0: none yet
    /// A stop was requested, at least that long ago.
    bool requested_for(std::chrono::nanoseconds time) const;
};

} // namespace generator
