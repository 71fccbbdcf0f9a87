#include "collectors/netlink_counters.hpp"

#include "collectors/link_statistics.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

namespace collectors {

NetlinkCounters::NetlinkCounters(std::string interface)
    : interface_(std::move(interface)), watch_(interface_) {
    if (watch_.index() == 0)
        throw std::system_error(ENODEV, std::generic_category(), "find interface " + interface_);
}

int NetlinkCounters::open() noexcept {
    const bool there = watch_.name().front() != '\0';
    return there || watch_.follow(interface_) ? 0 : ENODEV;
}

int NetlinkCounters::read_rx(std::uint64_t& bytes) noexcept {
    rtnl_link_stats64 counts{};
    const int error = read_link(socket_, watch_.index(), counts);
    bytes = counts.rx_bytes;
    return error;
}

int NetlinkCounters::read_tx(std::uint64_t& bytes) noexcept {
    rtnl_link_stats64 counts{};
    const int error = read_link(socket_, watch_.index(), counts);
    bytes = counts.tx_bytes;
    return error;
}

} // namespace collectors
