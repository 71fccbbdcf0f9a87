#pragma once

#include "collectors/units.hpp"

#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace collectors {

/// What the kernel says about a network interface, or an RDMA port (see list_rdma_ports).
struct NetworkInterface {
    std::string name;
    std::string state;  ///< "up", "down", "unknown" (no carrier detection: lo) ...
    std::string driver; ///< "mlx5_core", "virtio_net"; "loopback"; "virtual" for veth, bridges and the like
    std::optional<BitRate> speed; ///< of a link that is up and physical

    bool operator==(const NetworkInterface&) const = default;
};

/// The user named an interface that is not there: `no interface eth9 on host H; available: eth0, lo`.
class NoInterface : public std::runtime_error {
public:
    NoInterface(const std::string& name, const std::vector<NetworkInterface>& available);
};

/// The names of all interfaces of the calling thread's network namespace.
std::vector<std::string> interface_names();

/// All interfaces of the calling thread's network namespace, by name. Where /sys shows another namespace,
/// only state and driver are known. `root` is replaced in tests: then it holds the interfaces.
std::vector<NetworkInterface> list_interfaces(const std::filesystem::path& root = "/sys/class/net");

/// Throws NoInterface if there is none of that name.
NetworkInterface describe_interface(const std::string& name,
                                    const std::filesystem::path& root = "/sys/class/net");

/// What one counted byte of that driver is, for the sidecar: drivers disagree about headers.
std::string byte_unit(const NetworkInterface& interface);

std::string host_name();

} // namespace collectors
