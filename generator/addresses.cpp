#include "generator/addresses.hpp"

#include "generator/failure.hpp"

#include <asio/ip/address.hpp>
#include <asio/ip/network_v4.hpp>
#include <asio/ip/network_v6.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <fmt/format.h>
#include <fstream>
#include <ifaddrs.h>
#include <memory>
#include <net/if.h>
#include <netdb.h>
#include <set>
#include <sys/stat.h>
#include <system_error>

namespace generator {
namespace {

int prefix_length(const sockaddr& mask) {
    const bool v4 = mask.sa_family == AF_INET;
    const auto* bytes =
        v4 ? reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in&>(mask).sin_addr)
           : reinterpret_cast<const unsigned char*>(&reinterpret_cast<const sockaddr_in6&>(mask).sin6_addr);
    int length = 0;
    for (std::size_t i = 0; i < (v4 ? 4u : 16u); ++i)
        length += __builtin_popcount(bytes[i]);
    return length;
}

std::string without_scope(const std::string& address) {
    return address.substr(0, address.find('%'));
}

bool matches(const InterfaceAddress& candidate, const std::string& wanted) {
    if (wanted.find('/') != std::string::npos)
        return in_prefix(candidate.address, wanted);
    if (!wanted.empty() && wanted.back() == '*')
        return candidate.interface.starts_with(wanted.substr(0, wanted.size() - 1));
    return candidate.interface == wanted;
}

std::string listing(const std::vector<InterfaceAddress>& addresses) {
    std::vector<std::string> texts;
    for (const InterfaceAddress& each : addresses)
        texts.push_back(fmt::format("{} ({}/{})", each.interface, each.address, each.prefix_length));
    return texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "));
}

bool link_local(const InterfaceAddress& address) {
    return address.address.find('%') != std::string::npos;
}

/// Of several addresses of one interface: IPv4 before IPv6 before link-local IPv6.
int preference(const InterfaceAddress& address) {
    if (link_local(address))
        return 2;
    return address.address.find(':') == std::string::npos ? 0 : 1;
}

const InterfaceAddress& best(const std::vector<InterfaceAddress>& candidates) {
    return *std::min_element(candidates.begin(), candidates.end(),
                             [](const auto& a, const auto& b) { return preference(a) < preference(b); });
}

/// Every other host has an address in the candidate's subnet.
bool reaches_all(const InterfaceAddress& candidate, const HostAddresses& own,
                 const std::vector<HostAddresses>& ranks) {
    const std::string subnet =
        fmt::format("{}/{}", without_scope(candidate.address), candidate.prefix_length);
    return std::all_of(ranks.begin(), ranks.end(), [&](const HostAddresses& other) {
        return other.network == own.network || std::any_of(other.addresses.begin(), other.addresses.end(),
                                                           [&](const InterfaceAddress& address) {
                                                               return in_prefix(address.address, subnet);
                                                           });
    });
}

/// Every other host has an address of the candidate's family.
bool family_of_all(const InterfaceAddress& candidate, const HostAddresses& own,
                   const std::vector<HostAddresses>& ranks) {
    const auto is_v6 = [](const InterfaceAddress& address) {
        return address.address.find(':') != std::string::npos;
    };
    return std::all_of(ranks.begin(), ranks.end(), [&](const HostAddresses& other) {
        return other.network == own.network ||
               std::any_of(other.addresses.begin(), other.addresses.end(), [&](const InterfaceAddress& each) {
                   return !each.loopback && is_v6(each) == is_v6(candidate);
               });
    });
}

std::vector<InterfaceAddress> reaching_others(const std::vector<HostAddresses>& ranks,
                                              const HostAddresses& own) {
    std::set<std::string> elsewhere;
    for (const HostAddresses& other : ranks)
        if (other.network != own.network)
            for (const InterfaceAddress& address : other.addresses)
                elsewhere.insert(address.address);
    std::vector<InterfaceAddress> routable;
    for (const InterfaceAddress& address : own.addresses)
        if (!address.loopback && !link_local(address) && !elsewhere.contains(address.address))
            routable.push_back(address);
    std::vector<InterfaceAddress> direct;
    for (const InterfaceAddress& address : routable)
        if (reaches_all(address, own, ranks))
            direct.push_back(address);
    return direct.empty() ? routable : direct;
}

} // namespace

