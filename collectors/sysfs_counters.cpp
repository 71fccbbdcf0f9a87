#include "collectors/sysfs_counters.hpp"

#include "collectors/interfaces.hpp"
#include "collectors/netlink_counters.hpp"

#include <array>
#include <cstdio>
#include <fstream>
#include <system_error>

#include <linux/magic.h>
#include <net/if.h>
#include <sys/vfs.h>

#include <fmt/format.h>

namespace collectors {

namespace {

namespace fs = std::filesystem;

bool is_sysfs(const fs::path& root) {
    struct statfs about {};
    return ::statfs(root.c_str(), &about) == 0 && about.f_type == SYSFS_MAGIC;
}

unsigned index_in(const fs::path& device) {
    unsigned index = 0;
    std::ifstream(device / "ifindex") >> index;
    return index;
}

/// The folder of the interface, from `root`.
fs::path folder_of(const std::string& interface, const fs::path& root) {
    const bool is_name =
        !interface.empty() && !interface.starts_with('.') && interface.find('/') == std::string::npos;
    if (!is_name || !fs::is_directory(root / interface / "statistics"))
        throw NoInterface(interface, list_interfaces(root));
    return interface;
}

bool counts_the_same(const std::string& interface, const fs::path& root) {
    NetlinkCounters ours(interface);
    const CounterSource::Counters before = ours.read();
    const CounterSource::Counters shown = SysfsCounters(interface, root).read();
    const CounterSource::Counters after = ours.read();
    if (before.error != 0 || shown.error != 0 || after.error != 0)
        return true; // nothing is known against it
    return before.rx_bytes <= shown.rx_bytes && shown.rx_bytes <= after.rx_bytes &&
           before.tx_bytes <= shown.tx_bytes && shown.tx_bytes <= after.tx_bytes;
}

} // namespace

SysfsCounters::SysfsCounters(const std::string& interface, const fs::path& root)
    : FileCounters(root, folder_of(interface, root) / "statistics/rx_bytes",
                   fs::path(interface) / "statistics/tx_bytes"),
      interface_(interface), watch_(is_sysfs(root) ? interface : std::string()) {}

/// After reads failed: the same device if it is still there, else one that came back under its first name.
int SysfsCounters::open() noexcept {
    const InterfaceWatch::Name now = watch_.name();
    if (now.front() == '\0') {
        watch_.follow(interface_);
        return FileCounters::open();
    }
    std::array<std::array<char, IFNAMSIZ + 24>, 2> paths{};
    std::snprintf(paths[0].data(), paths[0].size(), "%s/statistics/rx_bytes", now.data());
    std::snprintf(paths[1].data(), paths[1].size(), "%s/statistics/tx_bytes", now.data());
    return open_files(paths[0].data(), paths[1].data());
}

std::string sysfs_objection(const fs::path& root) {
    std::error_code error;
    if (!fs::is_directory(root, error))
        return fmt::format("there is no {}", root.string());
    if (!is_sysfs(root))
        return {};
    std::size_t ours = 0;
    for (const std::string& name : interface_names()) {
        ++ours;
        if (index_in(root / name) != ::if_nametoindex(name.c_str()))
            return fmt::format("{} shows another network namespace: not the {} that is here", root.string(),
                               name);
    }
    std::size_t shown = 0;
    for (const fs::directory_entry& entry : fs::directory_iterator(root, error))
        shown += index_in(entry.path()) != 0 ? 1U : 0U;
    if (shown != ours)
        return fmt::format("{} shows another network namespace: {} interfaces, {} are here", root.string(),
                           shown, ours);
    return {};
}

std::string sysfs_objection(const fs::path& root, const std::string& interface) {
    if (const std::string objection = sysfs_objection(root); !objection.empty() || !is_sysfs(root))
        return objection;
    try {
        if (!counts_the_same(interface, root))
            return fmt::format("{} shows another network namespace: other counts of {}", root.string(),
                               interface);
    } catch (const std::system_error&) {
        // Without rtnetlink (a sandbox) names and numbers have to do.
    }
    return {};
}

} // namespace collectors
