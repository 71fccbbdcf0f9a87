#include "generator/job.hpp"

#include "collectors/printable.hpp"
#include "collectors/units.hpp"
#include "generator/agreement.hpp"
#include "generator/background_traffic.hpp"
#include "generator/dry_run.hpp"
#include "generator/engine.hpp"
#include "generator/launch_record.hpp"
#include "generator/launch_results.hpp"
#include "generator/lifelines.hpp"
#include "generator/nic_sampling.hpp"
#include "generator/plan_book.hpp"
#include "generator/progress.hpp"
#include "generator/rank_report.hpp"
#include "generator/results.hpp"
#include "generator/run_clocks.hpp"
#include "generator/run_directory.hpp"
#include "generator/run_record.hpp"
#include "generator/start_offsets.hpp"
#include "generator/switch_sampling.hpp"

#include <asio/io_context.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <set>
#include <sstream>
#include <sys/resource.h>
#include <thread>

namespace generator {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto start_delay = 100ms;          // from agreement to iteration 0
constexpr auto ready_before_start = 1500ms;  // of --start-at: sampling begins, clocks are compared
constexpr auto patience_after_end = 60s;     // for the results of slow hosts
constexpr auto patience_after_failure = 10s; // for ranks that have yet to notice
constexpr auto reports_after_stop = 500ms;   // for all ranks to hear of it and to answer
constexpr auto background_patience = 5s;     // for its last bytes, and for peers whose iterations end later
constexpr auto others_after_stop = 200ms;    // for the ranks of other jobs to hear of it

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

/// A launch of one job or several: each rank belongs to one. What jobs have in common is here too: rank 0
/// keeps the results of all, and a host's interfaces are sampled once.
class Launch {
public:
    Launch(const CommandLine& command, MpiSession& session, StopRequest& stop)
        : session_(session), stop_(stop), control_(session, stop), context_(1),
          lifelines_(control_.rank(), stop) {
        if (!command.start_at.empty())
            record_.start_at = control_.together([&] { return start_at(command.start_at); });
        launch_ = agree(command, control_);
        record_.command = command.whole;
        if (leads() && settings().dry_run)
            print_dry_run();
        job_control_.emplace(control_.part(static_cast<int>(launch_.own_job), place_of(control_.rank())));
    }

    int run() {
        if (settings().dry_run)
            return success;
        try {
            return finish(send_traffic(prepare_traffic()));
        } catch (const JointFailure& failure) {
            fail_together(failure);
            throw;
        }
    }

private:
    /// Of the launch: rank 0.
    bool leads() const { return control_.rank() == 0; }
    bool several() const { return !launch_.jobs.front().record.job.empty(); }
    const RunSettings& settings() const { return launch_.settings(); }
    Agreement& own() { return launch_.jobs[launch_.own_job]; }
    const Profile& profile() { return own().record.profile; }
    int job_rank() const { return job_control_->rank(); }
    /// Of a rank of the launch in this rank's job.
    int place_of(int rank) {
        const std::vector<int>& members = own().members;
        return static_cast<int>(std::find(members.begin(), members.end(), rank) - members.begin());
    }

    /// Only rank 0's clock counts.
    StartAt start_at(const std::string& text) const {
        StartAt start{parse_wall_time(text), leads() ? clock_discipline() : "", {}, {}};
        if (leads())
            time_ahead_text(start.time, std::chrono::system_clock::now());
        return start;
    }

    void print_dry_run() {
        std::vector<std::string> documents;
        for (const Agreement& job : launch_.jobs)
            if (settings().json)
                documents.push_back(dry_run_json(job));
            else
                collectors::print_safely("{}", in_front(job.record.job, dry_run_text(job)));
        if (settings().json)
            collectors::print_safely("{}", several() ? fmt::format("[{}]\n", fmt::join(documents, ",\n"))
                                                     : documents[0]);
    }

