#pragma once

#include <string>
#include <vector>

namespace generator {

/// One IP address of one interface that is up.
struct InterfaceAddress {
    std::string interface;
    std::string address; ///< numeric; link-local IPv6 with its scope ("fe80::1%eth0")
    int prefix_length = 0;
    bool loopback = false;

    bool operator==(const InterfaceAddress&) const = default;
};

/// The addresses of a rank's host; ranks with the same `network` share a network namespace, and thus
/// counters.
struct HostAddresses {
    std::string host;
    std::string network; ///< boot id and namespace inode
    std::vector<InterfaceAddress> addresses;
};

/// Addresses of interfaces that are up, in the kernel's order. Throws std::system_error.
std::vector<InterfaceAddress> local_addresses();

/// Identifies the network namespace of this process among all hosts.
std::string network_identity();

/// True when the address lies in the prefix "10.77.0.0/24" or "fd00::/8". Throws UserError for a malformed
/// prefix.
bool in_prefix(const std::string& address, const std::string& prefix);

/// The address that rank `self` listens on and sends from.
/// `wanted` (names, "eth*" prefixes, CIDR) are tried in order; the first that fits an address of the host
/// wins. Without `wanted`: loopback when all ranks share one network namespace, else the interface by which
/// the other hosts are reached: one whose address no other host has too (docker0, virbr0), in one subnet with
/// all others if there is such a one. Loopback is never offered to another host. Throws UserError: nothing
/// fits (with what there is), or several do (say which with --iface).
InterfaceAddress choose_address(const std::vector<HostAddresses>& ranks, std::size_t self,
                                const std::vector<std::string>& wanted);

} // namespace generator
