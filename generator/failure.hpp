#pragma once

#include <stdexcept>
#include <string>

namespace generator {

/// What the user can put right: a wrong profile, option, interface or folder. Exit code 2.
class UserError : public std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Exit codes of all programs.
enum ExitCode : int {
    success = 0,
    our_failure = 1, ///< ours or the world's: a peer died, a disk is full
    user_mistake = 2,
    interrupted = 130, ///< ended by a signal; what was measured is kept
};

} // namespace generator
