#include "collectors/netlink_counters.hpp"

#include "collectors/monotonic_clock.hpp"
#include "collectors/route_attributes.hpp"

#include <cerrno>
#include <system_error>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

namespace collectors {

NetlinkCounters::NetlinkCounters(const std::string& interface) : index_(::if_nametoindex(interface.c_str())) {
    if (index_ == 0)
        throw std::system_error(errno, std::generic_category(), "find interface " + interface);
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

CounterSource::Counters NetlinkCounters::read() noexcept {
    Counters counters;
    std::uint64_t other = 0;
    counters.begin_ns = clock_ns();
    counters.error = ask(counters.rx_bytes, other);
    counters.middle_ns = clock_ns();
    if (counters.error == 0)
        counters.error = ask(other, counters.tx_bytes);
    counters.end_ns = clock_ns();
    return counters;
}

} // namespace collectors
