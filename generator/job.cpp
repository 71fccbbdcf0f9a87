#include "generator/job.hpp"

#include "collectors/printable.hpp"
#include "collectors/units.hpp"
#include "generator/agreement.hpp"
#include "generator/dry_run.hpp"
#include "generator/launch_step.hpp"
#include "generator/start_offsets.hpp"
#include "generator/sweep_results.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <memory>
#include <numeric>
#include <sstream>
#include <thread>

namespace generator {
namespace {

using namespace std::chrono_literals;

constexpr auto ready_before_start = 1500ms; // of --start-at: sampling begins, clocks are compared

/// A launch of one job or several: each rank belongs to one. What jobs have in common is here too: rank 0
/// keeps the results of all, and a host's interfaces are sampled once. A sweep is a launch of several steps,
/// over the same connections.
class Launch {
public:
    Launch(const CommandLine& command, MpiSession& session, StopRequest& stop) : links_(session, stop) {
        if (!command.start_at.empty())
            record_.start_at = control().together([&] { return start_at(command.start_at); });
        launch_ = agree(command, control());
        record_.command = command.whole;
        record_.of_sweep = launch_.sweep.has_value();
        if (leads() && settings().dry_run)
            print_dry_run();
        links_.job_control.emplace(
            control().part(static_cast<int>(*launch_.own_job), place_of(control().rank())));
    }

    int run() {
        if (settings().dry_run)
            return success;
        try {
            return launch_.sweep ? run_sweep() : run_once();
        } catch (const JointFailure& failure) {
            if (sweep_)
                sweep_->end(failure.exit_code() == interrupted ? RunStatus::interrupted : RunStatus::failed,
                            failure.what());
            if (step_)
                step_->fail_together(failure);
            throw;
        }
    }

private:
    /// Of the launch: rank 0.
    bool leads() const { return links_.leads(); }
    bool several() const { return !launch_.jobs.front().record.job.empty(); }
    ControlPlane& control() { return links_.control; }
    const RunSettings& settings() const { return launch_.settings(); }
    Agreement& own() { return launch_.jobs[*launch_.own_job]; }
    const Profile& profile() { return own().record.profile; }
    int job_rank() const { return links_.job_control->rank(); }
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
        else if (launch_.sweep)
            collectors::print_safely("sweep            {} shifted against {}: {} steps alone, {} offsets\n",
                                     launch_.jobs[launch_.sweep->roles.shifted].record.job,
                                     launch_.jobs[launch_.sweep->roles.reference].record.job,
                                     launch_.jobs.size(), launch_.sweep->range.count);
    }

    int run_once() {
        std::vector<std::size_t> all(launch_.jobs.size());
        std::iota(all.begin(), all.end(), 0);
        begin({"", all, {}}, settings().out);
        connect();
        const std::vector<nanoseconds> offsets = agree_on_times([&] { return start_offsets(launch_.jobs); });
        wait_for_start_at();
        step_->take(launch_);
        return *step_->run(offsets, std::vector<std::optional<nanoseconds>>(all.size()),
                           [](int exit_code) { return exit_code; });
    }

    void begin(const PlannedStep& planned, const std::string& out) {
        step_.reset(); // the one before
        step_ = std::make_unique<LaunchStep>(links_, launch_, planned.jobs, record_);
        step_->create_directory(out, settings().overwrite);
    }

    int run_sweep() {
        const std::string wanted = settings().out;
        const std::string out = control().broadcast(wanted.empty() ? default_run_directory() : wanted);
        control().together([&] {
            if (leads())
                sweep_.emplace(launch_, RunDirectory::create_for_sweep(out, settings().overwrite),
                               record_.command);
        });
        const std::vector<PlannedStep> steps = planned_steps(launch_);
        for (std::size_t i = 0;; ++i) {
            begin(steps[i], out + "/" + steps[i].directory);
            if (i == 0)
                connect();
            else
                links_.clocks->begin_again();
            if (const auto exit_code = take(steps[i], i + 1 == steps.size()))
                return *exit_code;
        }
    }

