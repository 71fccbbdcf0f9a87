#pragma once

#include "generator/rank_report.hpp"
#include "generator/run_record.hpp"

#include <optional>
#include <vector>

/// Why the numbers of a run should not be taken as they are: each adds to the record's warnings.
namespace generator {

/// A run that something held up is not the run that was planned, though each number of it may be right.
void warn_of_disturbance(RunRecord& record);

/// A rank had no room for all that TCP_INFO told.
void warn_of_full_tcp_log(RunRecord& record, const std::vector<std::optional<RankReport>>& reports);

/// Ranks of one host talk through its kernel, whatever interface they are given.
void warn_of_idle_interfaces(RunRecord& record);

/// What was measured is far from what the model predicts.
void warn_of_deviation(RunRecord& record);

} // namespace generator
