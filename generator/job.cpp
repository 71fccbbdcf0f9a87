#include "generator/job.hpp"

#include "collectors/printable.hpp"
#include "collectors/units.hpp"
#include "generator/agreement.hpp"
#include "generator/dry_run.hpp"
#include "generator/engine.hpp"
#include "generator/nic_sampling.hpp"
#include "generator/plan_book.hpp"
#include "generator/progress.hpp"
#include "generator/rank_report.hpp"
#include "generator/results.hpp"
#include "generator/run_clocks.hpp"
#include "generator/run_directory.hpp"
#include "generator/run_record.hpp"
#include "generator/switch_sampling.hpp"

#include <asio/io_context.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <future>
#include <sstream>
#include <sys/resource.h>

namespace generator {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto start_delay = 100ms;          // from agreement to iteration 0
constexpr auto patience_after_end = 60s;     // for the results of slow hosts
constexpr auto patience_after_failure = 10s; // for ranks that have yet to notice
constexpr auto reports_after_stop = 500ms;   // for all ranks to hear of it and to answer
constexpr auto metrics_after_stop = 650ms;   // then stop_grace is nearly over

std::string read_file(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

/// User and system time of this process so far.
double cpu_seconds() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto seconds = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
    };
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

class Job {
public:
    Job(const CommandLine& command, MpiSession& session, StopRequest& stop)
        : session_(session), stop_(stop), control_(session, stop), context_(1) {
        Agreement agreement = agree(command, control_);
        if (leads() && agreement.record.profile.run.dry_run)
            collectors::print_safely("{}", agreement.record.profile.run.json ? dry_run_json(agreement)
                                                                             : dry_run_text(agreement));
        record_ = std::move(agreement.record);
        workload_ = std::move(agreement.workload);
    }

    int run() {
        if (record_.profile.run.dry_run)
            return success;
        return finish(send_traffic(prepare_traffic()));
    }

private:
    int rank() const { return control_.rank(); }
    bool leads() const { return rank() == 0; }

    /// From here on the run leaves something behind, and run.json says so even if everything is killed.
    void create_run_directory() {
        const std::string wanted = record_.profile.run.out;
        out_ = control_.broadcast(wanted.empty() ? default_run_directory() : wanted);
        record_.run_id = control_.broadcast(leads() ? random_run_id() : "");
        record_.started_at = utc_now();
        control_.together([&] {
            if (!leads())
                return;
            directory_ = RunDirectory::create(out_, record_.profile.run.overwrite);
            record_.error =
                "the run did not end (all ranks killed, machine stopped), or its results could not "
                "be written (disk full)";
            directory_->write("run.json", run_json(record_));
        });
        control_.together([&] {
            if (!leads())
                directory_ = RunDirectory::join(out_);
        });
        shares_files_ = read_file(directory_->path() / "run.json").find(record_.run_id) != std::string::npos;
    }

    /// The last chance to fail together; run.json then tells why.
    Connections prepare_traffic() {
        try {
            create_run_directory();
            Connections connections = connect();
            start_sampling();
            return connections;
        } catch (const JointFailure& failure) {
            label(failure.exit_code() == interrupted ? RunStatus::interrupted : RunStatus::failed,
                  failure.what());
            if (directory_ && leads() && record_.profile.run.json)
                collectors::print_safely("{}", run_json(record_));
            control_.agree_on_exit(failure.exit_code(), patience(patience_after_failure, stop_grace));
            throw;
        }
    }

    /// How the run ended, as far as rank 0 knows: in case that it is killed before the results are written.
    void label(RunStatus status, const std::string& error) {
        if (!leads() || !directory_)
            return;
        record_.status = status;
        record_.error = error;
        try {
            directory_->write("run.json", run_json(record_));
        } catch (const std::exception&) { // the older label stays
        }
    }

    Connections connect() {
        const auto& network = record_.profile.network;
        Endpoint& own = record_.endpoints[static_cast<std::size_t>(rank())];
        Listener listener = control_.together(
            [&] { return Listener(context_, own.address, network.ports, network.congestion_control); });
        const std::vector<std::string> ports = control_.all_gather(std::to_string(listener.port()));
        for (std::size_t i = 0; i < ports.size(); ++i)
            record_.endpoints[i].port = static_cast<std::uint16_t>(std::stoul(ports[i]));
        ConnectSettings settings;
        settings.congestion_control = network.congestion_control;
        settings.timeout = network.connect_timeout;
        settings.token = agree_on_token();
        settings.listen = [this] {
            control_.spread_stop();
            if (stop_.signal() != 0)
                throw Stopped(stop_.signal());
        };
        if (leads() && !record_.profile.run.json)
            collectors::print_safely("{}", settings_text(record_, workload_, out_));
        std::fflush(stdout);
        Connections connections = control_.together([&] {
            return connect_peers(context_, std::move(listener), rank(), record_.endpoints,
                                 needed_peers(workload_, rank(), control_.world_size()), settings);
        });
        clocks_.emplace(control_, record_.ranks, record_.endpoints, settings);
        record_.clocks = clocks_->by_rank();
        if (leads() && !clocks_->warning().empty())
            record_.warnings.push_back(clocks_->warning());
        return connections;
    }

