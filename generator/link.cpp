#include "generator/link.hpp"

#include "collectors/interfaces.hpp"

#include <fstream>

namespace generator {

Link link_of(const std::string& interface) {
    Link link;
    for (const collectors::NetworkInterface& each : collectors::list_interfaces())
        if (each.name == interface)
            link.speed = each.speed;
    std::ifstream("/sys/class/net/" + interface + "/mtu") >> link.mtu;
    return link;
}

} // namespace generator
