#include "collectors/rdma_counters.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <system_error>

namespace collectors {

namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t end_of_32_bits = 0xffff'ffff;

/// mlx5_0/1 -> mlx5_0/ports/1/counters
fs::path counters_of(const std::string& port, const fs::path& root) {
    for (const NetworkInterface& known : list_rdma_ports(root))
        if (known.name == port) {
            const fs::path name(port);
            return name.parent_path() / "ports" / name.filename() / "counters";
        }
    throw NoInterface(port, list_rdma_ports(root));
}

/// "4: ACTIVE" and "100 Gb/sec (4X EDR)".
NetworkInterface describe(const std::string& device, const fs::path& port) {
    NetworkInterface interface;
    interface.name = device + "/" + port.filename().string();
    int state = 0;
    constexpr int active = 4;
    if (std::ifstream(port / "state") >> state)
        interface.state = state == active ? "up" : "down";
    double gigabits = 0;
    if ((std::ifstream(port / "rate") >> gigabits) && gigabits > 0)
        interface.speed = BitRate{static_cast<std::uint64_t>(std::llround(gigabits * 1e9))};
    std::error_code error;
    const fs::path driver = fs::read_symlink(port / "../../device/driver", error);
    interface.driver = error ? "rdma" : driver.filename().string();
    return interface;
}

} // namespace

RdmaCounters::RdmaCounters(const std::string& port, const fs::path& root)
    : FileCounters(root, counters_of(port, root) / "port_rcv_data",
                   counters_of(port, root) / "port_xmit_data", rdma_word_bytes, end_of_32_bits) {}

std::vector<NetworkInterface> list_rdma_ports(const fs::path& root) {
    std::vector<NetworkInterface> ports;
    std::error_code error;
    for (const fs::directory_entry& device : fs::directory_iterator(root, error))
        for (const fs::directory_entry& port : fs::directory_iterator(device.path() / "ports", error))
            if (fs::exists(port.path() / "counters/port_rcv_data", error))
                ports.push_back(describe(device.path().filename().string(), port.path()));
    std::sort(ports.begin(), ports.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return ports;
}

} // namespace collectors