    /// From here on the run leaves something behind, and run.json says so even if everything is killed.
    void create_run_directory() {
        const std::string wanted = settings().out;
        out_ = control_.broadcast(wanted.empty() ? default_run_directory() : wanted);
        record_.id = control_.broadcast(leads() ? random_run_id() : "");
        record_.started_at = utc_now();
        for (Agreement& job : launch_.jobs) {
            job.record.run_id = record_.id;
            job.record.started_at = record_.started_at;
        }
        control_.together([&] {
            if (!leads())
                return;
            directory_ = RunDirectory::create(out_, settings().overwrite);
            if (several())
                directory_->write("jobs.json", launch_.jobs_text);
            for (Agreement& job : launch_.jobs) {
                directories_.push_back(several() ? directory_->of_job(job.record.job) : *directory_);
                job.record.error =
                    "the run did not end (all ranks killed, machine stopped), or its results could not "
                    "be written (disk full)";
            }
            write_labels();
        });
        control_.together([&] {
            if (!leads())
                directory_ = RunDirectory::join(out_);
        });
        const char* const marked = several() ? "launch.json" : "run.json";
        shares_files_ = read_file(directory_->path() / marked).find(record_.id) != std::string::npos;
    }

    Connections prepare_traffic() {
        create_run_directory();
        Connections connections = connect();
        agree_on_offsets();
        wait_for_start_at();
        start_sampling();
        return connections;
    }

    /// All ranks have failed together, before the traffic: run.json tells why.
    void fail_together(const JointFailure& failure) {
        label(failure.exit_code() == interrupted ? RunStatus::interrupted : RunStatus::failed,
              failure.what());
        if (directory_ && leads() && settings().json)
            collectors::print_safely("{}", several() ? launch_json(record_, job_results(launch_))
                                                     : run_json(own().record));
        control_.agree_on_exit(failure.exit_code(), patience(patience_after_failure, stop_grace));
    }

    /// How the run ended, as far as rank 0 knows: in case that it is killed before the results are written.
    void label(RunStatus status, const std::string& error) {
        if (!leads() || !directory_)
            return;
        for (Agreement& job : launch_.jobs) {
            job.record.status = status;
            job.record.error = error;
        }
        try {
            write_labels();
        } catch (const std::exception&) { // the older label stays
        }
    }

    void write_labels() {
        for (std::size_t i = 0; i < directories_.size(); ++i)
            directories_[i].write("run.json", run_json(launch_.jobs[i].record));
        if (several())
            directory_->write("launch.json", launch_json(record_, job_results(launch_)));
    }

    Listener listen() {
        return control_.together([&] {
            const auto& network = profile().network;
            const Endpoint& place = own().record.endpoints[static_cast<std::size_t>(job_rank())];
            return Listener(context_, place.address, network.ports, network.sockets);
        });
    }

    std::vector<std::uint16_t> gather_ports(const Listener& listener) {
        std::vector<std::uint16_t> ports;
        for (const std::string& port : control_.all_gather(std::to_string(listener.port())))
            ports.push_back(static_cast<std::uint16_t>(std::stoul(port)));
        return ports;
    }

    ConnectSettings connect_settings(ControlPlane& among) {
        ConnectSettings settings;
        settings.sockets = profile().network.sockets;
        settings.timeout = profile().network.connect_timeout;
        settings.token = agree_on_token(among);
        settings.listen = [this] {
            control_.spread_stop();
            if (stop_.signal() != 0)
                throw Stopped(stop_.signal());
        };
        return settings;
    }

    Connections connect() {
        if (several())
            connect_lifelines();
        Listener listener = listen();
        const std::vector<std::uint16_t> ports = gather_ports(listener);
        for (Agreement& job : launch_.jobs)
            for (Endpoint& endpoint : job.record.endpoints)
                endpoint.port =
                    ports[static_cast<std::size_t>(job.members[static_cast<std::size_t>(endpoint.rank)])];
        ConnectSettings settings = connect_settings(*job_control_);
        const std::vector<BackgroundFlow> flows =
            background_flows(profile().background, job_control_->world_size());
        settings.lane_sockets = background_sockets(profile().background, flows);
        Peers peers = needed_peers(own().workload, job_rank(), job_control_->world_size());
        add_background_peers(peers, flows, job_rank());
        if (leads() && !this->settings().json)
            for (std::size_t i = 0; i < launch_.jobs.size(); ++i)
                collectors::print_safely(
                    "{}", in_front(launch_.jobs[i].record.job,
                                   settings_text(launch_.jobs[i].record, launch_.jobs[i].workload,
                                                 directories_[i].path().string())));
        std::fflush(stdout);
        Connections connections = control_.together([&] {
            return connect_peers(context_, std::move(listener), job_rank(), own().record.endpoints, peers,
                                 settings);
        });
        if (!flows.empty())
            background_.emplace(profile(), job_rank(), take_lanes(connections, first_background_lane),
                                own().record.endpoints);
        compare_clocks();
        return connections;
    }

