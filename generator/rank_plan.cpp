#include "generator/failure.hpp"
#include "generator/plan_forms.hpp"
#include "generator/plan_lanes.hpp"
#include "generator/plan_parts.hpp"

#include <fmt/format.h>
#include <map>

namespace generator {
namespace {

RankPlan all_reduce(const CollectiveCall& call, int position, int size) {
    switch (call.algorithm) {
    case Algorithm::ring:
        break;
    case Algorithm::server:
        return server_all_reduce(position, size, call.bytes, call.service, call.server);
    case Algorithm::sharded_server:
        return sharded_all_reduce(position, size, call.bytes, call.element_bytes);
    case Algorithm::halving_doubling:
        return halving_doubling_all_reduce(position, size, call.bytes, call.element_bytes);
    case Algorithm::double_binary_tree:
        return tree_all_reduce(position, size, call.bytes, call.element_bytes);
    case Algorithm::hierarchical:
        return hierarchical_all_reduce(position, size, call.bytes, call.element_bytes, call.hosts);
    }
    return ring_all_reduce(position, size, call.bytes, call.element_bytes);
}

RankPlan reduce_scatter(const CollectiveCall& call, int position, int size) {
    switch (call.algorithm) {
    case Algorithm::sharded_server:
        return sharded_reduce_scatter(position, size, call.bytes, call.element_bytes);
    case Algorithm::halving_doubling:
        return halving_reduce_scatter(position, size, call.bytes, call.element_bytes);
    case Algorithm::ring:
    case Algorithm::server:
    case Algorithm::double_binary_tree:
    case Algorithm::hierarchical:
        break;
    }
    return ring_reduce_scatter(position, size, call.bytes, call.element_bytes);
}

RankPlan all_gather(const CollectiveCall& call, int position, int size) {
    switch (call.algorithm) {
    case Algorithm::sharded_server:
        return sharded_all_gather(position, size, call.bytes, call.element_bytes);
    case Algorithm::halving_doubling:
        return doubling_all_gather(position, size, call.bytes, call.element_bytes);
    case Algorithm::ring:
    case Algorithm::server:
    case Algorithm::double_binary_tree:
    case Algorithm::hierarchical:
        break;
    }
    return ring_all_gather(position, size, call.bytes, call.element_bytes);
}

RankPlan broadcast(const CollectiveCall& call, int position, int size) {
    switch (call.algorithm) {
    case Algorithm::server:
        return server_broadcast(position, size, call.bytes, call.service);
    case Algorithm::double_binary_tree:
        return tree_broadcast(position, size, call.bytes, call.element_bytes);
    case Algorithm::ring:
    case Algorithm::sharded_server:
    case Algorithm::halving_doubling:
    case Algorithm::hierarchical:
        break;
    }
    return ring_broadcast(position, size, call.bytes);
}

/// On one lane.
RankPlan single_plan(const CollectiveCall& call, int position, int size) {
    switch (call.collective) {
    case Collective::all_reduce:
        return all_reduce(call, position, size);
    case Collective::reduce_scatter:
        return reduce_scatter(call, position, size);
    case Collective::all_gather:
        return all_gather(call, position, size);
    case Collective::broadcast:
        return broadcast(call, position, size);
    case Collective::all_to_all:
        return pairwise_all_to_all(position, size, call.bytes, call.element_bytes);
    case Collective::send:
        break;
    }
    return send_plan(position, call.bytes);
}

/// Whether the buffer is the same for all ranks from its first to its last byte, so that any part of it can
/// have a plan of its own. Where ranks have chunks of their own, each chunk has to be split instead.
bool splits_anywhere(Collective collective) {
    return collective == Collective::all_reduce || collective == Collective::broadcast ||
           collective == Collective::send;
}

RankPlan channel_plans(const CollectiveCall& call, int position, int size) {
    if (call.channels == 1)
        return single_plan(call, position, size);
    if (!splits_anywhere(call.collective))
        return striped(single_plan(call, position, size), call.channels,
                       equal_strips(call.channels, call.element_bytes));
    RankPlan plan;
    for (std::uint32_t channel = 0; channel < call.channels; ++channel) {
        const ByteRange part = partition(call.bytes, call.element_bytes, call.channels, channel);
        CollectiveCall part_call = call;
        part_call.bytes = part.bytes;
        append_part(plan, single_plan(part_call, position, size), part.offset, channel);
    }
    return plan;
}

} // namespace

RankPlan rank_plan(const CollectiveCall& call, int position, int size) {
    check_call(call, size);
    RankPlan plan = channel_plans(call, position, size);
    if (call.sockets == 1)
        return plan;
    return striped(plan, call.sockets,
                   socket_pieces(call.sockets, call.element_bytes, least_socket_piece_bytes));
}

std::uint64_t buffer_bytes(const CollectiveCall& call, int position, int size) {
    if (call.collective != Collective::all_to_all)
        return call.bytes;
    const auto n = static_cast<std::uint64_t>(size);
    return call.bytes +
           n * partition(call.bytes, call.element_bytes, n, static_cast<std::uint64_t>(position)).bytes;
}

} // namespace generator
