#pragma once

#include "collectors/route_socket.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace collectors {

/// What a device has lost.
struct LinkStatistics {
    std::uint64_t rx_drops = 0;
    std::uint64_t tx_drops = 0;
    std::uint64_t rx_errors = 0;
    std::uint64_t tx_errors = 0;
    std::uint64_t rx_missed = 0;
};

/// Reads it with RTM_GETSTATS, in the network namespace in which the object was made: 4 us for each
/// interface, and the RTNL lock.
class LinkReader {
public:
    explicit LinkReader(std::vector<std::string> interfaces);

    /// One entry per interface, empty for one that is gone; it is looked for by its name with each reading.
    /// False if nothing answered.
    bool read(std::span<std::optional<LinkStatistics>> links) noexcept;

private:
    std::optional<LinkStatistics> ask(unsigned index) noexcept;

    RouteSocket socket_;
    std::vector<std::string> interfaces_;
    std::vector<unsigned> indexes_;
};

} // namespace collectors
