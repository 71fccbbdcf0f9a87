#pragma once

#include "collectors/route_socket.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace collectors {

/// An interface's outgoing queue (root queueing discipline) as the kernel counts it.
struct QueueStatistics {
    std::string kind;             ///< "tbf", "fq", "noqueue" ...
    std::uint64_t sent_bytes = 0; ///< with the headers of each segment, as on the wire
    std::uint64_t sent_packets = 0;
    std::uint64_t drops = 0;
    std::uint64_t overlimits = 0; ///< times that a packet had to wait for its tokens
    std::uint64_t backlog_bytes = 0;
    std::uint64_t backlog_packets = 0;

    bool operator==(const QueueStatistics&) const = default;
};

/// Reads it with RTM_GETQDISC. Always as a dump: a single request is never answered (the answer goes to a
/// multicast group). One dump takes about 6 us, and the RTNL lock.
class QueueReader {
public:
    /// Of the calling thread's network namespace. Throws std::system_error if there is no such interface.
    explicit QueueReader(const std::string& interface);

    /// Tries once more after a lost or late answer; an errno if that fails too, ENODEV without a queue.
    int read(QueueStatistics& statistics) noexcept;

private:
    int dump(QueueStatistics& statistics) noexcept;

    RouteSocket socket_;
    unsigned index_ = 0;
};

/// For the sidecar: on which side of the interface's queue (and so of a shaper) its counters stand.
std::string counter_side(const std::string& interface);

/// The statistics in an RTM_NEWQDISC message if it is the root queue of interface `index`.
std::optional<QueueStatistics> root_queue(const nlmsghdr& message, unsigned index);

} // namespace collectors
