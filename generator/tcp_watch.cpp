#include "generator/tcp_watch.hpp"

#include <algorithm>

namespace generator {
namespace {

constexpr std::size_t no_record = ~std::size_t{0};

} // namespace

TcpWatch::TcpWatch(std::vector<WatchedConnection> connections, TcpLog& log) : log_(log) {
    for (const WatchedConnection& connection : connections)
        watched_.push_back({connection, read_tcp_info(connection.descriptor), no_record});
    std::sort(watched_.begin(), watched_.end(),
              [](const Watched& a, const Watched& b) { return a.connection.place < b.connection.place; });
}

void TcpWatch::make_room(std::uint32_t iteration, std::size_t records) {
    if (log_.left_out_from)
        return;
    const std::size_t wanted = log_.records.size() + records;
    if (wanted > most_tcp_records) {
        settle();
        log_.left_out_from = iteration;
    } else if (wanted > log_.records.capacity()) {
        log_.records.reserve(std::min(most_tcp_records, std::max(wanted, 2 * log_.records.capacity())));
    }
}

void TcpWatch::note(std::uint32_t iteration, std::uint32_t bucket, PeerLane place) {
    if (log_.left_out_from)
        return;
    const auto found =
        std::lower_bound(watched_.begin(), watched_.end(), place,
                         [](const Watched& each, PeerLane wanted) { return each.connection.place < wanted; });
    if (found == watched_.end() || found->connection.place != place)
        return;
    const TcpInfo now = read_tcp_info(found->connection.descriptor);
    found->last_record = log_.records.size();
    log_.records.push_back({iteration, bucket, place.peer, place.lane, tcp_difference(now, found->before)});
    found->before = now;
}

bool TcpWatch::all_acknowledged() const {
    return std::all_of(watched_.begin(), watched_.end(), [](const Watched& each) {
        return generator::all_acknowledged(each.connection.descriptor);
    });
}

void TcpWatch::settle() {
    if (log_.left_out_from)
        return;
    for (Watched& each : watched_) {
        if (each.last_record == no_record)
            continue;
        const TcpInfo now = read_tcp_info(each.connection.descriptor);
        add_tcp_counters(log_.records[each.last_record].info, tcp_difference(now, each.before));
        each.before = now;
    }
}

} // namespace generator
