#pragma once

#include "generator/failure.hpp"
#include "generator/plan_book.hpp"
#include "generator/precise_timer.hpp"
#include "generator/schedule.hpp"
#include "generator/timeline.hpp"
#include "generator/wire.hpp"

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

namespace generator {

struct EngineSettings {
    int rank = 0;
    int world_size = 1;
    /// Asked in the compute gap before each iteration; false ends the run. All ranks must answer alike.
    std::function<bool(std::uint32_t iteration)> may_start;
    /// Called in the compute gap after each iteration (progress).
    std::function<void(const IterationRecord&)> on_iteration;
    /// Readable when the run shall stop; `stop_signal` then says which signal it was. -1: never.
    int stop_descriptor = -1;
    std::function<int()> stop_signal;
};

/// Runs the iterations of one rank: waits until a bucket is due, executes its plan, one bucket after the
/// other. Late work slips and is recorded; it is never caught up by a burst. Ranks are tied together by the
/// data alone.
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

    /// In use on the outgoing connections, as the kernel says; empty when there are none.
    const std::string& congestion_control() const { return connections_.congestion_control; }
    std::chrono::nanoseconds timer_margin() const { return timer_.margin(); }

private:
    asio::awaitable<void> iterate();
    asio::awaitable<Clock::time_point> reduce(const Bucket& bucket, Clock::time_point iteration_start,
                                              Clock::time_point queue_free);
    void watch_for_stall(std::uint64_t bytes_before);
    void watch_for_stop();
    std::int64_t run_time(Clock::time_point moment) const;
    std::string where() const;

    asio::io_context& context_;
    const Profile& profile_;
    const Workload& workload_;
    Connections connections_;
    const std::vector<Endpoint>& endpoints_;
    Payload& payload_;
    EngineSettings settings_;
    PreciseTimer timer_;
    PlanBook plans_;
    Wire wire_;
    asio::steady_timer finished_; ///< cancelled when the running plan is complete
    asio::steady_timer watchdog_;
    asio::posix::stream_descriptor stop_;
    Clock::time_point start_;
    Timeline* timeline_ = nullptr; ///< of the running run
    std::uint32_t iteration_ = 0;
    std::size_t bucket_ = 0;
    bool in_flight_ = false;
};

} // namespace generator