    JobToken agree_on_token() {
        const JobToken drawn = control_.together([] { return random_token(); });
        const std::string shared =
            control_.broadcast(std::string(reinterpret_cast<const char*>(drawn.data()), drawn.size()));
        JobToken token{};
        std::transform(shared.begin(), shared.end(), token.begin(),
                       [](char c) { return static_cast<std::byte>(c); });
        return token;
    }

    void start_sampling() {
        std::vector<std::string> interfaces;
        for (const Endpoint& endpoint : record_.endpoints)
            interfaces.push_back(endpoint.interface);
        control_.together([&] {
            sampling_.emplace(rank(), record_.ranks, interfaces, directory_->path(),
                              record_.profile.sampling.interval, record_.profile.run.overwrite);
            if (const auto place = leads() ? testbed_switch() : std::nullopt)
                switch_sampling_.emplace(*place, directory_->path(), record_.profile.sampling.interval,
                                         record_.profile.run.overwrite);
        });
    }

    std::unique_ptr<Payload> payload() const {
        if (!record_.profile.run.verify)
            return discarded_payload();
        return verified_payload(rank(), control_.world_size(), workload_);
    }

    EngineSettings engine_settings(const Clock::time_point& start, Progress* progress) {
        EngineSettings settings;
        settings.rank = rank();
        settings.world_size = control_.world_size();
        settings.stop_descriptor = stop_.descriptor();
        settings.stop_signal = [this] { return stop_.signal(); };
        if (record_.profile.sampling.tcp_info)
            settings.tcp_log = &tcp_log_;
        if (progress != nullptr)
            settings.on_iteration = [progress](const IterationRecord& record) { progress->show(record); };
        const RunSettings& run = record_.profile.run;
        settings.may_start = [this, &run, &start, previous = 0ns](std::uint32_t iteration) mutable {
            if (!run.duration)
                return iteration < *run.iterations;
            const nanoseconds elapsed = Clock::now() - start;
            const nanoseconds expected_next = elapsed + (elapsed - previous);
            previous = elapsed;
            return control_.decide_iteration(iteration,
                                             (!run.iterations || iteration + 1 < *run.iterations) &&
                                                 expected_next < *run.duration);
        };
        return settings;
    }

    /// Everything between the agreement on the start and the last byte: no MPI here.
    RankReport send_traffic(Connections connections) {
        RankReport report;
        std::optional<Progress> progress;
        if (leads() && !record_.profile.run.json)
            progress.emplace(record_.profile.run.iterations, record_.profile.run.duration);
        payload_ = payload();
        Clock::time_point start;
        engine_ = std::make_unique<Engine>(context_, record_.profile, workload_, std::move(connections),
                                           record_.endpoints, *payload_,
                                           engine_settings(start, progress ? &*progress : nullptr));
        report.congestion_control = engine_->congestion_control();
        start = control_.agree_on_start(record_.clocks, start_delay);
        const double cpu_before = cpu_seconds();
        try {
            engine_->run(start, report.timeline);
        } catch (const Stopped& stopped) {
            report.status = RunStatus::interrupted;
            report.error = stopped.what();
            stop_.request(stopped.signal()); // which may have come to another rank
            label(report.status, report.error);
        } catch (const PeerLeft& left) {
            report.status = RunStatus::failed;
            report.error = left.what();
            report.lost_peer = left.peer();
        } catch (const std::exception& error) {
            report.status = RunStatus::failed;
            report.error = error.what();
        }
        report.checked_elements = engine_->checked_elements();
        if (report.status != RunStatus::complete)
            engine_.reset(); // the peers notice at once
        report.cpu_seconds = cpu_seconds() - cpu_before;
        report.traffic_seconds = collectors::in_seconds(Clock::now() - start);
        keep_traces(report);
        report.tcp_lines = tcp_lines(tcp_log_);
        report.tcp_left_out_from = tcp_log_.left_out_from;
        return report;
    }

    void keep_traces(RankReport& report) {
        NicRecording recording = sampling_->stop(report.error.empty() ? "the run ended" : report.error);
        for (const NicTrace& trace : recording.traces) {
            report.traces.push_back(recorded(trace.file, trace.cpu_share));
            if (!trace.slow_file.empty())
                report.traces.push_back(recorded(trace.slow_file, 0));
        }
        report.warnings = std::move(recording.warnings);
        if (!recording.errors.empty() && report.status == RunStatus::complete) {
            report.status = RunStatus::failed;
            report.error =
                fmt::format("the NIC's counters could not be kept: {}", fmt::join(recording.errors, "; "));
        }
    }

