#pragma once

#include <stdexcept>
#include <string>

namespace generator {

/// What the user can put right: a wrong profile, option, interface or folder. Exit code 2.
class UserError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// The run was asked to stop, on this rank or another: "stopped by signal 15 (Terminated)".
class Stopped : public std::runtime_error {
public:
    explicit Stopped(int signal);
    int signal() const { return signal_; }

private:
    int signal_;
};

/// A peer closed its connection without a word: it has failed, or died. Whatever it knows itself tells more.
class PeerLeft : public std::runtime_error {
public:
    PeerLeft(int peer, const std::string& message) : std::runtime_error(message), peer_(peer) {}
    int peer() const { return peer_; }

private:
    int peer_;
};

/// Exit codes of all programs.
enum ExitCode : int {
    success = 0,
    our_failure = 1, ///< ours or the world's: a peer died, a disk is full
    user_mistake = 2,
    not_as_expected = 3, ///< an expectation was not met, or could not be judged
    interrupted = 130,   ///< ended by a signal; what was measured is kept
};

} // namespace generator
