#include "collectors/interfaces.hpp"

#include "collectors/interface_ioctl.hpp"
#include "collectors/rdma_counters.hpp"
#include "collectors/sysfs_counters.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <system_error>

#include <net/if.h>
#include <net/if_arp.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// Where interfaces really are, for which the calling thread's namespace has the last word.
bool is_kernels(const fs::path& root) {
    return root == "/sys/class/net";
}

std::vector<std::string> names_in(const fs::path& root) {
    if (is_kernels(root))
        return interface_names();
    std::vector<std::string> names;
    std::error_code error;
    // Not everything in there is an interface (bonding_masters), and one may go while we look.
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error))
        if (is_interface(entry.path()))
            names.push_back(entry.path().filename().string());
    return names;
}

std::string missing(const std::string& name, const std::vector<NetworkInterface>& available) {
    std::vector<std::string> names;
    for (const NetworkInterface& interface : available)
        names.push_back(interface.name);
    return fmt::format("no interface {} on host {}; available: {}", name, host_name(),
                       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

/// Below two lines of headings, "  eth0: 1 2 ...".
std::vector<std::string> names_in_proc() {
    std::vector<std::string> names;
    std::ifstream list("/proc/thread-self/net/dev");
    std::string line;
    for (int number = 0; std::getline(list, line); ++number)
        if (const std::size_t end = line.rfind(": "); number >= 2 && end != std::string::npos)
            names.push_back(line.substr(line.find_first_not_of(' '), end - line.find_first_not_of(' ')));
    return names;
}

} // namespace

NoInterface::NoInterface(const std::string& name, const std::vector<NetworkInterface>& available)
    : std::runtime_error(missing(name, available)) {}

std::vector<std::string> interface_names() {
    std::vector<std::string> names;
    struct if_nameindex* const all = ::if_nameindex();
    for (const struct if_nameindex* each = all; each != nullptr && each->if_index != 0; ++each)
        names.emplace_back(each->if_name);
    if (all == nullptr)
        return names_in_proc(); // it needs rtnetlink, which a sandbox may refuse
    ::if_freenameindex(all);
    return names;
}

std::vector<NetworkInterface> list_interfaces(const fs::path& root) {
    std::vector<NetworkInterface> interfaces;
    const bool shown = sysfs_objection(root).empty();
    for (const std::string& name : names_in(root))
        interfaces.push_back(shown ? describe(name, root) : ask_about(name));
    std::sort(interfaces.begin(), interfaces.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    return interfaces;
}

NetworkInterface describe_interface(const std::string& name, const fs::path& root) {
    const std::vector<NetworkInterface> all = list_interfaces(root);
    const auto found =
        std::find_if(all.begin(), all.end(), [&](const NetworkInterface& each) { return each.name == name; });
    if (found == all.end())
        throw NoInterface(name, all);
    return *found;
}

std::string byte_unit(const NetworkInterface& interface) {
    if (interface.driver == "loopback")
        return "device bytes without a link layer header; a GSO super-packet counts one header";
    if (is_rdma_port(interface.name))
        return "bytes of RDMA packets with their headers, counted by the port in words of 4";
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
