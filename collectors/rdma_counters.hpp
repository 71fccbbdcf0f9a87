#pragma once

#include "collectors/file_counters.hpp"
#include "collectors/interfaces.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace collectors {

/// Received and sent bytes of an RDMA port, named DEVICE/PORT (mlx5_0/1), from its port counters: what the
/// counters of network interfaces do not see. port_rcv_data and port_xmit_data count words of 4 bytes. Each
/// read asks the device. On old devices they have 32 bits and stop at the end: then reads fail (EOVERFLOW)
/// until somebody resets them.
class RdmaCounters : public FileCounters {
public:
    /// Throws NoInterface, or std::system_error if the counters cannot be opened.
    explicit RdmaCounters(const std::string& port,
                          const std::filesystem::path& root = "/sys/class/infiniband");

    std::string name() const override { return "rdma"; }
};

/// By its name: no network interface has a slash.
inline bool is_rdma_port(const std::string& name) {
    return name.find('/') != std::string::npos;
}

/// What one count of them is.
inline constexpr std::uint64_t rdma_word_bytes = 4;

/// All ports, by name, with state, rate and driver.
std::vector<NetworkInterface> list_rdma_ports(const std::filesystem::path& root = "/sys/class/infiniband");

} // namespace collectors