    /// The launch's exit code, or nullopt when another step follows.
    std::optional<int> take(const PlannedStep& planned, bool is_last) {
        const std::vector<nanoseconds> offsets = agree_on_times([&] {
            return planned.turn ? shifted_starts(launch_, sweep_->offsets()[*planned.turn])
                                : std::vector<nanoseconds>(1);
        });
        std::vector<std::optional<nanoseconds>> limits;
        for (const nanoseconds limit : agree_on_times([&] { return or_negative(sweep_->limits(planned)); }))
            limits.push_back(limit < 0ns ? std::nullopt : std::optional(limit));
        announce(planned);
        step_->take(launch_);
        return step_->run(offsets, limits,
                          [&](int exit_code) { return conclude(planned, is_last, exit_code); });
    }

    static std::vector<nanoseconds> or_negative(const std::vector<std::optional<nanoseconds>>& times) {
        std::vector<nanoseconds> values;
        for (const auto& time : times)
            values.push_back(time.value_or(-1ns));
        return values;
    }

    std::optional<nanoseconds> asked(const PlannedStep& planned) {
        return planned.turn ? std::optional(sweep_->offsets()[*planned.turn]) : std::nullopt;
    }

    void announce(const PlannedStep& planned) {
        if (!leads() || settings().json)
            return;
        const SweepRecord& sweep = sweep_->record();
        collectors::print_safely(stderr, "step {} of {}: {}\n", sweep.steps.size() + 1, sweep.planned_steps,
                                 planned.turn ? fmt::format("{} {} after {}", sweep.shifted,
                                                            collectors::format_duration(*asked(planned)),
                                                            sweep.reference)
                                              : launch_.jobs[planned.jobs.front()].record.job + " alone");
    }

    /// On rank 0.
    std::optional<int> conclude(const PlannedStep& planned, bool is_last, int exit_code) {
        sweep_exit_code_ = graver(sweep_exit_code_, exit_code);
        try {
            SweepStep step =
                sweep_step(planned, asked(planned), step_->record(), step_->results(), sweep_->record());
            const RunStatus status = step.status;
            const std::string error = fmt::format("step {}: {}", step.directory, step.error);
            const bool complete = sweep_->add(std::move(step));
            if (complete && !is_last && links_.stop.signal() == 0)
                return std::nullopt;
            if (!sweep_->end(status, complete ? "" : error))
                sweep_exit_code_ = graver(sweep_exit_code_, our_failure);
        } catch (const std::exception& failure) { // a full disk
            collectors::print_safely(stderr, "gradburst: {}\n", failure.what());
            sweep_->end(RunStatus::failed, failure.what());
            sweep_exit_code_ = graver(sweep_exit_code_, our_failure);
        }
        return sweep_exit_code_;
    }

    Listener listen() {
        return links_.control.together([&] {
            const auto& network = profile().network;
            const Endpoint& place = own().record.endpoints[static_cast<std::size_t>(job_rank())];
            return Listener(links_.context, place.address, network.ports, network.sockets);
        });
    }

    std::vector<std::uint16_t> gather_ports(const Listener& listener) {
        std::vector<std::uint16_t> ports;
        for (const std::string& port : links_.control.all_gather(std::to_string(listener.port())))
            ports.push_back(static_cast<std::uint16_t>(std::stoul(port)));
        return ports;
    }

    ConnectSettings connect_settings(ControlPlane& among) {
        ConnectSettings settings;
        settings.sockets = profile().network.sockets;
        settings.timeout = profile().network.connect_timeout;
        settings.token = agree_on_token(among);
        settings.listen = [this] {
            links_.control.spread_stop();
            if (links_.stop.signal() != 0)
                throw Stopped(links_.stop.signal());
        };
        return settings;
    }

