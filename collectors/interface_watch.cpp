#include "collectors/interface_watch.hpp"

#include <cstring>

#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

namespace collectors {

InterfaceWatch::InterfaceWatch(std::string_view interface)
    : socket_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
    follow(interface);
}

InterfaceWatch::~InterfaceWatch() {
    if (socket_ >= 0)
        ::close(socket_);
}

unsigned InterfaceWatch::index_of(std::string_view interface) const noexcept {
    ifreq request{};
    if (interface.empty() || interface.size() >= sizeof request.ifr_name)
        return 0;
    std::memcpy(request.ifr_name, interface.data(), interface.size());
    return ::ioctl(socket_, SIOCGIFINDEX, &request) == 0 ? static_cast<unsigned>(request.ifr_ifindex) : 0;
}

bool InterfaceWatch::follow(std::string_view interface) noexcept {
    const unsigned index = index_of(interface);
    if (index != 0)
        index_.store(index, std::memory_order_relaxed);
    return index != 0;
}

bool InterfaceWatch::is_called(std::string_view interface) const noexcept {
    return index() != 0 && index_of(interface) == index();
}

InterfaceWatch::Name InterfaceWatch::name() const noexcept {
    Name name{};
    ifreq request{};
    request.ifr_ifindex = static_cast<int>(index());
    if (index() != 0 && ::ioctl(socket_, SIOCGIFNAME, &request) == 0)
        std::memcpy(name.data(), request.ifr_name, name.size());
    return name;
}

} // namespace collectors
