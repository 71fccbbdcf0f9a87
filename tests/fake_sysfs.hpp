#pragma once

#include "collectors/source_choice.hpp"
#include "temporary_folder.hpp"
#include "text.hpp"

#include <filesystem>
#include <string>

namespace tests {

namespace fs = std::filesystem;

/// A folder that looks like /sys/class/net.
class FakeSysfs {
public:
    FakeSysfs() { write_text(root() / "bonding_masters", "\n"); }

    const fs::path& root() const { return folder_.path(); }

    void add(const std::string& name, const std::string& type) const {
        fs::create_directories(root() / name / "statistics");
        write_text(root() / name / "operstate", "up\n");
        write_text(root() / name / "type", type + "\n");
        write_text(root() / name / "speed", "100000\n");
        set(name, "0\n", "0\n");
    }
    void set(const std::string& name, const std::string& rx, const std::string& tx) const {
        write_text(root() / name / "statistics/rx_bytes", rx);
        write_text(root() / name / "statistics/tx_bytes", tx);
    }
    void add_driver(const std::string& name, const std::string& driver) const {
        fs::create_directories(root() / name / "device");
        fs::create_symlink("../../../bus/pci/drivers/" + driver, root() / name / "device/driver");
    }

private:
    TemporaryFolder folder_;
};

/// Where counters of this host would be, all in the fake.
inline collectors::SourceFolders folders_of(const FakeSysfs& sysfs) {
    collectors::SourceFolders folders;
    folders.interfaces = sysfs.root();
    folders.device_list = sysfs.root() / "dev";
    folders.rdma = sysfs.root() / "infiniband";
    return folders;
}

} // namespace tests
