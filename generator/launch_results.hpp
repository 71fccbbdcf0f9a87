#pragma once

#include "generator/agreement.hpp"
#include "generator/launch_record.hpp"
#include "generator/run_directory.hpp"
#include "generator/stop_request.hpp"
#include "generator/switch_sampling.hpp"

#include <future>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// Of two exit codes that of both together: a stop before a failure before what was not as expected.
int graver(int a, int b);

/// Of all jobs, without what their ranks will report.
std::vector<JobResult> job_results(const LaunchAgreement& launch);

/// What becomes of the ranks' reports on rank 0: first what matters most is kept, then what takes time is
/// computed. Should the launch be stopped meanwhile, the computation is left behind: this object must live
/// until the process ends.
class LaunchResults {
public:
    /// `directories`: of each job. All must outlive this.
    LaunchResults(const LaunchAgreement& launch, const LaunchRecord& record, RunDirectory& directory,
                  std::vector<RunDirectory>& directories, const StopRequest& stop);

    /// `texts`: of each rank of the launch, serialized; empty: no answer. Writes and prints everything;
    /// returns the launch's exit code.
    int conclude(const std::vector<std::optional<std::string>>& texts,
                 std::optional<SwitchSampling>& switch_sampling);

    const std::vector<JobResult>& results() const { return results_; }

private:
    bool several() const { return !launch_.jobs.front().record.job.empty(); }
    void take_reports(std::vector<std::optional<RankReport>> reports);
    void stop_switch_sampling(std::optional<SwitchSampling>& switch_sampling);
    void add_metrics();
    int publish_launch(int exit_code);

    const LaunchAgreement& launch_;
    const LaunchRecord& record_;
    RunDirectory& directory_;
    std::vector<RunDirectory>& directories_;
    const StopRequest& stop_;
    TraceFolder traces_;
    std::vector<SwitchPortTrace> switch_traces_;
    std::vector<JobResult> results_;
    std::future<std::vector<JobResult>> metrics_; ///< while they are computed
};

} // namespace generator
