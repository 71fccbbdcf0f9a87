#pragma once

#include "collectors/counter_source.hpp"

#include <array>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace collectors {

/// The user named an interface that is not there: `no interface eth9 on host H; available: eth0, lo`.
class NoInterface : public std::runtime_error {
public:
    NoInterface(const std::string& name, const std::filesystem::path& root);
};

/// rx_bytes and tx_bytes of one interface from sysfs. Both files stay open and are read at offset 0: 3.6 us
/// for both, and no RTNL lock, which others may hold for hundreds of milliseconds. Follows the device when it
/// is renamed. When it is gone, reads fail and it is looked for under its old name, at most every 100 ms.
class SysfsCounters : public CounterSource {
public:
    /// Throws NoInterface, or std::system_error if the counters cannot be opened.
    explicit SysfsCounters(const std::string& interface,
                           const std::filesystem::path& root = "/sys/class/net");
    ~SysfsCounters() override;
    SysfsCounters(const SysfsCounters&) = delete;
    SysfsCounters& operator=(const SysfsCounters&) = delete;

    Counters read() noexcept override;
    std::string name() const override { return "sysfs"; }

private:
    /// errno, or 0.
    int open_files() noexcept;
    void close_files() noexcept;

    std::array<std::string, 2> paths_; ///< rx, tx
    std::array<int, 2> descriptors_{-1, -1};
    bool lost_ = false;
    std::int64_t next_attempt_ns_ = 0;
};

} // namespace collectors
