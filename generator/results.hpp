#pragma once

#include "generator/rank_report.hpp"
#include "generator/run_directory.hpp"
#include "generator/run_record.hpp"
#include "generator/switch_sampling.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace generator {

/// Puts what the ranks reported into the record: how the run ended, statistics, bytes, CPU. Quick.
void add_reports(RunRecord& record, const std::vector<std::optional<RankReport>>& reports,
                 const Workload& workload);

/// Puts what was sampled and what the fluid model expects into the record: seconds for a long run. Does not
/// throw for a trace that cannot be read: that becomes a warning.
void add_interfaces(RunRecord& record, const std::vector<std::optional<RankReport>>& reports,
                    const std::vector<SwitchPortTrace>& switch_traces, const Workload& workload,
                    const RunDirectory& directory);

/// The record of a run that something ended before its metrics were computed: complete it is not.
RunRecord without_metrics(RunRecord record, std::string_view why);

/// Writes what need not be computed: timeline.csv, tcp.csv, the traces of hosts that do not share rank 0's
/// files, and run.json as it shall stay if `publish` does not come to replace it. Returns the names of what
/// could not be written; standard error says why.
std::vector<std::string> keep(const RunRecord& record, const std::vector<std::optional<RankReport>>& reports,
                              const RunDirectory& directory);

/// Writes run.json and metrics.prom, prints the result (text, or run.json with --json) on standard output and
/// errors on standard error. `unwritten` is what `keep` returned. Returns the exit code.
int publish(RunRecord record, const RunDirectory& directory, std::vector<std::string> unwritten);

} // namespace generator
