#include "generator/fluid_model.hpp"

#include "collectors/units.hpp"
#include "generator/failure.hpp"

#include <algorithm>
#include <stdexcept>

namespace generator {
namespace {

/// Seconds. Instants closer than this are one: rounding of double precision, far below a byte's time.
constexpr double same_instant = 1e-12;

} // namespace

FluidModel::FluidModel(FluidJob job)
    : job_(std::move(job)), network_(job_.topology), ranks_(job_.topology.hosts.size()) {
    for (int number = 0; number < static_cast<int>(ranks_.size()); ++number)
        begin_iteration(number);
}

void FluidModel::run_to_end_of(std::uint32_t iteration) {
    while (ranks_ended_.size() <= iteration || ranks_ended_[iteration] < ranks_.size()) {
        if (events_.empty())
            throw_deadlock();
        now_ = std::max(now_, events_.top().time);
        while (!events_.empty() && events_.top().time <= now_ + same_instant) {
            const Event event = events_.top();
            events_.pop();
            handle(event);
        }
        share_network();
    }
}

void FluidModel::push(Event event) {
    event.order = pushed_++;
    events_.push(event);
}

void FluidModel::handle(const Event& event) {
    switch (event.kind) {
    case Event::Kind::compute:
        return compute(event.rank);
    case Event::Kind::end_bucket:
        return end_bucket(event.rank, event.id.collective);
    case Event::Kind::transfer:
        break;
    }
    if (event.id.collective < first_collective_)
        return;
    if (collective(event.id.collective).transfers[event.id.transfer].version == event.version)
        reach(event.id);
}

void FluidModel::begin_iteration(int number) {
    Rank& self = rank(number);
    if (self.iteration == job_.iterations)
        return;
    if (iterations_.size() <= self.iteration) {
        iterations_.emplace_back(ranks_.size());
        ranks_ended_.push_back(0);
    }
    self.schedule = job_.schedule(number, self.iteration);
    self.steps = compute_steps(self.schedule);
    self.step = 0;
    self.order = BucketQueues(self.schedule);
    self.ends.assign(self.schedule.buckets.size(), 0);
    self.stalls = 0;
    self.last_bucket_end = self.start;
    push({.time = std::max(now_, self.start), .kind = Event::Kind::compute, .rank = number, .id = {}});
}

/// Goes on until computing has to wait: for the time of a launch, or for a bucket.
void FluidModel::compute(int number) {
    Rank& self = rank(number);
    while (self.step < self.steps.size()) {
        const ComputeStep& step = self.steps[self.step];
        const double due = self.start + collectors::in_seconds(step.position) + self.stalls;
        if (step.kind == ComputeStep::Kind::launch) {
            if (due > now_ + same_instant)
                return push({.time = due, .kind = Event::Kind::compute, .rank = number, .id = {}});
            if (const auto first = self.order.launch(step.bucket))
                start_bucket(number, *first);
        } else {
            if (!self.order.is_complete(step.bucket))
                return; // its end will call again
            self.stalls += std::max(0.0, self.ends[step.bucket] - due);
        }
        ++self.step;
    }
    end_iteration(number);
}

void FluidModel::start_bucket(int number, std::size_t bucket) {
    const Rank& self = rank(number);
    const Bucket& started = self.schedule.buckets[bucket];
    const std::uint64_t id = join_collective(self.iteration, started);
    const TransferPlan& plan = *collective(id).plan;
    Part& part = collective(id).parts[static_cast<std::size_t>(number)];
    part = {true, bucket, plan.transfers_of_rank[static_cast<std::size_t>(number)], now_};
    if (job_.on_start)
        job_.on_start(number, self.iteration, started.number, now_);
    if (part.open_transfers == 0)
        push({.time = now_, .kind = Event::Kind::end_bucket, .rank = number, .id = {id, 0}});
    for (const std::uint32_t transfer : plan.first[static_cast<std::size_t>(number)])
        try_to_move({id, transfer});
}

std::uint64_t FluidModel::join_collective(std::uint32_t iteration, const Bucket& bucket) {
    const auto [known, is_new] =
        running_.try_emplace({iteration, bucket.number}, first_collective_ + collectives_.size());
    if (is_new) {
        Collective& running = collectives_.emplace_back();
        running.kind = bucket;
        running.iteration = iteration;
        running.number = bucket.number;
        running.plan = &job_.plan(bucket);
        running.transfers.resize(running.plan->transfers.size());
        running.parts.resize(ranks_.size());
        running.ranks_left = running.plan->participants;
        for (const TransferConnection& connection : running.plan->connections) {
            const auto [place, added] =
                connection_index_.try_emplace({{bucket.group, bucket.slot}, connection}, connections_.size());
            if (added)
                connections_.push_back({connection.from, connection.to, connection.between_blocks, {}});
            running.connections.push_back(place->second);
        }
    }
    if (collective(known->second).kind != static_cast<const BucketKind&>(bucket))
        throw std::logic_error("the ranks disagree on their buckets");
    return known->second;
}

void FluidModel::end_bucket(int number, std::uint64_t id) {
    Rank& self = rank(number);
    Collective& ended = collective(id);
    const std::size_t bucket = ended.parts[static_cast<std::size_t>(number)].bucket;
    if (--ended.ranks_left == 0)
        running_.erase({ended.iteration, ended.number});
    while (!collectives_.empty() && collectives_.front().ranks_left == 0) {
        collectives_.pop_front();
        ++first_collective_;
    }
    self.ends[bucket] = now_;
    self.last_bucket_end = now_;
    if (const auto next = self.order.complete(bucket))
        start_bucket(number, *next);
    const ComputeStep& step = self.steps[self.step];
    if (step.kind == ComputeStep::Kind::wait && step.bucket == bucket)
        compute(number);
}

void FluidModel::end_iteration(int number) {
    Rank& self = rank(number);
    const double end = self.start + collectors::in_seconds(self.schedule.compute) + self.stalls;
    iterations_[self.iteration][static_cast<std::size_t>(number)] = {self.start, self.last_bucket_end, end};
    ++ranks_ended_[self.iteration];
    ++self.iteration;
    self.start = end;
    begin_iteration(number);
}

/// The user's mistake when some rank has not come to what others wait in; ours when a plan waits for itself.
void FluidModel::throw_deadlock() const {
    constexpr std::size_t shown = 4;
    std::string text;
    std::size_t waiting_ranks = 0;
    for (int number = 0; number < static_cast<int>(ranks_.size()); ++number)
        if (ranks_[static_cast<std::size_t>(number)].iteration < job_.iterations && ++waiting_ranks <= shown)
            text += (text.empty() ? "" : "; ") + waiting(number);
    if (waiting_ranks > shown)
        text += "; and " + std::to_string(waiting_ranks - shown) + " more ranks";
    text = "ranks wait for each other for ever: " + text;
    const bool everybody_came =
        !running_.empty() &&
        std::all_of(collectives_.begin(), collectives_.end(), [](const Collective& running) {
            return running.ranks_left == 0 ||
                   static_cast<std::size_t>(std::count_if(running.parts.begin(), running.parts.end(),
                                                          [](const Part& part) { return part.started; })) ==
                       running.plan->participants;
        });
    if (everybody_came)
        throw std::logic_error(text);
    throw UserError(text + "; computing must not wait for a bucket that another rank launches only after "
                           "waiting for this one");
}

/// "rank 0 waits for bucket 1 (send) in iteration 0, has started bucket 0 (send; rank 1 has not)".
std::string FluidModel::waiting(int number) const {
    const Rank& self = ranks_[static_cast<std::size_t>(number)];
    const auto name = [](std::uint32_t bucket, generator::Collective kind) {
        return "bucket " + std::to_string(bucket) + " (" + std::string(collective_name(kind));
    };
    const Bucket& needed = self.schedule.buckets[self.steps[self.step].bucket];
    std::string text = "rank " + std::to_string(number) + " waits for " +
                       name(needed.number, needed.collective) + ") in iteration " +
                       std::to_string(self.iteration);
    if (!self.order.is_running(self.steps[self.step].bucket))
        text += ", which comes after others in its queue";
    for (const std::size_t bucket : self.order.running()) {
        const Bucket& running = self.schedule.buckets[bucket];
        const Collective& joined =
            collectives_[running_.at({self.iteration, running.number}) - first_collective_];
        text += ", has started " + name(running.number, running.collective);
        for (std::size_t peer = 0; peer < ranks_.size(); ++peer)
            if (joined.plan->transfers_of_rank[peer] > 0 && !joined.parts[peer].started)
                text += "; rank " + std::to_string(peer) + " has not";
        text += ")";
    }
    return text;
}

} // namespace generator
