#include "generator/fluid_model.hpp"

#include <algorithm>
#include <stdexcept>

namespace generator {
namespace {

/// Seconds. Instants closer than this are one: rounding of double precision, far below a byte's time.
constexpr double same_instant = 1e-12;

double seconds(nanoseconds duration) {
    return static_cast<double>(duration.count()) * 1e-9;
}

} // namespace

FluidModel::FluidModel(FluidJob job)
    : job_(std::move(job)), network_(job_.hosts, job_.bytes_per_second), ranks_(job_.hosts.size()) {
    for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
        begin_iteration(rank);
}

void FluidModel::run_to_end_of(std::uint32_t iteration) {
    while (ranks_ended_.size() <= iteration || ranks_ended_[iteration] < ranks_.size()) {
        if (events_.empty())
            throw std::logic_error("the ranks of a plan wait for each other");
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
    case Event::Kind::begin_bucket:
        return begin_bucket(event.rank);
    case Event::Kind::end_bucket:
        return end_bucket(event.rank);
    case Event::Kind::transfer:
        break;
    }
    if (event.id.collective < first_collective_)
        return;
    if (collective(event.id.collective).transfers[event.id.transfer].version == event.version)
        reach(event.id);
}

void FluidModel::begin_iteration(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (rank.iteration == job_.iterations)
        return;
    if (iterations_.size() <= rank.iteration) {
        iterations_.emplace_back(ranks_.size());
        ranks_ended_.push_back(0);
    }
    rank.schedule = job_.schedule(number, rank.iteration);
    rank.bucket = 0;
    rank.queue_free = rank.start;
    await_bucket(number);
}

/// As in the engine: a bucket starts when it is due and the one before is complete.
void FluidModel::await_bucket(int number) {
    const Rank& rank = ranks_[static_cast<std::size_t>(number)];
    if (rank.bucket == rank.schedule.buckets.size())
        return end_iteration(number);
    const double due = rank.start + seconds(rank.schedule.buckets[rank.bucket].ready_after);
    push({.time = std::max(due, rank.queue_free),
          .kind = Event::Kind::begin_bucket,
          .rank = number,
          .id = {}});
}

void FluidModel::begin_bucket(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    const std::uint64_t id = rank.begun++;
    const TransferPlan& plan = *join_collective(id, rank.schedule.buckets[rank.bucket]).plan;
    rank.open_transfers = plan.transfers_of_rank[static_cast<std::size_t>(number)];
    rank.complete = now_;
    if (rank.open_transfers == 0)
        push({.time = now_, .kind = Event::Kind::end_bucket, .rank = number, .id = {}});
    for (const std::uint32_t transfer : plan.first[static_cast<std::size_t>(number)])
        try_to_move({id, transfer});
}

FluidModel::Collective& FluidModel::join_collective(std::uint64_t number, const Bucket& bucket) {
    if (number == first_collective_ + collectives_.size()) {
        Collective& running = collectives_.emplace_back();
        running.bucket = bucket;
        running.plan = &job_.plan(bucket);
        running.transfers.resize(running.plan->transfers.size());
        running.ranks_left = ranks_.size();
        for (const auto& connection : running.plan->connections) {
            const auto [known, added] = connection_index_.try_emplace(connection, connections_.size());
            if (added)
                connections_.push_back({connection.first, connection.second, {}});
            running.connections.push_back(known->second);
        }
    }
    Collective& running = collective(number);
    if (running.bucket.collective != bucket.collective || running.bucket.bytes != bucket.bytes)
        throw std::logic_error("the ranks disagree on their buckets");
    return running;
}

void FluidModel::end_bucket(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    --collective(rank.begun - 1).ranks_left;
    while (!collectives_.empty() && collectives_.front().ranks_left == 0) {
        collectives_.pop_front();
        ++first_collective_;
    }
    rank.queue_free = now_;
    ++rank.bucket;
    await_bucket(number);
}

void FluidModel::end_iteration(int number) {
    Rank& rank = ranks_[static_cast<std::size_t>(number)];
    double stall = 0;
    if (!rank.schedule.buckets.empty())
        stall =
            std::max(0.0, rank.queue_free - (rank.start + seconds(rank.schedule.buckets.back().needed_at)));
    const double end = rank.start + seconds(rank.schedule.compute) + stall;
    iterations_[rank.iteration][static_cast<std::size_t>(number)] = {rank.start, rank.queue_free, end};
    ++ranks_ended_[rank.iteration];
    ++rank.iteration;
    rank.start = end;
    begin_iteration(number);
}

} // namespace generator
