#include "collectors/interface_index.hpp"

#include "collectors/route_attributes.hpp"

#include <array>
#include <cstdint>
#include <cstring>

#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

namespace collectors {

namespace {

/// RTM_GETLINK, by index or by name.
struct LinkRequest {
    nlmsghdr header{};
    ifinfomsg interface {};
    nlattr name_header{};
    std::array<char, IFNAMSIZ> name{};
};

LinkRequest link_request() {
    LinkRequest request;
    request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.interface);
    request.header.nlmsg_type = RTM_GETLINK;
    request.header.nlmsg_flags = NLM_F_REQUEST;
    request.interface.ifi_family = AF_UNSPEC;
    return request;
}

} // namespace

unsigned interface_index(RouteSocket& socket, const std::string& name) noexcept {
    LinkRequest request = link_request();
    if (name.empty() || name.size() >= request.name.size())
        return 0;
    std::memcpy(request.name.data(), name.data(), name.size());
    request.name_header.nla_type = IFLA_IFNAME;
    request.name_header.nla_len = static_cast<std::uint16_t>(attribute_header_bytes + name.size() + 1);
    request.header.nlmsg_len += NLMSG_ALIGN(request.name_header.nla_len);
    int index = 0;
    socket.ask(request.header, [&](const nlmsghdr& message) {
        if (message.nlmsg_type == RTM_NEWLINK && message.nlmsg_len >= NLMSG_LENGTH(sizeof(ifinfomsg)))
            index = static_cast<const ifinfomsg*>(NLMSG_DATA(&message))->ifi_index;
    });
    return static_cast<unsigned>(index);
}

std::string interface_name(RouteSocket& socket, unsigned index) {
    LinkRequest request = link_request();
    request.interface.ifi_index = static_cast<int>(index);
    std::string name;
    socket.ask(request.header, [&](const nlmsghdr& message) {
        each_attribute(attributes_of<ifinfomsg>(message), [&](int type, std::span<const std::byte> content) {
            if (type == IFLA_IFNAME)
                name.assign(reinterpret_cast<const char*>(content.data()),
                            ::strnlen(reinterpret_cast<const char*>(content.data()), content.size()));
        });
    });
    return name;
}

} // namespace collectors
