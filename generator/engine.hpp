#pragma once

#include "generator/bucket_queues.hpp"
#include "generator/failure.hpp"
#include "generator/plan_book.hpp"
#include "generator/precise_timer.hpp"
#include "generator/schedule.hpp"
#include "generator/stall_watch.hpp"
#include "generator/tcp_watch.hpp"
#include "generator/timeline.hpp"
#include "generator/wire.hpp"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

namespace generator {

struct EngineSettings {
    int rank = 0;
    int world_size = 1;
    /// Asked in the compute gap before each iteration; false ends the run. All ranks must answer alike.
    std::function<bool(std::uint32_t iteration)> may_start;
    /// Called in the compute gap after each iteration (progress).
    std::function<void(const IterationRecord&)> on_iteration;
    /// Called when the last iteration has ended.
    std::function<void()> on_end;
    /// Readable when the run shall stop; `stop_signal` then says which signal it was. -1: never.
    int stop_descriptor = -1;
    std::function<int()> stop_signal;
    /// What the kernel tells of the connections is kept here as the run goes; nullptr: it is not asked.
    TcpLog* tcp_log = nullptr;
};

/// Runs the iterations of one rank. Computing is a coroutine that only waits: it walks the launches and waits
/// of the schedule, hands each bucket that is due to its queue, and stands still where it needs a bucket that
/// is not complete; all that follows is due as much later. Each queue executes its buckets' plans one after
/// the other, on connections of its own, so that several are in flight at once. Late work slips and is
/// recorded; it is never caught up by a burst. Ranks are tied together by the data alone.
class Engine {
public:
    using Clock = std::chrono::steady_clock;

    /// Builds the plans and calibrates the timer (about 60 ms). Everything given by reference must outlive
    /// the engine.
    Engine(asio::io_context& context, const Profile& profile, const Workload& workload,
           Connections connections, const std::vector<Endpoint>& endpoints, Payload& payload,
           EngineSettings settings);

    /// Runs from `start`, the beginning of iteration 0 on this host's clock. Fills `timeline` as it goes, so
    /// that nothing measured is lost when it throws: Stopped, when this rank or another was asked to stop;
    /// PeerLeft or another std::runtime_error with rank, iteration, bucket and peer. The connections stay
    /// open until the engine is destroyed; then the peers notice. To be called once.
    void run(Clock::time_point start, Timeline& timeline);

    /// After a run that completed: for another engine. This one is of no use any more.
    Connections take_connections() { return std::move(connections_); }

    /// Of the connections, as the kernel says.
    const SocketState& socket_state() const { return connections_.state; }
    /// So far, in the payload; 0 unless it is one that is checked.
    std::uint64_t checked_elements() const { return checked_elements_; }
    std::chrono::nanoseconds timer_margin() const { return timer_.margin(); }

private:
    /// A bucket of the running iteration.
    struct Run {
        Clock::time_point due;
        Clock::time_point begin;
        Clock::time_point end;
        std::uint64_t sent_before = 0;     ///< on the wire of its queue
        std::uint64_t received_before = 0; ///< on the wire of its queue
    };
    struct Queue {
        Wire wire;
        Clock::time_point free; ///< when its last bucket was complete
    };

    void open_queues();
    asio::awaitable<void> iterate();
    asio::awaitable<nanoseconds> compute(Clock::time_point iteration_start);
    asio::awaitable<Clock::time_point> completion(std::size_t bucket);
    void start(std::optional<std::size_t> bucket);
    std::optional<std::size_t> complete(std::size_t bucket);
    Queue& queue_of(const Bucket& bucket) { return queues_.at({bucket.group, bucket.slot}); }
    std::uint64_t sent_bytes() const;
    std::uint64_t received_bytes() const;
    void watch_for_stall(StallWatch watch);
    void watch_for_stop();
    std::size_t connections_of(const Bucket& bucket) const { return plans_.find(bucket).sends.size(); }
    void note_connections(const Bucket& bucket);
    void settle_in_gap();
    void finish_tcp_log(bool complete);
    std::int64_t run_time(Clock::time_point moment) const;
    std::vector<std::string> unfinished() const;
    std::string where() const;

    asio::io_context& context_;
    const Profile& profile_;
    const Workload& workload_;
    Connections connections_;
    const std::vector<Endpoint>& endpoints_;
    Payload& payload_;
    std::uint64_t checked_elements_ = 0;
    EngineSettings settings_;
    PreciseTimer timer_;
    PlanBook plans_;
    std::map<QueueId, Queue> queues_;
    asio::steady_timer completed_; ///< cancelled when a bucket is complete
    asio::steady_timer watchdog_;
    asio::posix::stream_descriptor stop_;
    std::optional<TcpWatch> tcp_watch_;
    asio::steady_timer gap_;       ///< expires late in an idle gap
    Clock::time_point next_due_{}; ///< of a bucket
    Clock::time_point start_;
    Timeline* timeline_ = nullptr; ///< of the running run
    std::uint32_t iteration_ = 0;
    IterationSchedule schedule_; ///< of the running iteration
    BucketQueues order_;
    std::vector<Run> runs_; ///< of the schedule's buckets
    std::size_t in_flight_ = 0;
};

} // namespace generator
