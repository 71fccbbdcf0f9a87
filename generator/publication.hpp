#pragma once

#include "generator/failure.hpp"
#include "generator/results.hpp"
#include "generator/run_directory.hpp"

#include <optional>
#include <string>
#include <vector>

/// What a run leaves behind and says, once its results are there: files, text, exit code.
namespace generator {

/// Writes the traces of hosts that do not share rank 0's files. Returns the names of what could not be
/// written; standard error says why.
std::vector<std::string> keep_remote_traces(const std::vector<std::optional<RankReport>>& reports,
                                            RunDirectory& directory);

/// Writes what need not be computed: timeline.csv, tcp.csv, background.csv, and run.json as it shall stay if
/// `publish` does not come to replace it. Returns what could not be written, too.
std::vector<std::string> keep(const JobResult& job, RunDirectory& directory);

/// How a job ended, with the verdict on it.
struct Published {
    RunRecord record;
    int exit_code = success;
};

/// Writes metrics.prom and run.json (a run that lacks another file has failed there), prints the result
/// (text, or run.json with --json) on standard output and errors on standard error, with the job's name in
/// front; `quiet`: errors alone. `unwritten` is what could not be kept.
Published publish(RunRecord record, RunDirectory& directory, std::vector<std::string> unwritten,
                  bool quiet = false);

} // namespace generator
