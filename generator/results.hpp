#pragma once

#include "generator/rank_report.hpp"
#include "generator/run_record.hpp"
#include "generator/switch_sampling.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

/// What is known of one of the jobs that ran at the same time.
struct JobResult {
    RunRecord record;
    Workload workload;
    std::vector<int> members;                       ///< its ranks' numbers in the launch
    std::vector<std::optional<RankReport>> reports; ///< of these; empty: no answer
    std::vector<FlowRecord> background;             ///< of its background traffic
};

/// The traces of a launch, which its jobs have in common.
struct TraceFolder {
    std::filesystem::path path;
    std::set<std::string> files; ///< below it; those that could be kept
};

/// Puts what the ranks reported into the record: how the run ended, statistics, bytes, CPU. Quick.
void add_reports(JobResult& job);

/// Puts what was sampled and what the fluid model expects into the record: seconds for a long run. Does not
/// throw for a trace that cannot be read: that becomes a warning. The `others` may have used the same
/// interfaces.
void add_interfaces(JobResult& job, const std::vector<const JobResult*>& others,
                    const std::vector<SwitchPortTrace>& switch_traces, const TraceFolder& traces);

/// The record of a run that something ended before its metrics were computed: complete it is not.
RunRecord without_metrics(RunRecord record, std::string_view why);

/// Of each rank, in order; empty for one that did not answer.
std::vector<Timeline> timelines_of(const std::vector<std::optional<RankReport>>& reports);

} // namespace generator