    /// Of the hosts, for all jobs: before the first starts, and again after all have ended.
    void compare_clocks() {
        clocks_.emplace(control_, launch_.ranks, several() ? lifeline_endpoints_ : own().record.endpoints,
                        connect_settings(control_));
        note_clocks();
        if (leads() && !clocks_->warning().empty())
            for (Agreement& job : launch_.jobs)
                job.record.warnings.push_back(clocks_->warning());
    }

    void note_clocks() {
        const std::vector<ClockAlignment> clocks = clocks_->by_rank();
        for (Agreement& job : launch_.jobs) {
            job.record.clocks.clear();
            for (const int member : job.members)
                job.record.clocks.push_back(clocks[static_cast<std::size_t>(member)]);
        }
    }

    /// Of the first job that has ranks on several hosts; empty: whatever leads there.
    std::vector<std::string> interfaces_between_hosts() const {
        for (const Agreement& job : launch_.jobs)
            for (const HostFacts& facts : job.record.ranks)
                if (facts.addresses.network != job.record.ranks[0].addresses.network)
                    return job.record.profile.network.interfaces;
        return {};
    }

    /// On that network, which all ranks must reach.
    void connect_lifelines() {
        const InterfaceAddress place = control_.together([&] {
            std::vector<HostAddresses> hosts;
            for (const HostFacts& facts : launch_.ranks)
                hosts.push_back(facts.addresses);
            return choose_address(hosts, static_cast<std::size_t>(control_.rank()),
                                  interfaces_between_hosts());
        });
        Listener listener = control_.together(
            [&] { return Listener(lifelines_.context(), place.address, profile().network.ports, {}); });
        const std::vector<std::uint16_t> ports = gather_ports(listener);
        const std::vector<std::string> addresses = control_.all_gather(place.address);
        for (std::size_t i = 0; i < ports.size(); ++i)
            lifeline_endpoints_.push_back({static_cast<int>(i), launch_.ranks[i].addresses.host,
                                           place.interface, addresses[i], ports[i]});
        ConnectSettings settings = connect_settings(control_);
        settings.sockets = {};
        lifelines_.start(control_.together([&] {
            return connect_peers(lifelines_.context(), std::move(listener), control_.rank(),
                                 lifeline_endpoints_,
                                 Lifelines::peers(control_.rank(), control_.world_size()), settings);
        }));
    }

    JobToken agree_on_token(ControlPlane& among) {
        const JobToken drawn = control_.together([] { return random_token(); });
        const std::string shared =
            among.broadcast(std::string(reinterpret_cast<const char*>(drawn.data()), drawn.size()));
        JobToken token{};
        std::transform(shared.begin(), shared.end(), token.begin(),
                       [](char c) { return static_cast<std::byte>(c); });
        return token;
    }

    /// Everybody is there; nobody samples yet.
    void wait_for_start_at() {
        if (!record_.start_at)
            return;
        if (leads() && !settings().json)
            collectors::print_safely(
                "start            at {}, {}\n", wall_time_text(record_.start_at->time),
                time_ahead_text(record_.start_at->time, std::chrono::system_clock::now()));
        std::fflush(stdout);
        control_.together([&] {
            while (leads() && stop_.signal() == 0 &&
                   std::chrono::system_clock::now() + ready_before_start < record_.start_at->time)
                std::this_thread::sleep_for(10ms);
        });
    }

    void start_sampling() {
        nanoseconds interval = profile().sampling.interval;
        for (const Agreement& job : launch_.jobs)
            interval = std::min(interval, job.record.profile.sampling.interval);
        control_.together([&] {
            sampling_.emplace(control_.rank(), launch_.ranks, launch_.sampled, directory_->path(), interval,
                              settings().overwrite);
            if (const auto place = leads() ? testbed_switch() : std::nullopt)
                switch_sampling_.emplace(*place, directory_->path(), interval, settings().overwrite);
        });
    }

    std::unique_ptr<Payload> payload() {
        if (!profile().run.verify)
            return discarded_payload();
        return verified_payload(job_rank(), job_control_->world_size(), own().workload);
    }

