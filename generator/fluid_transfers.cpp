// How single transfers of the fluid model move; iterations and buckets are in fluid_model.cpp.
#include "generator/fluid_model.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace generator {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
/// Seconds. A follower that would have to wait for less does not wait.
constexpr double negligible_wait = 1e-11;

/// The end of the segment that begins at or contains `position`.
double segment_end(const Transfer& transfer, double position) {
    const auto segment = static_cast<double>(transfer.segment_bytes);
    return std::min(static_cast<double>(transfer.bytes), (std::floor(position / segment) + 1) * segment);
}

} // namespace

/// The event that was projected has come: all bytes are through, those that were released are, or a transfer
/// that waited may go on.
void FluidModel::reach(Id id) {
    Progress& progress = collective(id.collective).transfers[id.transfer];
    if (progress.moving) {
        settle(id);
        progress.moved = progress.stop_at;
        if (!progress.corners.empty())
            progress.corners.back().moved = progress.stop_at;
        pause(id);
        const Transfer& transfer = collective(id.collective).plan->transfers[id.transfer];
        if (progress.moved >= static_cast<double>(transfer.bytes))
            return finish(id);
    }
    try_to_move(id);
}

/// Starts a transfer, or notes when that will be possible. Called again whenever something that it waits for
/// has changed.
void FluidModel::try_to_move(Id id) {
    Collective& running = collective(id.collective);
    const Transfer& transfer = running.plan->transfers[id.transfer];
    Progress& progress = running.transfers[id.transfer];
    if (progress.moving || progress.done)
        return;
    for (const int number : {transfer.from, transfer.to})
        if (!running.parts[static_cast<std::size_t>(number)].started)
            return;
    if (!transfer.first_on_connection && !progress.head)
        return;
    double when = now_;
    for (const TransferCondition& condition : transfer.after) {
        const Progress& before = running.transfers[condition.transfer];
        if (!before.done)
            return;
        when = std::max(when, before.ended + (condition.delivered ? job_.latency : 0));
    }
    when = std::max(when, released(running, id.transfer, progress.moved));
    ++progress.version;
    if (when == never)
        return;
    if (when > now_ + negligible_wait)
        return push({.time = when, .rank = 0, .id = id, .version = progress.version});
    progress.moving = true;
    progress.since = now_;
    progress.stream = network_.add(transfer.from, transfer.to,
                                   running.plan->connections[transfer.connection].between_blocks);
    if (carried_.size() <= progress.stream)
        carried_.resize(progress.stream + 1);
    carried_[progress.stream] = id;
}

void FluidModel::pause(Id id) {
    Progress& progress = collective(id.collective).transfers[id.transfer];
    network_.remove(progress.stream);
    progress.moving = false;
    progress.rate = 0;
    tell_followers(id);
}

void FluidModel::finish(Id id) {
    Collective& running = collective(id.collective);
    const Transfer& transfer = running.plan->transfers[id.transfer];
    Progress& progress = running.transfers[id.transfer];
    progress.done = true;
    progress.ended = now_;
    ++progress.version;
    finish_for(id.collective, transfer.from, now_);
    finish_for(id.collective, transfer.to, now_ + job_.latency);
    tell_followers(id);
    if (transfer.next_on_connection) {
        running.transfers[*transfer.next_on_connection].head = true;
        try_to_move({id.collective, *transfer.next_on_connection});
    }
}

void FluidModel::finish_for(std::uint64_t number, int rank_number, double when) {
    Part& part = collective(number).parts[static_cast<std::size_t>(rank_number)];
    part.complete = std::max(part.complete, when);
    if (--part.open_transfers == 0)
        push(
            {.time = part.complete, .kind = Event::Kind::end_bucket, .rank = rank_number, .id = {number, 0}});
}

/// New rates for streams that share a port with one that came or went. May set followers going, which again
/// changes ports, until nothing changes.
void FluidModel::share_network() {
    act_on_news();
    for (auto changed = network_.share(); !changed.empty(); changed = network_.share()) {
        for (const FairNetwork::Stream stream : changed) {
            const Id id = carried_[stream];
            settle(id);
            collective(id.collective).transfers[id.transfer].rate = network_.rate(stream);
        }
        for (const FairNetwork::Stream stream : changed) {
            project(carried_[stream]);
            tell_followers(carried_[stream]);
        }
        act_on_news();
    }
}

