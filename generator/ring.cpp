#include "generator/plan_forms.hpp"
#include "generator/plan_parts.hpp"

#include <utility>

namespace generator {
namespace {

/// A rank's place in a ring that hands chunks to the right.
struct Ring {
    Ring(int own_position, int ring_size, std::uint64_t bytes, std::uint64_t element_bytes)
        : position(own_position), size(ring_size),
          chunks(bytes, element_bytes, static_cast<std::uint64_t>(ring_size)) {}

    int right() const { return position + 1 == size ? 0 : position + 1; }
    int left() const { return before(position); }
    int before(int number) const { return number == 0 ? size - 1 : number - 1; }

    int position;
    int size;
    Partition chunks;
};

/// N-1 steps. In each a rank sends the chunk that it received in the step before, first `chunk`; chunk
/// numbers go down by one each step. The first send is behind `received`; returns the last receive.
IndexList walk(RankPlan& plan, const Ring& ring, Operation::Kind receive, int chunk, IndexList received) {
    ByteRange range = ring.chunks[static_cast<std::uint64_t>(chunk)];
    for (int step = 0; step < ring.size - 1; ++step) {
        append(plan, Operation::Kind::send, ring.right(), range, std::move(received));
        chunk = ring.before(chunk);
        range = ring.chunks[static_cast<std::uint64_t>(chunk)];
        received = append(plan, receive, ring.left(), range);
    }
    return received;
}

RankPlan with_room_for(int transfers) {
    RankPlan plan;
    plan.operations.reserve(static_cast<std::size_t>(transfers));
    return plan;
}

} // namespace

RankPlan ring_all_reduce(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan = with_room_for(4 * (size - 1));
    const Ring ring{position, size, bytes, element_bytes};
    // After the first walk, in which received chunks are added to the rank's own share, chunk position+1 is
    // complete here; the same walk once more hands complete chunks around.
    const IndexList sum = walk(plan, ring, Operation::Kind::receive_add, position, {});
    walk(plan, ring, Operation::Kind::receive_copy, ring.right(), sum);
    return plan;
}

RankPlan ring_reduce_scatter(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan = with_room_for(2 * (size - 1));
    const Ring ring{position, size, bytes, element_bytes};
    walk(plan, ring, Operation::Kind::receive_add, ring.left(), {});
    return plan;
}

RankPlan ring_all_gather(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes) {
    RankPlan plan = with_room_for(2 * (size - 1));
    walk(plan, {position, size, bytes, element_bytes}, Operation::Kind::receive_copy, position, {});
    return plan;
}

RankPlan ring_broadcast(int position, int size, std::uint64_t bytes) {
    RankPlan plan;
    const ByteRange buffer{0, bytes};
    IndexList received;
    if (position > 0)
        received = append(plan, Operation::Kind::receive_copy, position - 1, buffer);
    if (position < size - 1)
        append(plan, Operation::Kind::send, position + 1, buffer, received);
    return plan;
}

} // namespace generator
