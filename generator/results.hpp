#pragma once

#include "generator/rank_report.hpp"
#include "generator/run_directory.hpp"
#include "generator/run_record.hpp"
#include "generator/switch_sampling.hpp"

#include <optional>
#include <vector>

namespace generator {

/// Puts what the ranks reported into the record: how the run ended, statistics, bytes, CPU. Quick.
void add_reports(RunRecord& record, const std::vector<std::optional<RankReport>>& reports,
                 const Workload& workload);

/// Puts what was sampled and what the fluid model expects into the record: seconds for a long run. Traces of
/// hosts that do not share rank 0's files are written into the run directory first. Does not throw for a
/// trace that cannot be read: that becomes a warning.
void add_interfaces(RunRecord& record, const std::vector<std::optional<RankReport>>& reports,
                    const std::vector<SwitchPortTrace>& switch_traces, const Workload& workload,
                    const RunDirectory& directory);

/// Writes what is known before the metrics are computed, for mpirun may kill us meanwhile: run.json, which
/// says that they are missing, and timeline.csv. Does not throw: `publish` will meet the same error and say
/// so.
void keep_early(RunRecord record, const std::vector<std::optional<RankReport>>& reports,
                const RunDirectory& directory);

/// Writes run.json, timeline.csv and metrics.prom, prints the result (text, or run.json with --json) on
/// standard output and errors on standard error. Returns the exit code.
int publish(const RunRecord& record, const std::vector<std::optional<RankReport>>& reports,
            const RunDirectory& directory);

} // namespace generator
