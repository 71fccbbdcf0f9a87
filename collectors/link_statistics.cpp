#include "collectors/link_statistics.hpp"

#include "collectors/interface_index.hpp"
#include "collectors/route_attributes.hpp"

#include <utility>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>

namespace collectors {

LinkReader::LinkReader(std::vector<std::string> interfaces)
    : interfaces_(std::move(interfaces)), indexes_(interfaces_.size()) {}

bool LinkReader::read(std::span<std::optional<LinkStatistics>> links) noexcept {
    bool any = false;
    for (std::size_t i = 0; i < indexes_.size(); ++i) {
        if (indexes_[i] == 0)
            indexes_[i] = interface_index(socket_, interfaces_[i]);
        links[i] = indexes_[i] == 0 ? std::nullopt : ask(indexes_[i]);
        if (!links[i])
            indexes_[i] = 0;
        any = any || links[i];
    }
    return any;
}

std::optional<LinkStatistics> LinkReader::ask(unsigned index) noexcept {
    struct {
        nlmsghdr header;
        if_stats_msg interface;
    } request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_GETSTATS;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.interface.ifindex = index;
    request.interface.filter_mask = IFLA_STATS_FILTER_BIT(IFLA_STATS_LINK_64);
    std::optional<LinkStatistics> link;
    socket_.ask(request.header, [&](const nlmsghdr& message) {
        each_attribute(
            attributes_of<if_stats_msg>(message), [&](int type, std::span<const std::byte> content) {
                if (type != IFLA_STATS_LINK_64)
                    return;
                const auto all = read_struct<rtnl_link_stats64>(content);
                link = {all.rx_dropped, all.tx_dropped, all.rx_errors, all.tx_errors, all.rx_missed_errors};
            });
    });
    return link;
}

} // namespace collectors
