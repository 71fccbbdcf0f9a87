#pragma once

#include "collectors/units.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace collectors {

/// What sysfs says about a network interface.
struct NetworkInterface {
    std::string name;
    std::string state;  ///< "up", "down", "unknown" (no carrier detection: lo) ...
    std::string driver; ///< "mlx5_core", "virtio_net"; "loopback"; "virtual" for veth, bridges and the like
    std::optional<BitRate> speed; ///< of a link that is up and physical

    bool operator==(const NetworkInterface&) const = default;
};

/// All interfaces of this network namespace, by name. `root` is replaced in tests.
std::vector<NetworkInterface> list_interfaces(const std::filesystem::path& root = "/sys/class/net");

/// Throws NoInterface if there is none of that name.
NetworkInterface describe_interface(const std::string& name,
                                    const std::filesystem::path& root = "/sys/class/net");

/// What one counted byte of that driver is, for the sidecar: drivers disagree about headers.
std::string byte_unit(const NetworkInterface& interface);

std::string host_name();

} // namespace collectors
