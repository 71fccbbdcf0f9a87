#include "generator/plan.hpp"

namespace generator {
namespace {

using Indices = std::vector<std::uint32_t>;
using Kind = Operation::Kind;

constexpr ByteRange signal{0, signal_bytes};

std::uint32_t append(RankPlan& plan, Operation operation) {
    plan.operations.push_back(std::move(operation));
    return static_cast<std::uint32_t>(plan.operations.size() - 1);
}

/// The server takes the workers' gradients in; returns its receives. A sequenced worker waits for a signal,
/// which it gets when the gradients of the one before have been added.
Indices collect(RankPlan& plan, int world_size, ByteRange bucket, Service service) {
    Indices receives;
    for (int worker = 1; worker < world_size; ++worker) {
        if (service == Service::sequenced)
            append(plan, {.kind = Kind::send_signal,
                          .peer = worker,
                          .range = signal,
                          .after = receives.empty() ? Indices{} : Indices{receives.back()},
                          .behind = {}});
        receives.push_back(append(
            plan, {.kind = Kind::receive_add, .peer = worker, .range = bucket, .after = {}, .behind = {}}));
    }
    return receives;
}

/// The server sends the bucket to all workers: once `sums` are complete, the next worker when the one before
/// has said that it has everything; or to all of them at once, segment by segment behind the sums.
void distribute(RankPlan& plan, int world_size, ByteRange bucket, Service service, const Indices& sums) {
    const bool sequenced = service == Service::sequenced;
    Indices before = sums.empty() ? Indices{} : Indices{sums.back()};
    for (int worker = 1; worker < world_size; ++worker) {
        append(plan, {.kind = Kind::send,
                      .peer = worker,
                      .range = bucket,
                      .after = sequenced ? before : Indices{},
                      .behind = sequenced ? Indices{} : sums});
        if (sequenced && worker + 1 < world_size)
            before = {append(
                plan,
                {.kind = Kind::receive_signal, .peer = worker, .range = signal, .after = {}, .behind = {}})};
    }
}

void push(RankPlan& plan, ByteRange bucket, Service service) {
    Indices granted;
    if (service == Service::sequenced)
        granted = {append(
            plan, {.kind = Kind::receive_signal, .peer = 0, .range = signal, .after = {}, .behind = {}})};
    append(plan, {.kind = Kind::send, .peer = 0, .range = bucket, .after = granted, .behind = {}});
}

void pull(RankPlan& plan, int rank, int world_size, ByteRange bucket, Service service) {
    const std::uint32_t received =
        append(plan, {.kind = Kind::receive_copy, .peer = 0, .range = bucket, .after = {}, .behind = {}});
    if (service == Service::sequenced && rank + 1 < world_size)
        append(plan,
               {.kind = Kind::send_signal, .peer = 0, .range = signal, .after = {received}, .behind = {}});
}

} // namespace

RankPlan server_all_reduce(int rank, int world_size, std::uint64_t bytes, Service service) {
    RankPlan plan;
    const ByteRange bucket{0, bytes};
    if (bytes == 0)
        return plan;
    if (rank == 0) {
        distribute(plan, world_size, bucket, service, collect(plan, world_size, bucket, service));
    } else {
        push(plan, bucket, service);
        pull(plan, rank, world_size, bucket, service);
    }
    return plan;
}

RankPlan server_broadcast(int rank, int world_size, std::uint64_t bytes, Service service) {
    RankPlan plan;
    const ByteRange bucket{0, bytes};
    if (bytes == 0)
        return plan;
    if (rank == 0)
        distribute(plan, world_size, bucket, service, {});
    else
        pull(plan, rank, world_size, bucket, service);
    return plan;
}

} // namespace generator
