#pragma once

#include "generator/agreement.hpp"
#include "generator/engine.hpp"
#include "generator/launch_links.hpp"
#include "generator/launch_record.hpp"
#include "generator/launch_results.hpp"
#include "generator/nic_sampling.hpp"
#include "generator/progress.hpp"
#include "generator/run_directory.hpp"
#include "generator/switch_sampling.hpp"

#include <asio/io_context.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace generator {

/// One stretch of traffic, with a directory of its own: a launch has one, or is a sweep of several, in some
/// of which not all jobs take part.
class LaunchStep {
public:
    /// On rank 0: after a step that was complete on all ranks and has this exit code, the launch ends with
    /// the one returned; nullopt: another step follows.
    using Conclusion = std::function<std::optional<int>(int exit_code)>;

    /// `jobs`: those that take part, by their numbers in the launch.
    LaunchStep(LaunchLinks& links, const LaunchAgreement& launch, std::vector<std::size_t> jobs,
               LaunchRecord record);

    /// From here on the step leaves something behind, and run.json says so even if everything is killed.
    /// `out`: a folder; empty: one of today. All ranks call it.
    void create_directory(const std::string& out, bool overwrite);

    /// Of a job in this launch, on rank 0.
    const RunDirectory& directory_of(std::size_t job) const { return directories_.at(job); }
    const RunDirectory& directory() const { return *directory_; }

    /// From the start of sampling to the results. `offsets`, `limits`: of each job, see LaunchRecord. Returns
    /// the launch's exit code, or nullopt when another step follows; does not return where MPI_Finalize might
    /// not either.
    std::optional<int> run(std::vector<nanoseconds> offsets, std::vector<std::optional<nanoseconds>> limits,
                           const Conclusion& conclude);

    /// All ranks have failed together, before the traffic: run.json tells why.
    void fail_together(const JointFailure& failure);

    /// Warnings, ports and clocks that came up since.
    void take(const LaunchAgreement& launch);

    const LaunchRecord& record() const { return record_; }
    /// On rank 0, after the traffic.
    const std::vector<JobResult>& results() const { return results_->results(); }

private:
    using Clock = std::chrono::steady_clock;

    bool leads() const { return links_.leads(); }
    bool several() const { return !launch_.jobs.front().record.job.empty(); }
    bool takes_part() const { return launch_.own_job.has_value(); }
    const RunSettings& settings() const { return launch_.settings(); }
    Agreement& own() { return launch_.jobs[*launch_.own_job]; }
    const Profile& profile() { return own().record.profile; }
    int job_rank() const { return links_.job_control->rank(); }

    void stamp();
    void label(RunStatus status, const std::string& error);
    void write_labels();
    void note_clocks();
    void start_sampling();
    std::unique_ptr<Payload> payload();
    EngineSettings engine_settings(const Clock::time_point& start, Progress* progress);
    Clock::time_point agree_on_start();
    RankReport send_traffic();
    BackgroundReport end_background(bool complete);
    void run_engine(Clock::time_point start, RankReport& report);
    RankReport stand_by();
    void wait_for_other_jobs(bool complete);
    void note_start(Clock::time_point start);
    void keep_traces(RankReport& report);
    RecordedTrace recorded(const std::filesystem::path& file, double cpu_share) const;
    ControlPlane::Patience patience(nanoseconds limit, nanoseconds after_stop);
    std::optional<int> finish(const RankReport& report, const Conclusion& conclude);

    LaunchLinks& links_;
    std::vector<std::size_t> jobs_;
    std::vector<std::vector<int>> all_members_; ///< of all jobs of the launch
    LaunchAgreement launch_;                    ///< of the jobs that take part
    LaunchRecord record_;
    std::optional<RunDirectory> directory_;
    std::vector<RunDirectory> directories_; ///< on rank 0, of each job
    bool shares_files_ = true;              ///< with rank 0
    asio::io_context context_;
    std::optional<NicSampling> sampling_;
    std::optional<SwitchSampling> switch_sampling_; ///< on rank 0 of a testbed
    std::unique_ptr<Payload> payload_;
    TcpLog tcp_log_;
    std::unique_ptr<Engine> engine_;
    std::set<int> gone_;                   ///< on rank 0: ranks that will not report
    std::optional<LaunchResults> results_; ///< on rank 0
};

} // namespace generator
