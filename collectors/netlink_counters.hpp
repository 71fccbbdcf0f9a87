#pragma once

#include "collectors/counter_source.hpp"
#include "collectors/route_socket.hpp"

namespace collectors {

/// The byte counters of one interface by RTM_GETSTATS, from the network namespace in which the object was
/// made, where /sys of another mount cannot look. One request for each counter, because a trace gives each
/// its own window: 7 us for both. Takes the RTNL lock, so that somebody who creates interfaces delays it:
/// SysfsCounters is the first choice.
class NetlinkCounters : public CounterSource {
public:
    /// Throws std::system_error if there is no such interface.
    explicit NetlinkCounters(const std::string& interface);

    Counters read() noexcept override;
    std::string name() const override { return "rtnetlink"; }

private:
    /// errno, or 0.
    int ask(std::uint64_t& rx_bytes, std::uint64_t& tx_bytes) noexcept;

    RouteSocket socket_;
    unsigned index_ = 0;
};

} // namespace collectors