    void connect() {
        if (several())
            connect_lifelines();
        Listener listener = listen();
        const std::vector<std::uint16_t> ports = gather_ports(listener);
        for (Agreement& job : launch_.jobs)
            for (Endpoint& endpoint : job.record.endpoints)
                endpoint.port =
                    ports[static_cast<std::size_t>(job.members[static_cast<std::size_t>(endpoint.rank)])];
        ConnectSettings settings = connect_settings(*links_.job_control);
        const std::vector<BackgroundFlow> flows =
            background_flows(profile().background, links_.job_control->world_size());
        settings.lane_sockets = background_sockets(profile().background, flows);
        Peers peers = needed_peers(own().workload, job_rank(), links_.job_control->world_size());
        add_background_peers(peers, flows, job_rank());
        if (leads() && !this->settings().json)
            for (std::size_t i = 0; i < launch_.jobs.size(); ++i)
                collectors::print_safely(
                    "{}", in_front(launch_.jobs[i].record.job,
                                   settings_text(
                                       launch_.jobs[i].record, launch_.jobs[i].workload,
                                       (sweep_ ? sweep_->path() : step_->directory_of(i).path()).string())));
        std::fflush(stdout);
        links_.connections = control().together([&] {
            return connect_peers(links_.context, std::move(listener), job_rank(), own().record.endpoints,
                                 peers, settings);
        });
        if (!flows.empty())
            links_.background.emplace(profile(), job_rank(),
                                      take_lanes(links_.connections, first_background_lane),
                                      own().record.endpoints);
        compare_clocks();
    }

    /// Of the hosts, for all jobs: before the first starts, and again after all have ended.
    void compare_clocks() {
        links_.clocks.emplace(control(), launch_.ranks,
                              several() ? lifeline_endpoints_ : own().record.endpoints,
                              connect_settings(control()));
        if (leads() && !links_.clocks->warning().empty())
            for (Agreement& job : launch_.jobs)
                job.record.warnings.push_back(links_.clocks->warning());
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
        const InterfaceAddress place = links_.control.together([&] {
            std::vector<HostAddresses> hosts;
            for (const HostFacts& facts : launch_.ranks)
                hosts.push_back(facts.addresses);
            return choose_address(hosts, static_cast<std::size_t>(links_.control.rank()),
                                  interfaces_between_hosts());
        });
        Listener listener = links_.control.together(
            [&] { return Listener(links_.lifelines.context(), place.address, profile().network.ports, {}); });
        const std::vector<std::uint16_t> ports = gather_ports(listener);
        const std::vector<std::string> addresses = links_.control.all_gather(place.address);
        for (std::size_t i = 0; i < ports.size(); ++i)
            lifeline_endpoints_.push_back({static_cast<int>(i), launch_.ranks[i].addresses.host,
                                           place.interface, addresses[i], ports[i]});
        ConnectSettings settings = connect_settings(links_.control);
        settings.sockets = {};
        links_.lifelines.start(links_.control.together([&] {
            return connect_peers(
                links_.lifelines.context(), std::move(listener), links_.control.rank(), lifeline_endpoints_,
                Lifelines::peers(links_.control.rank(), links_.control.world_size()), settings);
        }));
    }

    JobToken agree_on_token(ControlPlane& among) {
        const JobToken drawn = links_.control.together([] { return random_token(); });
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
        control().together([&] {
            while (leads() && links_.stop.signal() == 0 &&
                   std::chrono::system_clock::now() + ready_before_start < record_.start_at->time)
                std::this_thread::sleep_for(10ms);
        });
    }

    /// What rank 0 says, on all ranks.
    template <class Times>
    std::vector<nanoseconds> agree_on_times(Times times_of_rank_0) {
        const std::vector<nanoseconds> own =
            control().together([&] { return leads() ? times_of_rank_0() : std::vector<nanoseconds>(); });
        std::string text;
        for (const nanoseconds time : own)
            text += std::to_string(time.count()) + " ";
        std::istringstream agreed(control().broadcast(text));
        std::vector<nanoseconds> times;
        for (std::int64_t time = 0; agreed >> time;)
            times.emplace_back(time);
        return times;
    }

    LaunchLinks links_;
    std::vector<Endpoint> lifeline_endpoints_; ///< of all ranks of the launch
    LaunchAgreement launch_;
    LaunchRecord record_;               ///< what each step begins with
    std::unique_ptr<LaunchStep> step_;  ///< the running one, and the last
    std::optional<SweepResults> sweep_; ///< on rank 0 of a sweep
    int sweep_exit_code_ = success;
};

} // namespace

int run_job(const CommandLine& command, MpiSession& session, StopRequest& stop) {
    return Launch(command, session, stop).run();
}

} // namespace generator
