#include "collectors/netlink_counters.hpp"

#include "collectors/interface_index.hpp"
#include "collectors/route_attributes.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

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
    std::uint64_t other = 0;
    return ask(bytes, other);
}

int NetlinkCounters::read_tx(std::uint64_t& bytes) noexcept {
    std::uint64_t other = 0;
    return ask(other, bytes);
}

int NetlinkCounters::ask(std::uint64_t& rx_bytes, std::uint64_t& tx_bytes) noexcept {
    struct {
        nlmsghdr header;
        if_stats_msg interface;
    } request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_GETSTATS;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.interface.ifindex = index_;
    request.interface.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    bool found = false;
    const int error = socket_.ask(request.header, [&](const nlmsghdr& message) {
        each_attribute(attributes_of<if_stats_msg>(message),
                       [&](int type, std::span<const std::byte> content) {
                           if (type != IFLA_STATS_LINK_64)
                               return;
                           const auto statistics = read_struct<rtnl_link_stats64>(content);
                           rx_bytes = statistics.rx_bytes;
                           tx_bytes = statistics.tx_bytes;
                           found = true;
                       });
    });
    return error != 0 || found ? error : EBADMSG;
}

} // namespace collectors
