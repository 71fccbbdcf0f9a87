#pragma once

#include "generator/profile.hpp"

#include <string>
#include <vector>

namespace generator {

/// What was typed.
struct CommandLine {
    enum class Action { run, list_profiles, show_text };

    Action action = Action::run;
    std::string text;                ///< show_text: help or version
    std::string profile;             ///< name or path
    std::string jobs;                ///< path of a jobs file, which then names the profiles
    std::string sweep;               ///< offsets of one of the jobs, as typed; empty: one launch
    std::string start_at;            ///< as typed; empty: as soon as all are ready
    std::vector<Override> overrides; ///< options that set a profile field
    std::string whole;               ///< as typed, for run.json
};

/// Throws UserError.
CommandLine parse_command_line(int argument_count, const char* const* arguments);

} // namespace generator
