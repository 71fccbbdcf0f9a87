#include "generator/engine.hpp"

#include "collectors/units.hpp"

#include <asio/co_spawn.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <fmt/format.h>
#include <numeric>
#include <thread>
#include <unistd.h>

namespace generator {

Engine::Engine(asio::io_context& context, const Profile& profile, const Workload& workload,
               Connections connections, const std::vector<Endpoint>& endpoints, Payload& payload,
               EngineSettings settings)
    : context_(context), profile_(profile), workload_(workload), connections_(std::move(connections)),
      endpoints_(endpoints), payload_(payload), settings_(std::move(settings)), timer_(context),
      plans_(profile, workload, settings_.rank, settings_.world_size), completed_(context),
      watchdog_(context), stop_(context), gap_(context) {
    open_queues();
    if (settings_.tcp_log == nullptr)
        return;
    settings_.tcp_log->rank = settings_.rank;
    std::vector<WatchedConnection> sending;
    for (auto& [place, socket] : connections_.outgoing)
        sending.push_back({place, socket.native_handle()});
    tcp_watch_.emplace(std::move(sending), *settings_.tcp_log);
}

/// One for each queue that some bucket of this rank uses, also where its plans move nothing.
void Engine::open_queues() {
    const std::uint32_t lanes = job_lane(workload_.collective, {0, 1}, 0);
    for (const auto* buckets : {&workload_.first_iteration, &workload_.later_iterations}) {
        const std::vector<std::uint32_t> slots = queue_slots(workload_, *buckets);
        for (std::size_t i = 0; i < slots.size(); ++i) {
            const QueueId id{(*buckets)[i].group, slots[i]};
            if (!queues_.contains(id))
                queues_.emplace(id, Queue{Wire(context_, connections_, job_lane(workload_.collective, id, 0),
                                               lanes, payload_, endpoints_),
                                          {}});
        }
    }
}

void Engine::run(Clock::time_point start, Timeline& timeline) {
    start_ = start;
    timeline_ = &timeline;
    timeline.rank = settings_.rank;
    timeline.start_monotonic_ns = std::chrono::nanoseconds(start.time_since_epoch()).count();
    watch_for_stop();
    watch_for_stall(StallWatch(profile_.network.stall_timeout, Clock::now()));
    for (auto& [id, queue] : queues_)
        queue.wire.listen();
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
        for (auto& [id, queue] : queues_)
            queue.wire.pass_on(stopped);
    } catch (const PeerLeft& left) {
        failure = std::make_exception_ptr(PeerLeft(left.peer(), where() + left.what()));
    } catch (const std::exception& error) {
        failure = std::make_exception_ptr(std::runtime_error(where() + error.what()));
    }
    timeline.sent_bytes = sent_bytes();
    timeline.received_bytes = received_bytes();
    finish_tcp_log(!failure);
    if (failure)
        std::rethrow_exception(failure);
}

asio::awaitable<void> Engine::iterate() {
    Clock::time_point start = start_;
    for (iteration_ = 0; settings_.may_start(iteration_); ++iteration_) {
        schedule_ = iteration_schedule(profile_, workload_, settings_.rank, iteration_);
        order_ = BucketQueues(schedule_);
        runs_.assign(schedule_.buckets.size(), {});
        payload_.prepare(iteration_, schedule_);
        if (tcp_watch_)
            tcp_watch_->make_room(iteration_, std::accumulate(schedule_.buckets.begin(),
                                                              schedule_.buckets.end(), std::size_t{0},
                                                              [this](std::size_t sum, const Bucket& each) {
                                                                  return sum + connections_of(each);
                                                              }));
        const nanoseconds stalls = co_await compute(start);
        const Clock::time_point end = start + schedule_.compute + stalls;
        checked_elements_ += payload_.check(iteration_);
        timeline_->iterations.push_back({iteration_, run_time(start), run_time(end)});
        if (settings_.on_iteration)
            settings_.on_iteration(timeline_->iterations.back());
        start = end;
    }
    co_await timer_.wait_until(start); // the last optimizer step belongs to the run
    if (settings_.on_end)
        settings_.on_end();
}

/// One iteration up to its last wait. Returns how long computing stood still.
asio::awaitable<nanoseconds> Engine::compute(Clock::time_point iteration_start) {
    nanoseconds stalls{0};
    for (const ComputeStep& step : compute_steps(schedule_)) {
        const Clock::time_point due = iteration_start + step.position + stalls;
        if (step.kind == ComputeStep::Kind::launch) {
            next_due_ = due;
            settle_in_gap();
            co_await timer_.wait_until(due, [this] { return in_flight_ > 0; });
            runs_[step.bucket].due = due;
            start(order_.launch(step.bucket));
        } else {
            const Clock::time_point end = co_await completion(step.bucket);
            stalls += std::max<nanoseconds>(nanoseconds{0}, end - due);
        }
    }
    co_return stalls;
}

asio::awaitable<Engine::Clock::time_point> Engine::completion(std::size_t bucket) {
    while (!order_.is_complete(bucket)) {
        std::error_code cancelled;
        completed_.expires_at(Clock::time_point::max());
        co_await completed_.async_wait(asio::redirect_error(asio::use_awaitable, cancelled));
    }
    co_return runs_[bucket].end;
}

/// Starts a bucket, and those behind it in its queue as long as each is complete at once.
void Engine::start(std::optional<std::size_t> bucket) {
    while (bucket) {
        const Bucket& started = schedule_.buckets[*bucket];
        Wire& wire = queue_of(started).wire;
        Run& run = runs_[*bucket];
        run.sent_before = wire.sent_bytes();
        run.received_before = wire.received_bytes();
        ++in_flight_;
        run.begin = Clock::now();
        if (!wire.start(plans_.find(started), started.number,
                        [this, number = *bucket] { start(complete(number)); }))
            return;
        bucket = complete(*bucket);
    }
}

