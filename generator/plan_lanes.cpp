#include "generator/plan_lanes.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace generator {
namespace {

/// Where the strips of an operation are in the new plan.
struct Place {
    std::uint32_t first = 0;
    std::uint32_t count = 0;
};

IndexList all_strips(const IndexList& operations, const std::vector<Place>& places) {
    IndexList strips;
    for (const std::uint32_t operation : operations)
        for (std::uint32_t i = 0; i < places[operation].count; ++i)
            strips.push_back(places[operation].first + i);
    return strips;
}

IndexList same_strips(const IndexList& operations, const std::vector<Place>& places, std::uint32_t strip) {
    IndexList strips;
    for (const std::uint32_t operation : operations)
        strips.push_back(places[operation].first + strip);
    return strips;
}

} // namespace

RankPlan striped(const RankPlan& plan, std::uint32_t lanes, const Cut& cut) {
    RankPlan result;
    std::vector<Place> places;
    std::map<std::tuple<int, std::uint32_t, bool>, std::uint64_t> strips_before; // peer, lane, sends
    for (const Operation& operation : plan.operations) {
        std::uint64_t& before = strips_before[{operation.peer, operation.lane, operation.is_send()}];
        const std::vector<Strip> strips = operation.is_signal()
                                              ? std::vector<Strip>{{0, {0, operation.range.bytes}}}
                                              : cut(operation.range.bytes, before);
        before += operation.is_signal() ? 0 : strips.size();
        places.push_back({static_cast<std::uint32_t>(result.operations.size()),
                          static_cast<std::uint32_t>(strips.size())});
        const IndexList after = all_strips(operation.after, places);
        for (std::uint32_t i = 0; i < strips.size(); ++i)
            result.operations.push_back(
                {.kind = operation.kind,
                 .peer = operation.peer,
                 .range = {operation.range.offset + strips[i].part.offset, strips[i].part.bytes},
                 .lane = operation.lane * lanes + strips[i].lane,
                 .after = after,
                 .behind = same_strips(operation.behind, places, i)});
    }
    return result;
}

Cut equal_strips(std::uint32_t lanes, std::uint64_t element_bytes) {
    return [=](std::uint64_t bytes, std::uint64_t) {
        std::vector<Strip> strips;
        for (std::uint32_t lane = 0; lane < lanes; ++lane)
            if (const ByteRange part = partition(bytes, element_bytes, lanes, lane); part.bytes > 0)
                strips.push_back({lane, part});
        return strips;
    };
}

Cut socket_pieces(std::uint32_t sockets, std::uint64_t element_bytes, std::uint64_t least_piece_bytes) {
    return [=](std::uint64_t bytes, std::uint64_t strips_before) {
        const std::uint64_t share = bytes / sockets + (bytes % sockets == 0 ? 0 : 1);
        const std::uint64_t elements =
            (std::max(share, least_piece_bytes) + element_bytes - 1) / element_bytes;
        const std::uint64_t piece = elements * element_bytes;
        std::vector<Strip> strips;
        for (std::uint64_t offset = 0; offset < bytes; offset += piece)
            strips.push_back({static_cast<std::uint32_t>((strips_before + strips.size()) % sockets),
                              {offset, std::min(piece, bytes - offset)}});
        return strips;
    };
}

} // namespace generator
