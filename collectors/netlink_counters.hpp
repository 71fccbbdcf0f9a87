#pragma once

#include "collectors/device_counters.hpp"
#include "collectors/interface_watch.hpp"
#include "collectors/route_socket.hpp"

#include <cstdint>
#include <string>

namespace collectors {

/// The byte counters of one interface by RTM_GETSTATS, from the network namespace in which the object was
/// made, where /sys of another mount cannot look. One request for each counter, because a trace gives each
/// its own window: 7 us for both. Takes the RTNL lock, so that somebody who creates interfaces delays it:
/// SysfsCounters is the first choice. Follows the interface when it is renamed; when it is gone, it is looked
/// for under its first name.
class NetlinkCounters : public DeviceCounters {
public:
    /// Throws std::system_error if there is no such interface.
    explicit NetlinkCounters(std::string interface);

    std::string name() const override { return "rtnetlink"; }
    std::string interface_name() const override { return watch_.name().data(); }

protected:
    int open() noexcept override;
    int read_rx(std::uint64_t& bytes) noexcept override;
    int read_tx(std::uint64_t& bytes) noexcept override;

private:
    RouteSocket socket_;
    std::string interface_;
    InterfaceWatch watch_;
};

} // namespace collectors