/// Moves the bytes of a transfer up to now at the rate that held since, and writes them down.
void FluidModel::settle(Id id) {
    Collective& running = collective(id.collective);
    Progress& progress = running.transfers[id.transfer];
    const double elapsed = now_ - progress.since;
    if (progress.rate > 0 && elapsed > 0) {
        const double bytes = progress.rate * elapsed;
        std::vector<Flow>& flows =
            connections_[running.connections[running.plan->transfers[id.transfer].connection]].flows;
        const bool goes_on = !flows.empty() && progress.since - flows.back().end < negligible_wait &&
                             std::abs(flows.back().rate() / progress.rate - 1) < 1e-9;
        if (goes_on) {
            flows.back().end = now_;
            flows.back().bytes += bytes;
        } else {
            flows.push_back({progress.since, now_, bytes});
        }
        progress.moved += bytes;
    }
    progress.since = now_;
    if (!progress.corners.empty() && progress.corners.back().time == now_)
        progress.corners.back().moved = progress.moved;
    else
        progress.corners.push_back({now_, progress.moved});
}

/// They act when all that changes at this instant has changed: a transfer that follows a thousand others,
/// which change together, looks at them once and not a thousand times.
void FluidModel::tell_followers(Id id) {
    Collective& running = collective(id.collective);
    for (const std::uint32_t follower : running.plan->transfers[id.transfer].followers) {
        if (!running.transfers[follower].has_news)
            news_.push_back({id.collective, follower});
        running.transfers[follower].has_news = true;
    }
}

void FluidModel::act_on_news() {
    for (const Id id : std::exchange(news_, {})) {
        if (id.collective < first_collective_)
            continue;
        Progress& progress = collective(id.collective).transfers[id.transfer];
        progress.has_news = false;
        if (progress.moving && progress.rate > 0)
            project(id);
        else
            try_to_move(id);
    }
}

/// Where a moving transfer will stop if no rate changes: at its end, or at bytes that have not been released.
void FluidModel::project(Id id) {
    Collective& running = collective(id.collective);
    const Transfer& transfer = running.plan->transfers[id.transfer];
    Progress& progress = running.transfers[id.transfer];
    progress.stop_at = static_cast<double>(transfer.bytes);
    for (const std::uint32_t leader : transfer.behind)
        progress.stop_at = std::min(progress.stop_at, stop_behind(running, id.transfer, leader));
    const double when = progress.since + (progress.stop_at - progress.moved) / progress.rate;
    push({.time = std::max(when, now_), .rank = 0, .id = id, .version = ++progress.version});
}

/// The first segment of `leader` that will not have been handed over when the transfer comes to it; the end
/// of the transfer if there is none.
double FluidModel::stop_behind(const Collective& running, std::uint32_t transfer,
                               std::uint32_t leader) const {
    const Transfer& lead = running.plan->transfers[leader];
    const Progress& ahead = running.transfers[leader];
    const Progress& progress = running.transfers[transfer];
    const auto end = static_cast<double>(lead.bytes);
    if (ahead.done && ahead.ended + job_.latency <= now_)
        return end;
    // Rounded: a position a hair below a boundary is the boundary.
    const double position = std::floor(progress.moved + 1e-3);
    for (double next = segment_end(lead, position); next < end; next = segment_end(lead, next)) {
        const double comes = progress.since + (next - progress.moved) / progress.rate;
        const double handed_over = arrival(running, leader, segment_end(lead, next)) + job_.latency;
        if (handed_over > comes + negligible_wait)
            return next;
        if (ahead.moving && ahead.rate >= progress.rate && next >= ahead.moved)
            return end; // it runs away from here on
    }
    return end;
}

/// When the bytes that follow `position` may go.
double FluidModel::released(const Collective& running, std::uint32_t transfer, double position) const {
    double when = 0;
    for (const std::uint32_t leader : running.plan->transfers[transfer].behind) {
        const double needed = segment_end(running.plan->transfers[leader], std::floor(position + 1e-3));
        when = std::max(when, arrival(running, leader, needed) + job_.latency);
    }
    return when;
}

/// When `position` bytes of a transfer have arrived, if its rate does not change.
double FluidModel::arrival(const Collective& running, std::uint32_t transfer, double position) const {
    const Progress& progress = running.transfers[transfer];
    if (progress.moved < position)
        return progress.rate > 0 ? progress.since + (position - progress.moved) / progress.rate : never;
    const auto after =
        std::lower_bound(progress.corners.begin(), progress.corners.end(), position,
                         [](const Corner& corner, double bytes) { return corner.moved < bytes; });
    if (after == progress.corners.end())
        return progress.since;
    if (after == progress.corners.begin() || after->moved == position)
        return after->time;
    const Corner& before = *(after - 1);
    return before.time +
           (position - before.moved) * (after->time - before.time) / (after->moved - before.moved);
}

} // namespace generator
