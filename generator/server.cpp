#include "generator/plan_forms.hpp"
#include "generator/plan_parts.hpp"

namespace generator {
namespace {

using Kind = Operation::Kind;

constexpr ByteRange signal{0, signal_bytes};

/// Who serves whom: workers are numbered 1 .. size - 1 in ring order from the server on.
struct Star {
    int server = 0;
    int size = 1;
    ByteRange buffer;
    Service service = Service::sequenced;

    int position(int worker) const { return (server + worker) % size; }
    int worker(int position) const { return (position + size - server) % size; }
    bool sequenced() const { return service == Service::sequenced; }
};

/// The server takes the workers' gradients in; returns its receives. A sequenced worker waits for a signal,
/// which it gets when the gradients of the one before have been added.
IndexList collect(RankPlan& plan, const Star& star) {
    IndexList sums;
    IndexList before;
    for (int worker = 1; worker < star.size; ++worker) {
        const int peer = star.position(worker);
        if (star.sequenced())
            append(plan, Kind::send_signal, peer, signal, {}, before);
        before = append(plan, Kind::receive_add, peer, star.buffer);
        sums.append(before);
    }
    return sums;
}

/// The server sends the buffer to all workers: once `sums` are complete, the next worker when the one before
/// has said that it has everything; or to all of them at once, segment by segment behind the sums.
void distribute(RankPlan& plan, const Star& star, const IndexList& sums) {
    // Sequenced sums were added one after another: the last one is the sum.
    IndexList before = sums.empty() ? IndexList{} : IndexList{sums.back()};
    for (int worker = 1; worker < star.size; ++worker) {
        const int peer = star.position(worker);
        if (!star.sequenced()) {
            append(plan, Kind::send, peer, star.buffer, sums);
            continue;
        }
        append(plan, Kind::send, peer, star.buffer, {}, before);
        if (worker + 1 < star.size)
            before = append(plan, Kind::receive_signal, peer, signal);
    }
}

void push(RankPlan& plan, const Star& star) {
    IndexList granted;
    if (star.sequenced())
        granted = append(plan, Kind::receive_signal, star.server, signal);
    append(plan, Kind::send, star.server, star.buffer, {}, granted);
}

void pull(RankPlan& plan, const Star& star, int worker) {
    const IndexList received = append(plan, Kind::receive_copy, star.server, star.buffer);
    if (star.sequenced() && worker + 1 < star.size)
        append(plan, Kind::send_signal, star.server, signal, {}, received);
}

} // namespace

RankPlan server_all_reduce(int position, int size, std::uint64_t bytes, Service service, int server) {
    RankPlan plan;
    const Star star{server, size, {0, bytes}, service};
    if (bytes == 0)
        return plan;
    if (position == server) {
        distribute(plan, star, collect(plan, star));
    } else {
        push(plan, star);
        pull(plan, star, star.worker(position));
    }
    return plan;
}

RankPlan server_broadcast(int position, int size, std::uint64_t bytes, Service service) {
    RankPlan plan;
    const Star star{0, size, {0, bytes}, service};
    if (bytes == 0)
        return plan;
    if (position == 0)
        distribute(plan, star, {});
    else
        pull(plan, star, position);
    return plan;
}

} // namespace generator
