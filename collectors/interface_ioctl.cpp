#include "collectors/interface_ioctl.hpp"

#include <cstring>

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace collectors {

namespace {

/// A device without a bus is a virtual one.
std::string driver_of(int socket, ifreq request) {
    ethtool_drvinfo about{};
    about.cmd = ETHTOOL_GDRVINFO;
    request.ifr_data = reinterpret_cast<char*>(&about);
    if (::ioctl(socket, SIOCETHTOOL, &request) != 0)
        return "";
    const std::string bus(about.bus_info, ::strnlen(about.bus_info, sizeof about.bus_info));
    return bus.empty() || bus == "N/A"
               ? "virtual"
               : std::string(about.driver, ::strnlen(about.driver, sizeof about.driver));
}

} // namespace

NetworkInterface ask_about(const std::string& name) {
    NetworkInterface interface;
    interface.name = name;
    interface.state = "unknown";
    ifreq request{};
    if (name.size() >= sizeof request.ifr_name)
        return interface;
    std::memcpy(request.ifr_name, name.data(), name.size());
    const int socket = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (socket < 0)
        return interface;
    if (::ioctl(socket, SIOCGIFFLAGS, &request) == 0) {
        const auto flags = static_cast<unsigned>(request.ifr_flags);
        if ((flags & IFF_UP) == 0)
            interface.state = "down";
        else if ((flags & IFF_LOOPBACK) == 0)
            interface.state = (flags & IFF_RUNNING) != 0 ? "up" : "down";
        interface.driver = (flags & IFF_LOOPBACK) != 0 ? "loopback" : driver_of(socket, request);
    }
    ::close(socket);
    return interface;
}

} // namespace collectors
