#include "collectors/route_socket.hpp"

#include <cerrno>
#include <cstring>
#include <system_error>

#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

namespace collectors {

RouteSocket::RouteSocket() : descriptor_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
    if (descriptor_ < 0)
        throw std::system_error(errno, std::generic_category(), "open an rtnetlink socket");
    sockaddr_nl kernel{};
    kernel.nl_family = AF_NETLINK;
    if (::connect(descriptor_, reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) != 0) {
        const int error = errno;
        ::close(descriptor_);
        throw std::system_error(error, std::generic_category(), "set up an rtnetlink socket");
    }
    set_up(longest_wait);
}

RouteSocket::RouteSocket(int descriptor, std::chrono::milliseconds wait) : descriptor_(descriptor) {
    set_up(wait);
}

void RouteSocket::set_up(std::chrono::milliseconds wait) {
    wait_ns_ = std::chrono::nanoseconds(wait).count();
    const timeval limit{wait.count() / 1000, wait.count() % 1000 * 1000};
    if (::setsockopt(descriptor_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0)
        return;
    const int error = errno;
    ::close(descriptor_);
    throw std::system_error(error, std::generic_category(), "set up an rtnetlink socket");
}

RouteSocket::~RouteSocket() {
    ::close(descriptor_);
}

int RouteSocket::send(nlmsghdr& request) noexcept {
    request.nlmsg_seq = ++sequence_;
    return ::send(descriptor_, &request, request.nlmsg_len, 0) < 0 ? errno : 0;
}

/// Once the kernel has dropped something (ENOBUFS), it says so once and goes on with what came after it.
void RouteSocket::drain() noexcept {
    constexpr int most = 10'000; // somebody may send faster than we read
    for (int i = 0; i < most; ++i)
        if (::recv(descriptor_, answer_.data(), answer_.size(), MSG_DONTWAIT) < 0 && errno != ENOBUFS &&
            errno != EINTR)
            return;
}

int RouteSocket::receive(std::size_t& length) noexcept {
    while (true) {
        const ssize_t received = ::recv(descriptor_, answer_.data(), answer_.size(), MSG_TRUNC);
        if (received < 0 && errno == EINTR)
            continue;
        if (received < 0)
            return errno;
        if (received == 0 || static_cast<std::size_t>(received) > answer_.size())
            return EMSGSIZE;
        length = static_cast<std::size_t>(received);
        return 0;
    }
}

int RouteSocket::error_of(const nlmsghdr& message) noexcept {
    nlmsgerr error{};
    if (message.nlmsg_len < NLMSG_LENGTH(sizeof error.error))
        return EBADMSG;
    std::memcpy(&error.error, NLMSG_DATA(&message), sizeof error.error);
    return -error.error;
}

const nlmsghdr* RouteSocket::next(const nlmsghdr* message, std::uint32_t& left) noexcept {
    const std::uint32_t step = NLMSG_ALIGN(message->nlmsg_len);
    left -= step < left ? step : left;
    return reinterpret_cast<const nlmsghdr*>(reinterpret_cast<const std::byte*>(message) + step);
}

} // namespace collectors
