#pragma once

#include "collectors/route_socket.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

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

/// Reads the queues of some interfaces with RTM_GETQDISC. Always as a dump: a single request is never
/// answered (the answer goes to a multicast group). A dump tells of all interfaces of the namespace, whatever
/// was asked for, so one serves all; it takes about 6 us, and the RTNL lock.
class QueueReader {
public:
    /// Of the calling thread's network namespace. Throws std::system_error if an interface is not there.
    explicit QueueReader(std::vector<std::string> interfaces);
    /// A test's: asks through `socket` for the queues of the interfaces with these numbers.
    QueueReader(std::vector<std::string> interfaces, std::vector<unsigned> indexes, int socket,
                std::chrono::milliseconds wait);

    /// One entry per interface; empty for one that has no queue or is gone. One that comes back under its
    /// name is found again, looked for at most every 100 ms. Tries once more after a lost or late answer; an
    /// errno if that fails too.
    int read(std::span<std::optional<QueueStatistics>> queues) noexcept;

    const std::vector<std::string>& interfaces() const { return interfaces_; }

private:
    int dump(std::span<std::optional<QueueStatistics>> queues) noexcept;
    void find_lost(std::span<const std::optional<QueueStatistics>> queues) noexcept;

    RouteSocket socket_;
    std::vector<std::string> interfaces_;
    std::vector<unsigned> indexes_;
    std::int64_t next_search_ns_ = 0;
};

/// What the root queue of an interface is: "noqueue", "tbf"; "kind unknown" if the kernel does not say.
std::string queue_kind(const std::string& interface);

/// For the sidecar: on which side of the interface's queue (and so of a shaper) its counters stand.
std::string counter_side(const std::string& interface);

/// The statistics in an RTM_NEWQDISC message if it is the root queue of interface `index`.
std::optional<QueueStatistics> root_queue(const nlmsghdr& message, unsigned index);

} // namespace collectors