std::vector<InterfaceAddress> local_addresses() {
    ifaddrs* first = nullptr;
    if (getifaddrs(&first) != 0)
        throw std::system_error(errno, std::generic_category(), "list network interfaces (getifaddrs)");
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(first, freeifaddrs);
    std::vector<InterfaceAddress> addresses;
    for (const ifaddrs* each = first; each != nullptr; each = each->ifa_next) {
        if (each->ifa_addr == nullptr || each->ifa_netmask == nullptr || (each->ifa_flags & IFF_UP) == 0)
            continue;
        const int family = each->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6)
            continue;
        const socklen_t length = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
        std::array<char, NI_MAXHOST> text{};
        if (getnameinfo(each->ifa_addr, length, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0)
            continue;
        addresses.push_back({each->ifa_name, text.data(), prefix_length(*each->ifa_netmask),
                             (each->ifa_flags & IFF_LOOPBACK) != 0});
    }
    return addresses;
}

std::string network_identity() {
    std::string boot;
    std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), boot);
    struct stat status {};
    if (stat("/proc/self/ns/net", &status) != 0)
        throw std::system_error(errno, std::generic_category(), "identify the network namespace");
    return fmt::format("{}/{}", boot, status.st_ino);
}

bool in_prefix(const std::string& address, const std::string& prefix) {
    std::error_code error;
    const std::size_t slash = prefix.find('/');
    const asio::ip::address network = asio::ip::make_address(prefix.substr(0, slash), error);
    int length = -1;
    const char* const end = prefix.data() + prefix.size();
    const auto [rest, failure] = std::from_chars(
        prefix.data() + (slash == std::string::npos ? prefix.size() : slash + 1), end, length);
    if (error || failure != std::errc{} || rest != end || length < 0 || length > (network.is_v4() ? 32 : 128))
        throw UserError(fmt::format("\"{}\" is no network such as 10.77.0.0/24 or fd00::/8", prefix));
    const asio::ip::address tested = asio::ip::make_address(without_scope(address), error);
    if (error || tested.is_v4() != network.is_v4())
        return false;
    if (tested.is_v4())
        return asio::ip::network_v4(tested.to_v4(), static_cast<unsigned short>(length)).network() ==
               asio::ip::network_v4(network.to_v4(), static_cast<unsigned short>(length)).network();
    return asio::ip::network_v6(tested.to_v6(), static_cast<unsigned short>(length)).network() ==
           asio::ip::network_v6(network.to_v6(), static_cast<unsigned short>(length)).network();
}

InterfaceAddress choose_address(const std::vector<HostAddresses>& ranks, std::size_t self,
                                const std::vector<std::string>& wanted) {
    const HostAddresses& own = ranks.at(self);
    const bool one_network = std::all_of(
        ranks.begin(), ranks.end(), [&](const HostAddresses& other) { return other.network == own.network; });
    for (const std::string& pattern : wanted) {
        std::vector<InterfaceAddress> fitting;
        for (const InterfaceAddress& address : own.addresses)
            if (matches(address, pattern))
                fitting.push_back(address);
        if (fitting.empty())
            continue;
        std::vector<InterfaceAddress> reachable;
        for (const InterfaceAddress& address : fitting)
            if (one_network || (!address.loopback && family_of_all(address, own, ranks)))
                reachable.push_back(address);
        const InterfaceAddress& chosen = best(reachable.empty() ? fitting : reachable);
        if (chosen.loopback && !one_network)
            throw UserError(
                fmt::format("interface {} on host {} is loopback, which the other hosts cannot reach; "
                            "available: {}",
                            chosen.interface, own.host, listing(own.addresses)));
        return chosen;
    }
    if (!wanted.empty())
        throw UserError(fmt::format("no interface {} with an address on host {}; available: {}",
                                    fmt::join(wanted, " or "), own.host, listing(own.addresses)));
    std::vector<InterfaceAddress> candidates;
    if (one_network) {
        for (const InterfaceAddress& address : own.addresses)
            if (address.loopback)
                candidates.push_back(address);
    } else {
        candidates = reaching_others(ranks, own);
    }
    if (candidates.empty())
        throw UserError(
            fmt::format("host {} has no address by which the other hosts could reach it; available: {}",
                        own.host, listing(own.addresses)));
    const InterfaceAddress& chosen = best(candidates);
    for (const InterfaceAddress& other : candidates)
        if (other.interface != chosen.interface)
            throw UserError(
                fmt::format("several interfaces on host {} may reach the other hosts; choose one with "
                            "--iface: {}",
                            own.host, listing(candidates)));
    return chosen;
}

} // namespace generator
