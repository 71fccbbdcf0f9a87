#include "generator/socket_settings.hpp"

#include "generator/profile_suggestion.hpp"

#include <array>
#include <cerrno>
#include <fmt/format.h>
#include <fstream>
#include <limits>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sstream>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace generator {
namespace {

constexpr int ecn_bits = 2; ///< below the DSCP

std::string host_name() {
    std::array<char, 256> name{};
    ::gethostname(name.data(), name.size() - 1);
    return name.data();
}

/// "reno cubic", from /proc/sys/net/ipv4/tcp_{available,allowed}_congestion_control.
std::string listed(std::string_view kind) {
    std::string names;
    std::getline(std::ifstream(fmt::format("/proc/sys/net/ipv4/tcp_{}_congestion_control", kind)), names);
    return names.empty() ? "unknown" : names;
}

std::vector<std::string> words(const std::string& text) {
    std::istringstream stream(text);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

void set_congestion_control(int descriptor, const std::string& name) {
    if (name.empty())
        return;
    if (::setsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(),
                     static_cast<socklen_t>(name.size())) == 0)
        return;
    const std::string reason = std::generic_category().message(errno);
    const std::vector<std::string> available = words(listed("available"));
    throw UserError(fmt::format(
        "{}: congestion control \"{}\" cannot be set: {}{} this kernel has: {}; an ordinary user may set: {}",
        host_name(), name, reason, nearest_name(name, available) ? suggestion(name, available) : ";",
        fmt::join(available, " "), listed("allowed")));
}

template <class Value>
void set(int descriptor, int level, int option, Value value, std::string_view what) {
    if (::setsockopt(descriptor, level, option, &value, sizeof value) != 0)
        throw std::system_error(errno, std::generic_category(), fmt::format("{}: set {}", host_name(), what));
}

template <class Value>
Value get(int descriptor, int level, int option) {
    Value value{};
    socklen_t length = sizeof value;
    return ::getsockopt(descriptor, level, option, &value, &length) == 0 ? value : Value{};
}

bool is_ipv6(int descriptor) {
    return get<int>(descriptor, SOL_SOCKET, SO_DOMAIN) == AF_INET6;
}

/// An IPv6 socket has both: its IPv4 byte is for peers that are IPv4 addresses mapped into IPv6.
void set_dscp(int descriptor, std::uint32_t dscp) {
    const int traffic_class = static_cast<int>(dscp << ecn_bits);
    set(descriptor, IPPROTO_IP, IP_TOS, traffic_class, "DSCP");
    if (is_ipv6(descriptor))
        set(descriptor, IPPROTO_IPV6, IPV6_TCLASS, traffic_class, "DSCP");
}

bool talks_ipv6(int descriptor) {
    sockaddr_in6 peer{};
    socklen_t length = sizeof peer;
    return is_ipv6(descriptor) &&
           ::getpeername(descriptor, reinterpret_cast<sockaddr*>(&peer), &length) == 0 &&
           !IN6_IS_ADDR_V4MAPPED(&peer.sin6_addr);
}

std::string congestion_control_of(int descriptor) {
    std::array<char, 64> name{};
    auto length = static_cast<socklen_t>(name.size() - 1);
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0)
        return "unknown";
    return name.data();
}

} // namespace

void apply(const SocketSettings& settings, int descriptor) {
    set_congestion_control(descriptor, settings.congestion_control);
    set(descriptor, IPPROTO_TCP, TCP_NODELAY, settings.no_delay ? 1 : 0, "TCP_NODELAY");
    if (settings.dscp)
        set_dscp(descriptor, *settings.dscp);
    if (settings.pacing_rate)
        set(descriptor, SOL_SOCKET, SO_MAX_PACING_RATE, settings.pacing_rate->bits_per_second / 8,
            "the pacing rate");
    if (settings.send_buffer_bytes)
        set(descriptor, SOL_SOCKET, SO_SNDBUF, static_cast<int>(*settings.send_buffer_bytes),
            "the send buffer");
    if (settings.receive_buffer_bytes)
        set(descriptor, SOL_SOCKET, SO_RCVBUF, static_cast<int>(*settings.receive_buffer_bytes),
            "the receive buffer");
}

SocketState socket_state(int sending, int receiving) {
    SocketState state;
    if (sending >= 0) {
        state.congestion_control = congestion_control_of(sending);
        state.dscp =
            static_cast<std::uint32_t>(talks_ipv6(sending) ? get<int>(sending, IPPROTO_IPV6, IPV6_TCLASS)
                                                           : get<int>(sending, IPPROTO_IP, IP_TOS)) >>
            ecn_bits;
        const auto pacing = get<std::uint64_t>(sending, SOL_SOCKET, SO_MAX_PACING_RATE);
        // Of a limit in bytes per second; the largest number, of 32 or 64 bits, is none.
        if (pacing > 0 && pacing < std::numeric_limits<std::uint64_t>::max() / 8 &&
            pacing != std::numeric_limits<std::uint32_t>::max())
            state.pacing_rate = BitRate{pacing * 8};
        state.send_buffer_bytes = static_cast<std::uint64_t>(get<int>(sending, SOL_SOCKET, SO_SNDBUF));
        state.no_delay = get<int>(sending, IPPROTO_TCP, TCP_NODELAY) != 0;
    }
    if (receiving >= 0)
        state.receive_buffer_bytes = static_cast<std::uint64_t>(get<int>(receiving, SOL_SOCKET, SO_RCVBUF));
    return state;
}

} // namespace generator
