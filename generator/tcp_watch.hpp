#pragma once

#include "generator/peers.hpp"
#include "generator/tcp_log.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace generator {

/// A connection on which this rank sends.
struct WatchedConnection {
    PeerLane place; ///< lane of the job
    int descriptor = -1;
};

/// Reads what the kernel tells of a rank's connections and keeps it by bucket. A reading is one system call
/// per connection; nothing is allocated but by `make_room`.
class TcpWatch {
public:
    /// Reads each for the first time. The sockets stay others'; `log` must outlive the watch.
    TcpWatch(std::vector<WatchedConnection> connections, TcpLog& log);

    /// Before an iteration, for so many records. Where they are more than a log may hold, nothing is kept
    /// from there on.
    void make_room(std::uint32_t iteration, std::size_t records);

    /// At the end of a bucket that sent on this connection.
    void note(std::uint32_t iteration, std::uint32_t bucket, PeerLane place);

    /// Nothing is on its way any more: what is read now is all.
    bool all_acknowledged() const;

    /// What the counters rose by since the last reading becomes part of each connection's last record.
    void settle();

private:
    struct Watched {
        WatchedConnection connection;
        TcpInfo before;
        std::size_t last_record; ///< in the log
    };

    std::vector<Watched> watched_; ///< by place
    TcpLog& log_;
};

} // namespace generator
