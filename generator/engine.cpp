#include "generator/engine.hpp"

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

namespace generator {
namespace {

std::vector<std::uint64_t> sizes(const IterationSchedule& schedule) {
    std::vector<std::uint64_t> bytes;
    for (const Bucket& bucket : schedule.buckets)
        bytes.push_back(bucket.bytes);
    return bytes;
}

} // namespace

Engine::Engine(asio::io_context& context, const Profile& profile, const Workload& workload,
               Connections connections, const std::vector<Endpoint>& endpoints, Payload& payload,
               EngineSettings settings)
    : context_(context), profile_(profile), workload_(workload), connections_(std::move(connections)),
      endpoints_(endpoints), payload_(payload), settings_(std::move(settings)), timer_(context),
      plans_(profile, workload, settings_.rank, settings_.world_size),
      wire_(context, connections_, payload, endpoints), finished_(context), watchdog_(context),
      stop_(context) {}

void Engine::run(Clock::time_point start, Timeline& timeline) {
    start_ = start;
    timeline_ = &timeline;
    timeline.rank = settings_.rank;
    timeline.start_monotonic_ns = std::chrono::nanoseconds(start.time_since_epoch()).count();
    watch_for_stop();
    watch_for_stall(0);
    wire_.listen();
    std::exception_ptr failure;
    asio::co_spawn(context_, iterate(), [&](std::exception_ptr error) {
        failure = error;
        context_.stop();
    });
    context_.restart();
    try {
        context_.run();
        if (failure)
            std::rethrow_exception(failure);
    } catch (const Stopped& stopped) {
        failure = std::current_exception();
        wire_.pass_on(stopped);
    } catch (const PeerLeft& left) {
        failure = std::make_exception_ptr(PeerLeft(left.peer(), where() + left.what()));
    } catch (const std::exception& error) {
        failure = std::make_exception_ptr(std::runtime_error(where() + error.what()));
    }
    timeline.sent_bytes = wire_.sent_bytes();
    timeline.received_bytes = wire_.received_bytes();
    if (failure)
        std::rethrow_exception(failure);
}

asio::awaitable<void> Engine::iterate() {
    Clock::time_point start = start_;
    for (iteration_ = 0; settings_.may_start(iteration_); ++iteration_) {
        const IterationSchedule schedule =
            iteration_schedule(profile_, workload_, settings_.rank, iteration_);
        payload_.prepare(iteration_, sizes(schedule));
        Clock::time_point queue_free = start;
        for (bucket_ = 0; bucket_ < schedule.buckets.size(); ++bucket_)
            queue_free = co_await reduce(schedule.buckets[bucket_], start, queue_free);
        const Clock::time_point end =
            std::max(queue_free, start + schedule.backward_end) + schedule.optimizer;
        payload_.check(iteration_);
        timeline_->iterations.push_back({iteration_, run_time(start), run_time(end)});
        if (settings_.on_iteration)
            settings_.on_iteration(timeline_->iterations.back());
        start = end;
    }
    co_await timer_.wait_until(start); // the last optimizer step belongs to the run
}

/// One bucket, from its due time to its last byte; returns when it was complete.
asio::awaitable<Engine::Clock::time_point>
Engine::reduce(const Bucket& bucket, Clock::time_point iteration_start, Clock::time_point queue_free) {
    const Clock::time_point due = iteration_start + bucket.ready_after;
    const WirePlan& plan = plans_.find(bucket);
    const std::uint64_t sent = wire_.sent_bytes();
    const std::uint64_t received = wire_.received_bytes();
    co_await timer_.wait_until(due);
    const Clock::time_point begin = Clock::now();
    Clock::time_point end;
    in_flight_ = true;
    finished_.expires_at(Clock::time_point::max());
    wire_.start(plan, bucket_, [&] {
        end = Clock::now();
        in_flight_ = false;
        finished_.cancel();
    });
    while (in_flight_) {
        std::error_code cancelled;
        co_await finished_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
    timeline_->buckets.push_back({.iteration = iteration_,
                                  .bucket = static_cast<std::uint32_t>(bucket_),
                                  .due_ns = run_time(due),
                                  .start_ns = run_time(begin),
                                  .end_ns = run_time(end),
                                  .late_ns = run_time(begin) - run_time(std::max(due, queue_free)),
                                  .bytes = bucket.bytes,
                                  .sent_bytes = wire_.sent_bytes() - sent,
                                  .received_bytes = wire_.received_bytes() - received});
    co_return end;
}

/// A bucket in flight whose bytes stand still for the stall timeout has failed.
void Engine::watch_for_stall(std::uint64_t bytes_before) {
    watchdog_.expires_after(profile_.network.stall_timeout);
    watchdog_.async_wait([this, bytes_before](std::error_code error) {
        if (error)
            return;
        const std::uint64_t bytes = wire_.sent_bytes() + wire_.received_bytes();
        if (in_flight_ && bytes == bytes_before)
            throw std::runtime_error(fmt::format(
                "no byte moved for {:.1f} s: {}",
                std::chrono::duration<double>(profile_.network.stall_timeout).count(), wire_.unfinished()));
        watch_for_stall(bytes);
    });
}

void Engine::watch_for_stop() {
    if (settings_.stop_descriptor < 0)
        return;
    stop_.assign(::dup(settings_.stop_descriptor));
    stop_.async_wait(asio::posix::stream_descriptor::wait_read, [this](std::error_code error) {
        if (error)
            return;
        wire_.hear(); // launchers stop all ranks when one has died: then that is what happened
        throw Stopped(settings_.stop_signal());
    });
}

std::int64_t Engine::run_time(Clock::time_point moment) const {
    return std::chrono::nanoseconds(moment - start_).count();
}

std::string Engine::where() const {
    return fmt::format("{}, iteration {}, bucket {}: ",
                       endpoints_.at(static_cast<std::size_t>(settings_.rank)).text(), iteration_, bucket_);
}

} // namespace generator
