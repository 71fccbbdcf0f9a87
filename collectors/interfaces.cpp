#include "collectors/interfaces.hpp"

#include "collectors/sysfs_counters.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include <net/if_arp.h>
#include <unistd.h>

namespace collectors {

namespace {

namespace fs = std::filesystem;

/// The first word of a sysfs attribute; empty if the kernel refuses (speed of a link that is down).
std::string attribute(const fs::path& path) {
    std::string word;
    std::ifstream(path) >> word;
    return word;
}

std::string driver_of(const fs::path& device) {
    std::error_code error;
    const fs::path driver = fs::read_symlink(device / "device/driver", error);
    if (!error)
        return driver.filename().string();
    if (attribute(device / "type") == std::to_string(ARPHRD_LOOPBACK))
        return "loopback";
    return fs::exists(device / "device", error) ? "" : "virtual";
}

/// A virtual device reports a made-up speed (veth: 10 Gbit/s), so only a physical one is believed.
std::optional<BitRate> speed_of(const fs::path& device, const std::string& driver) {
    if (driver == "virtual" || driver == "loopback")
        return std::nullopt;
    std::ifstream file(device / "speed");
    std::int64_t megabits = 0;
    if (!(file >> megabits) || megabits <= 0)
        return std::nullopt;
    return BitRate{static_cast<std::uint64_t>(megabits) * 1'000'000};
}

NetworkInterface describe(const std::string& name, const fs::path& root) {
    const fs::path device = root / name;
    NetworkInterface interface;
    interface.name = name;
    interface.state = attribute(device / "operstate");
    interface.driver = driver_of(device);
    interface.speed = speed_of(device, interface.driver);
    return interface;
}

bool is_interface(const fs::path& device) {
    std::error_code error;
    return fs::is_directory(device / "statistics", error);
}

} // namespace

std::vector<NetworkInterface> list_interfaces(const fs::path& root) {
    std::vector<NetworkInterface> interfaces;
    std::error_code error;
    // Not everything in there is an interface (bonding_masters), and one may go while we look.
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
        if (is_interface(entry.path()))
            interfaces.push_back(describe(entry.path().filename().string(), root));
    }
    std::sort(interfaces.begin(), interfaces.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return interfaces;
}

NetworkInterface describe_interface(const std::string& name, const fs::path& root) {
    if (name.empty() || name.starts_with('.') || name.find('/') != std::string::npos ||
        !is_interface(root / name))
        throw NoInterface(name, root);
    return describe(name, root);
}

std::string byte_unit(const NetworkInterface& interface) {
    if (interface.driver == "loopback")
        return "device bytes without a link layer header; a GSO super-packet counts one header";
    if (interface.driver == "virtual" || interface.driver == "virtio_net" || interface.driver == "ena")
        return "device bytes without FCS; a GSO super-packet counts one header (about 4.4 % below the wire "
               "at MTU 1500)";
    return "device bytes without FCS";
}

std::string host_name() {
    std::array<char, 256> name{};
    if (::gethostname(name.data(), name.size() - 1) != 0)
        throw std::system_error(errno, std::generic_category(), "read the host name");
    return name.data();
}

} // namespace collectors
