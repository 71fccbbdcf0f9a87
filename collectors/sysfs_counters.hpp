#pragma once

#include "collectors/file_counters.hpp"
#include "collectors/interface_watch.hpp"

#include <filesystem>
#include <string>

namespace collectors {

/// rx_bytes and tx_bytes of one interface from sysfs: 3.6 us for both, and no RTNL lock, which others may
/// hold for hundreds of milliseconds. Follows the device when it is renamed. When it is gone, it is looked
/// for under its first name.
class SysfsCounters : public FileCounters {
public:
    /// Throws NoInterface, or std::system_error if the counters cannot be opened.
    explicit SysfsCounters(const std::string& interface,
                           const std::filesystem::path& root = "/sys/class/net");

    std::string name() const override { return "sysfs"; }
    std::string interface_name() const override { return watch_.name().data(); }

protected:
    int open() noexcept override;

private:
    std::string interface_;
    InterfaceWatch watch_; ///< of nothing where the folder is none of the kernel's
};

/// Why the interfaces in `root` are not those of the calling thread's network namespace: /sys shows the
/// namespace in which it was mounted, which nsenter and setns do not change. Empty if they are, or if `root`
/// is no sysfs (a test's folder).
std::string sysfs_objection(const std::filesystem::path& root);

/// The same for one interface, looked at closely: two namespaces may have interfaces of the same names and
/// numbers, but hardly ones that have counted the same bytes.
std::string sysfs_objection(const std::filesystem::path& root, const std::string& interface);

} // namespace collectors
