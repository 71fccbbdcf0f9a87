#include "collectors/netlink_counters.hpp"

#include "collectors/interface_index.hpp"
#include "collectors/link_statistics.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace collectors {

NetlinkCounters::NetlinkCounters(std::string interface) : interface_(std::move(interface)) {
    if (const int error = NetlinkCounters::open(); error != 0)
        throw std::system_error(error, std::generic_category(), "find interface " + interface_);
}

int NetlinkCounters::open() noexcept {
    index_ = interface_index(socket_, interface_);
    return index_ == 0 ? ENODEV : 0;
}

int NetlinkCounters::read_rx(std::uint64_t& bytes) noexcept {
    rtnl_link_stats64 counts{};
    const int error = read_link(socket_, index_, counts);
    bytes = counts.rx_bytes;
    return error;
}

int NetlinkCounters::read_tx(std::uint64_t& bytes) noexcept {
    rtnl_link_stats64 counts{};
    const int error = read_link(socket_, index_, counts);
    bytes = counts.tx_bytes;
    return error;
}

} // namespace collectors
