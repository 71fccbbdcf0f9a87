#pragma once

#include "collectors/interface_watch.hpp"
#include "collectors/route_socket.hpp"

#include <cstdint>
#include <list>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <linux/if_link.h>

namespace collectors {

/// All that the kernel counts of the interface with that index, by RTM_GETSTATS: 0, or an errno. 4 us, and
/// the RTNL lock. Does not allocate.
int read_link(RouteSocket& socket, unsigned index, rtnl_link_stats64& counts) noexcept;

/// What a device has lost.
struct LinkStatistics {
    std::uint64_t rx_drops = 0;
    std::uint64_t tx_drops = 0;
    std::uint64_t rx_errors = 0;
    std::uint64_t tx_errors = 0;
    std::uint64_t rx_missed = 0;
};

/// Reads it in the network namespace in which the object was made.
class LinkReader {
public:
    explicit LinkReader(std::vector<std::string> interfaces);

    /// One entry per interface, empty for one that is gone; it is looked for by its name with each reading,
    /// but followed when it is renamed. Tries once more after a lost or late answer; an errno if none came
    /// for any interface.
    int read(std::span<std::optional<LinkStatistics>> links) noexcept;

private:
    RouteSocket socket_;
    std::vector<std::string> interfaces_;
    std::list<InterfaceWatch> watches_; ///< they do not move
};

} // namespace collectors