    RecordedTrace recorded(const std::filesystem::path& file, double cpu_share) const {
        const std::filesystem::path path = directory_->path() / file;
        return {file.string(), shares_files_ ? "" : read_file(path),
                shares_files_ ? "" : read_file(collectors::sidecar_path(path)), cpu_share};
    }

    /// For others: so long, but only so long after a stop.
    ControlPlane::Patience patience(nanoseconds limit, nanoseconds after_stop) {
        return [this, until = Clock::now() + limit, after_stop] {
            return Clock::now() < until && !stop_.requested_for(after_stop);
        };
    }

    /// Once all ranks have reported: what rank 0 left in its sockets still travels when its own run is over.
    void stop_switch_sampling(std::optional<RankReport>& own) {
        if (!switch_sampling_)
            return;
        std::vector<std::string> errors;
        switch_traces_ = switch_sampling_->stop("all ranks reported", errors);
        for (const std::string& error : errors)
            record_.warnings.push_back(fmt::format("SWITCH PORTS NOT KEPT: {}", error));
        for (const SwitchPortTrace& trace : switch_traces_)
            if (own) // its CPU is the sampler's, not the rank's
                own->traces.push_back({trace.file.string(), "", "", trace.cpu_share});
    }

    /// Computed aside: should the run be stopped meanwhile, they are left behind.
    void add_metrics() {
        metrics_ = std::async(std::launch::async, [this, record = record_]() mutable {
            add_interfaces(record, reports_, switch_traces_, workload_, *directory_);
            return record;
        });
        while (metrics_.wait_for(10ms) != std::future_status::ready)
            if (stop_.requested_for(metrics_after_stop)) {
                record_ = without_metrics(std::move(record_), Stopped(stop_.signal()).what());
                return;
            }
        record_ = metrics_.get();
    }

    /// Rank 0's part of the end: first what matters most, then what takes time.
    int conclude(const std::vector<std::optional<std::string>>& texts) {
        for (const auto& text : texts)
            reports_.push_back(text ? std::optional(parse_rank_report(*text)) : std::nullopt);
        stop_switch_sampling(reports_[0]);
        add_reports(record_, reports_, workload_);
        std::vector<std::string> unwritten = keep(record_, reports_, *directory_);
        add_metrics();
        return publish(record_, *directory_, std::move(unwritten));
    }

    /// Results to rank 0, which reports; then all leave with its exit code, nobody earlier: once a rank has
    /// left, mpirun kills the others.
    int finish(const RankReport& report) {
        const nanoseconds limit = report.status == RunStatus::complete ? nanoseconds(patience_after_end)
                                                                       : nanoseconds(patience_after_failure);
        const auto texts = control_.collect(serialize(report), patience(limit, reports_after_stop));
        if (leads()) { // all have reported or given up: nobody sends any more
            clocks_->measure_end([this] { return !stop_.requested_for(reports_after_stop); });
            record_.clocks = clocks_->by_rank();
        }
        const int exit_code = leads() ? conclude(texts) : our_failure;
        const std::optional<int> agreed = control_.agree_on_exit(exit_code, patience(limit, stop_grace));
        if (!agreed && !report.error.empty())
            collectors::print_safely(stderr, "gradburst: {}\n", report.error); // rank 0 is gone: say it here
        // MPI_Finalize might wait for a rank that is gone, or for an mpirun that is busy with stopping us.
        const bool all_answered =
            std::all_of(texts.begin(), texts.end(), [](const auto& text) { return text.has_value(); });
        if (!agreed || !all_answered || *agreed != success || stop_.signal() != 0)
            session_.abandon(agreed.value_or(our_failure));
        return *agreed;
    }

    MpiSession& session_;
    StopRequest& stop_;
    ControlPlane control_;
    asio::io_context context_;
    RunRecord record_;
    Workload workload_;
    std::string out_;
    std::optional<RunDirectory> directory_;
    bool shares_files_ = true; ///< with rank 0
    std::optional<NicSampling> sampling_;
    std::optional<SwitchSampling> switch_sampling_; ///< on rank 0 of a testbed
    std::vector<SwitchPortTrace> switch_traces_;
    std::optional<RunClocks> clocks_;
    std::unique_ptr<Payload> payload_;
    TcpLog tcp_log_;
    std::unique_ptr<Engine> engine_;
    std::vector<std::optional<RankReport>> reports_; ///< on rank 0, of all
    std::future<RunRecord> metrics_;                 ///< on rank 0, while they are computed
};

} // namespace

int run_job(const CommandLine& command, MpiSession& session, StopRequest& stop) {
    return Job(command, session, stop).run();
}

} // namespace generator