/// Notes that a bucket is complete. Returns the one that is to start now in its queue.
std::optional<std::size_t> Engine::complete(std::size_t bucket) {
    const Bucket& completed = schedule_.buckets[bucket];
    Queue& queue = queue_of(completed);
    Run& run = runs_[bucket];
    run.end = Clock::now();
    timeline_->buckets.push_back(
        {.iteration = iteration_,
         .bucket = completed.number,
         .due_ns = run_time(run.due),
         .start_ns = run_time(run.begin),
         .end_ns = run_time(run.end),
         .late_ns = std::chrono::nanoseconds(run.begin - std::max(run.due, queue.free)).count(),
         .bytes = completed.bytes,
         .sent_bytes = queue.wire.sent_bytes() - run.sent_before,
         .received_bytes = queue.wire.received_bytes() - run.received_before});
    queue.free = run.end;
    --in_flight_;
    note_connections(completed);
    settle_in_gap();
    completed_.cancel();
    return order_.complete(bucket);
}

void Engine::note_connections(const Bucket& bucket) {
    if (!tcp_watch_)
        return;
    for (const auto& [place, operations] : plans_.find(bucket).sends)
        tcp_watch_->note(
            iteration_, bucket.number,
            {place.peer, job_lane(workload_.collective, {bucket.group, bucket.slot}, place.lane)});
}

/// What a bucket's end leaves in the send buffers arrives, or is sent again, in the gap behind it: read late
/// in the gap. Nothing is read where it is so short that this could make the next bucket late: then it counts
/// as the next one's.
void Engine::settle_in_gap() {
    constexpr auto ahead = std::chrono::milliseconds(5); // of the next bucket; after 200 ms TCP sends again
    const nanoseconds gap = next_due_ - Clock::now();
    if (!tcp_watch_ || in_flight_ > 0 || gap < 2 * ahead)
        return;
    gap_.expires_after(gap - ahead);
    gap_.async_wait([this](std::error_code error) {
        if (!error && in_flight_ == 0)
            tcp_watch_->settle();
    });
}

/// The last bytes of a run that completed are still on their way to a peer, or their acknowledgement is on
/// its way back, which a receiver delays by 40 to 200 ms. Of a run that did not, also the buckets that were
/// in flight: they may show why.
void Engine::finish_tcp_log(bool complete) {
    constexpr nanoseconds patience = std::chrono::seconds(1);
    constexpr auto look_every = std::chrono::milliseconds(2);
    if (!tcp_watch_)
        return;
    const auto stopped = [this] { return settings_.stop_signal && settings_.stop_signal() != 0; };
    if (!complete)
        for (const std::size_t bucket : order_.running())
            note_connections(schedule_.buckets[bucket]);
    const auto until = Clock::now() + (complete ? patience : nanoseconds{0});
    while (!tcp_watch_->all_acknowledged() && Clock::now() < until && !stopped())
        std::this_thread::sleep_for(look_every);
    tcp_watch_->settle();
}

void Engine::watch_for_stall(StallWatch watch) {
    watchdog_.expires_after(watch.interval());
    watchdog_.async_wait([this, watch](std::error_code error) mutable {
        if (error)
            return;
        std::optional<Clock::time_point> oldest;
        for (const std::size_t bucket : order_.running())
            oldest = std::min(oldest.value_or(runs_[bucket].begin), runs_[bucket].begin);
        if (const auto quiet = watch.stalled(Clock::now(), sent_bytes() + received_bytes(), oldest))
            throw std::runtime_error(fmt::format("no byte moved for {:.1f} s: {}",
                                                 collectors::in_seconds(*quiet),
                                                 fmt::join(unfinished(), "; ")));
        watch_for_stall(watch);
    });
}

void Engine::watch_for_stop() {
    if (settings_.stop_descriptor < 0)
        return;
    stop_.assign(::dup(settings_.stop_descriptor));
    stop_.async_wait(asio::posix::stream_descriptor::wait_read, [this](std::error_code error) {
        if (error)
            return;
        for (auto& [id, queue] : queues_)
            queue.wire.hear(); // launchers stop all ranks when one has died: then that is what happened
        throw Stopped(settings_.stop_signal());
    });
}

std::int64_t Engine::run_time(Clock::time_point moment) const {
    return std::chrono::nanoseconds(moment - start_).count();
}

std::uint64_t Engine::sent_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [id, queue] : queues_)
        bytes += queue.wire.sent_bytes();
    return bytes;
}

std::uint64_t Engine::received_bytes() const {
    std::uint64_t bytes = 0;
    for (const auto& [id, queue] : queues_)
        bytes += queue.wire.received_bytes();
    return bytes;
}

/// Of each bucket in flight: what has not come or gone.
std::vector<std::string> Engine::unfinished() const {
    std::vector<std::string> texts;
    for (const std::size_t bucket : order_.running()) {
        const Bucket& running = schedule_.buckets[bucket];
        texts.push_back(fmt::format("bucket {}: {}", running.number,
                                    queues_.at({running.group, running.slot}).wire.unfinished()));
    }
    return texts;
}

/// "rank 1 on a (10.0.0.2:4000, eth0), iteration 3, bucket 2 and 4: "
std::string Engine::where() const {
    std::vector<std::uint32_t> numbers;
    for (const std::size_t bucket : order_.running())
        numbers.push_back(schedule_.buckets[bucket].number);
    return fmt::format(
        "{}, iteration {}{}{}: ", endpoints_.at(static_cast<std::size_t>(settings_.rank)).text(), iteration_,
        numbers.empty() ? "" : ", bucket ", fmt::join(numbers, " and "));
}

} // namespace generator