    EngineSettings engine_settings(const Clock::time_point& start, Progress* progress) {
        EngineSettings settings;
        settings.rank = job_rank();
        settings.world_size = job_control_->world_size();
        settings.stop_descriptor = stop_.descriptor();
        settings.stop_signal = [this] { return stop_.signal(); };
        if (profile().sampling.tcp_info)
            settings.tcp_log = &tcp_log_;
        if (progress != nullptr)
            settings.on_iteration = [progress](const IterationRecord& record) { progress->show(record); };
        if (background_)
            settings.on_end = [this] { background_->stop_sending(); };
        const RunSettings& run = profile().run;
        settings.may_start = [this, &run, &start, previous = 0ns](std::uint32_t iteration) mutable {
            if (!run.duration)
                return iteration < *run.iterations;
            const nanoseconds elapsed = Clock::now() - start;
            const nanoseconds expected_next = elapsed + (elapsed - previous);
            previous = elapsed;
            return job_control_->decide_iteration(iteration,
                                                  (!run.iterations || iteration + 1 < *run.iterations) &&
                                                      expected_next < *run.duration);
        };
        return settings;
    }

    /// When each job begins, counted from the start of the launch.
    void agree_on_offsets() {
        std::vector<nanoseconds> offsets = control_.together([&] {
            return leads() ? start_offsets(launch_.jobs) : std::vector<nanoseconds>(launch_.jobs.size());
        });
        for (nanoseconds& offset : offsets) {
            offset = nanoseconds(std::stoll(control_.broadcast(std::to_string(offset.count()))));
            record_.offsets.push_back(offset);
        }
    }

    /// On this host's steady clock. Throws on rank 0, whose clock counts, if it has passed.
    Clock::time_point steady_time(WallTime time) const {
        const nanoseconds ahead = time - WallTime(std::chrono::system_clock::now());
        if (leads() && ahead < 0ns)
            throw std::runtime_error(fmt::format("--start-at {}: passed {} before all ranks were ready",
                                                 wall_time_text(time), collectors::format_duration(-ahead)));
        return Clock::now() + ahead;
    }

    /// The same instant on all hosts, on this host's clock.
    Clock::time_point agree_on_start() {
        const std::vector<ClockAlignment> clocks = clocks_->by_rank();
        std::optional<Clock::time_point> of_rank_0;
        if (record_.start_at) {
            compare_wall_clocks(clocks);
            of_rank_0 = control_.together([&] { return steady_time(record_.start_at->time); });
        }
        const Clock::time_point start = control_.agree_on_start(clocks, of_rank_0, start_delay);
        record_.start_monotonic_ns = nanoseconds(start.time_since_epoch()).count();
        return start;
    }

    void compare_wall_clocks(const std::vector<ClockAlignment>& clocks) {
        const nanoseconds wall_ahead_of_steady =
            WallTime(std::chrono::system_clock::now()).time_since_epoch() -
            nanoseconds(Clock::now().time_since_epoch());
        const std::vector<std::string> aheads =
            control_.all_gather(std::to_string(wall_ahead_of_steady.count()));
        std::set<std::string> seen{launch_.ranks[0].addresses.host};
        for (std::size_t rank = 1; leads() && rank < aheads.size(); ++rank) {
            const std::string& host = launch_.ranks[rank].addresses.host;
            const ClockOffset steady = clocks[rank].start.value_or(ClockOffset{});
            if (seen.insert(host).second)
                record_.start_at->clocks.push_back(
                    {host, nanoseconds(std::stoll(aheads[rank])) - wall_ahead_of_steady - steady.offset,
                     steady.error});
        }
        if (leads() && !settings().json)
            collectors::print_safely("{}", start_at_text(*record_.start_at));
        std::fflush(stdout);
    }

