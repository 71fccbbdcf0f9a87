#include "collectors/link_statistics.hpp"

#include "collectors/route_attributes.hpp"

#include <cerrno>
#include <utility>

#include <linux/rtnetlink.h>

namespace collectors {

int read_link(RouteSocket& socket, unsigned index, rtnl_link_stats64& counts) noexcept {
    struct {
        nlmsghdr header;
        if_stats_msg interface;
    } request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_GETSTATS;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.interface.ifindex = index;
    request.interface.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    bool found = false;
    const int error = socket.ask(request.header, [&](const nlmsghdr& message) {
        each_attribute(attributes_of<if_stats_msg>(message),
                       [&](int type, std::span<const std::byte> content) {
                           if (type != IFLA_STATS_LINK_64)
                               return;
                           counts = read_struct<rtnl_link_stats64>(content);
                           found = true;
                       });
    });
    return error != 0 || found ? error : EBADMSG;
}

LinkReader::LinkReader(std::vector<std::string> interfaces) : interfaces_(std::move(interfaces)) {
    for (const std::string& interface : interfaces_)
        watches_.emplace_back(interface);
}

int LinkReader::read(std::span<std::optional<LinkStatistics>> links) noexcept {
    int silence = 0;
    bool any = false;
    std::size_t i = 0;
    for (InterfaceWatch& watch : watches_) {
        if (watch.name().front() == '\0')
            watch.follow(interfaces_[i]);
        rtnl_link_stats64 counts{};
        const int error = watch.index() == 0
                              ? ENODEV
                              : socket_.twice([&] { return read_link(socket_, watch.index(), counts); });
        any = any || error == 0 || error == ENODEV;
        silence = error;
        links[i++] =
            error != 0
                ? std::nullopt
                : std::optional<LinkStatistics>({counts.rx_dropped, counts.tx_dropped, counts.rx_errors,
                                                 counts.tx_errors, counts.rx_missed_errors});
    }
    return any ? 0 : silence;
}

} // namespace collectors
