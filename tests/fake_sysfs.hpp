#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace tests {

namespace fs = std::filesystem;

inline void write_text(const fs::path& path, const std::string& text) {
    std::ofstream(path) << text;
}

/// A folder that looks like /sys/class/net.
class FakeSysfs {
public:
    FakeSysfs() {
        std::string name = (fs::temp_directory_path() / "sysfs_test.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
        root_ = name;
        write_text(root_ / "bonding_masters", "\n");
    }
    ~FakeSysfs() {
        std::error_code ignored;
        fs::remove_all(root_, ignored);
    }
    FakeSysfs(const FakeSysfs&) = delete;
    FakeSysfs& operator=(const FakeSysfs&) = delete;

    const fs::path& root() const { return root_; }

    void add(const std::string& name, const std::string& type) const {
        fs::create_directories(root_ / name / "statistics");
        write_text(root_ / name / "operstate", "up\n");
        write_text(root_ / name / "type", type + "\n");
        write_text(root_ / name / "speed", "100000\n");
        set(name, "0\n", "0\n");
    }
    void set(const std::string& name, const std::string& rx, const std::string& tx) const {
        write_text(root_ / name / "statistics/rx_bytes", rx);
        write_text(root_ / name / "statistics/tx_bytes", tx);
    }
    void add_driver(const std::string& name, const std::string& driver) const {
        fs::create_directories(root_ / name / "device");
        fs::create_symlink("../../../bus/pci/drivers/" + driver, root_ / name / "device/driver");
    }

private:
    fs::path root_;
};

} // namespace tests