    /// Everything between the agreement on the start and the last byte: no MPI here.
    RankReport send_traffic(Connections connections) {
        RankReport report;
        std::optional<Progress> progress;
        if (job_rank() == 0 && !settings().json)
            progress.emplace(own().record.job, profile().run.iterations, profile().run.duration);
        payload_ = payload();
        Clock::time_point start;
        engine_ = std::make_unique<Engine>(context_, profile(), own().workload, std::move(connections),
                                           own().record.endpoints, *payload_,
                                           engine_settings(start, progress ? &*progress : nullptr));
        report.sockets = engine_->socket_state();
        start = agree_on_start() + record_.offsets[launch_.own_job];
        const double cpu_before = cpu_seconds();
        if (background_)
            background_->start(start);
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
        if (background_)
            report.background = end_background(report.status == RunStatus::complete);
        report.cpu_seconds = cpu_seconds() - cpu_before;
        report.traffic_seconds = collectors::in_seconds(Clock::now() - start);
        if (several())
            wait_for_other_jobs(report);
        note_start(start - record_.offsets[launch_.own_job]);
        keep_traces(report);
        report.tcp_lines = tcp_lines(tcp_log_);
        report.tcp_left_out_from = tcp_log_.left_out_from;
        return report;
    }

    BackgroundReport end_background(bool complete) {
        BackgroundReport report =
            background_->end(complete ? background_patience : 0ns, [this] { return stop_.signal() == 0; });
        background_.reset();
        return report;
    }

    /// Their traffic is in this host's counters, and their ranks are still there.
    void wait_for_other_jobs(const RankReport& report) {
        if (job_rank() == 0)
            collectors::print_safely(stderr, "{} | {} after {}{}{}\n", own().record.job,
                                     status_name(report.status),
                                     collectors::format_duration(Clock::now() - job_start(report)),
                                     report.error.empty() ? "" : ": ", report.error);
        std::vector<std::vector<int>> jobs;
        for (const Agreement& job : launch_.jobs)
            jobs.push_back(job.members);
        gone_ = lifelines_.wait_for_all(report.status == RunStatus::complete, jobs, others_after_stop);
    }

    /// By the wall clock of now: had it been set since, it shows.
    void note_start(Clock::time_point start) {
        if (!record_.start_at)
            return;
        record_.start_at->began = WallTime(std::chrono::system_clock::now()) - (Clock::now() - start);
        for (Agreement& job : launch_.jobs)
            job.record.start_at = record_.start_at;
    }

    static Clock::time_point job_start(const RankReport& report) {
        return Clock::time_point(nanoseconds(report.timeline.start_monotonic_ns));
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

    /// Results to rank 0, which reports; then all leave with its exit code, nobody earlier: once a rank has
    /// left, mpirun kills the others.
    int finish(const RankReport& report) {
        const nanoseconds limit = report.status == RunStatus::complete ? nanoseconds(patience_after_end)
                                                                       : nanoseconds(patience_after_failure);
        const auto texts = control_.collect(serialize(report), patience(limit, reports_after_stop), gone_);
        if (leads()) { // all have reported or given up: nobody sends any more
            clocks_->measure_end([this] { return !stop_.requested_for(reports_after_stop); });
            note_clocks();
        }
        if (leads())
            results_.emplace(launch_, record_, *directory_, directories_, stop_);
        const int exit_code = leads() ? results_->conclude(texts, switch_sampling_) : our_failure;
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
    ControlPlane control_;                    ///< of all ranks
    std::optional<ControlPlane> job_control_; ///< of this rank's job
    asio::io_context context_;
    Lifelines lifelines_;                      ///< in use when there are several jobs
    std::vector<Endpoint> lifeline_endpoints_; ///< of all ranks of the launch
    LaunchAgreement launch_;
    LaunchRecord record_;
    std::string out_;
    std::optional<RunDirectory> directory_;
    std::vector<RunDirectory> directories_; ///< on rank 0, of each job
    bool shares_files_ = true;              ///< with rank 0
    std::optional<NicSampling> sampling_;
    std::optional<SwitchSampling> switch_sampling_; ///< on rank 0 of a testbed
    std::optional<RunClocks> clocks_;               ///< of the hosts of all jobs
    std::unique_ptr<Payload> payload_;
    TcpLog tcp_log_;
    std::optional<BackgroundTraffic> background_; ///< of a profile with some
    std::unique_ptr<Engine> engine_;
    std::set<int> gone_;                   ///< on rank 0: ranks that will not report
    std::optional<LaunchResults> results_; ///< on rank 0
};

} // namespace

int run_job(const CommandLine& command, MpiSession& session, StopRequest& stop) {
    return Launch(command, session, stop).run();
}

} // namespace generator
