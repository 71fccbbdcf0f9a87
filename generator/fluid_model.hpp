#pragma once

#include "generator/bucket_queues.hpp"
#include "generator/fair_network.hpp"
#include "generator/schedule.hpp"
#include "generator/transfer_plan.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace generator {

/// What the fluid model runs.
struct FluidJob {
    Topology topology;
    double latency = 0; ///< seconds, from a byte's arrival until what depends on it may go
    std::uint32_t iterations = 1;
    std::function<IterationSchedule(int rank, std::uint32_t iteration)> schedule;
    std::function<const TransferPlan&(const BucketKind& bucket)> plan; ///< must outlive the model
    /// Called when a rank starts a bucket (its number in the workload's list), if set.
    std::function<void(int rank, std::uint32_t iteration, std::uint32_t bucket, double time)> on_start;
};

/// A stretch of time, in seconds from the start of the job, in which bytes flowed at one rate.
struct Flow {
    double begin = 0;
    double end = 0;
    double bytes = 0;

    double rate() const { return bytes / (end - begin); }
};

/// Everything that one rank sent another on one of their connections, in order of time.
struct ConnectionFlow {
    int from = 0;
    int to = 0;
    bool between_blocks = false; ///< see TransferConnection
    std::vector<Flow> flows;
};

struct IterationTimes {
    double start = 0;
    double last_bucket_end = 0;
    double end = 0;
};

/// Executes schedules and plans with fluid instead of packets, from event to event: rates change only when a
/// transfer begins, stops or ends. Computing launches buckets and stands still where it needs one that is not
/// complete, and queues start them, as in the engine (`compute_steps`, `BucketQueues`). A transfer moves when
/// both its ranks have started the bucket, the transfers before it on its connection are over, what it comes
/// `after` is complete and, segment by segment, what it is `behind` has arrived one latency ago. A rank has
/// completed a bucket when it has sent everything and received everything one latency ago. A ring without
/// pipelining therefore takes 2(N-1) (chunk / C + latency).
class FluidModel {
public:
    explicit FluidModel(FluidJob job);

    /// Runs until every rank has ended `iteration`. Throws UserError that names ranks and buckets when they
    /// wait for each other for ever.
    void run_to_end_of(std::uint32_t iteration);

    /// Per iteration, then per rank; the last ones may be unfinished.
    const std::vector<std::vector<IterationTimes>>& iterations() const { return iterations_; }
    const std::vector<ConnectionFlow>& connections() const { return connections_; }

private:
    struct Corner {
        double time = 0;
        double moved = 0;
    };
    struct Progress { ///< of one transfer
        double moved = 0;
        double since = 0; ///< `moved` was true then
        double rate = 0;
        double stop_at = 0; ///< bytes at which the event that is due will find it
        double ended = 0;
        FairNetwork::Stream stream = 0;
        std::uint32_t version = 0; ///< events of older versions are void
        bool head = false;         ///< all before it on its connection are over
        bool moving = false;
        bool done = false;
        bool has_news = false;       ///< is among news_
        std::vector<Corner> corners; ///< where the rate changed
    };
    struct Part { ///< one rank's, in a collective
        bool started = false;
        std::size_t bucket = 0; ///< index into the rank's schedule
        std::uint32_t open_transfers = 0;
        double complete = 0; ///< of what is over so far
    };
    struct Collective {
        BucketKind kind;
        std::uint32_t iteration = 0;
        std::uint32_t number = 0; ///< in the workload's list
        const TransferPlan* plan = nullptr;
        std::vector<Progress> transfers;
        std::vector<std::size_t> connections; ///< indices into connections_
        std::vector<Part> parts;              ///< by rank
        std::size_t ranks_left = 0;
    };
    struct Rank {
        IterationSchedule schedule;
        std::vector<ComputeStep> steps;
        std::size_t step = 0; ///< the next one
        BucketQueues order;
        std::vector<double> ends; ///< of the schedule's buckets
        std::uint32_t iteration = 0;
        double start = 0;
        double stalls = 0;
        double last_bucket_end = 0;
    };
    struct Id { ///< a transfer of a collective
        std::uint64_t collective = 0;
        std::uint32_t transfer = 0;
    };
    struct Event {
        double time = 0;
        std::uint64_t order = 0; ///< of equal times the older event comes first
        enum class Kind { compute, end_bucket, transfer } kind = Kind::transfer;
        int rank = 0;
        Id id;
        std::uint32_t version = 0;

        bool operator<(const Event& other) const {
            return time != other.time ? time > other.time : order > other.order;
        }
    };

    void handle(const Event& event);
    void begin_iteration(int rank);
    void compute(int rank);
    void start_bucket(int rank, std::size_t bucket);
    void end_bucket(int rank, std::uint64_t collective);
    void end_iteration(int rank);
    Rank& rank(int number) { return ranks_[static_cast<std::size_t>(number)]; }
    Collective& collective(std::uint64_t number) { return collectives_[number - first_collective_]; }
    std::uint64_t join_collective(std::uint32_t iteration, const Bucket& bucket);
    [[noreturn]] void throw_deadlock() const;
    std::string waiting(int rank) const;

    void reach(Id id);
    void try_to_move(Id id);
    void pause(Id id);
    void finish(Id id);
    void finish_for(std::uint64_t collective, int rank, double when);
    void share_network();
    void project(Id id);
    void settle(Id id);
    void tell_followers(Id id);
    void act_on_news();
    double arrival(const Collective& running, std::uint32_t transfer, double position) const;
    double released(const Collective& running, std::uint32_t transfer, double position) const;
    double stop_behind(const Collective& running, std::uint32_t transfer, std::uint32_t leader) const;
    void push(Event event);

    FluidJob job_;
    FairNetwork network_;
    double now_ = 0;
    std::uint64_t pushed_ = 0;
    std::priority_queue<Event> events_;
    std::vector<Rank> ranks_;
    std::deque<Collective> collectives_; ///< those that some rank has not ended, and some ended ones between
    std::uint64_t first_collective_ = 0;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t>
        running_;             ///< by iteration, bucket number
    std::vector<Id> carried_; ///< by stream
    std::vector<Id> news_;    ///< transfers that wait for one that has changed
    std::vector<ConnectionFlow> connections_;
    std::map<std::tuple<QueueId, TransferConnection>, std::size_t> connection_index_;
    std::vector<std::vector<IterationTimes>> iterations_;
    std::vector<std::size_t> ranks_ended_; ///< per iteration
};

} // namespace generator
