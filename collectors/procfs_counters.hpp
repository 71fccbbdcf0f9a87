#pragma once

#include "collectors/device_counters.hpp"
#include "collectors/interface_watch.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

namespace collectors {

/// rx and tx bytes of one interface from /proc/net/dev, where /sys is absent or shows another network
/// namespace. No RTNL lock; but the file lists all interfaces, at most a page per read, and is read to the
/// line that counts, twice: 6 us for a few interfaces, 24 us for twenty. It shows the namespace of the thread
/// that opened it, whatever that thread does later. Follows the interface when it is renamed, whoever has its
/// old name then. When it is gone, it is looked for under its first name, and its counters start anew.
class ProcfsCounters : public DeviceCounters {
public:
    /// Throws std::system_error if the file cannot be opened or does not list the interface.
    explicit ProcfsCounters(const std::string& interface,
                            const std::filesystem::path& file = "/proc/thread-self/net/dev");
    ~ProcfsCounters() override;
    ProcfsCounters(const ProcfsCounters&) = delete;
    ProcfsCounters& operator=(const ProcfsCounters&) = delete;

    std::string name() const override { return "procfs"; }
    std::string interface_name() const override { return watch_.name().data(); }

protected:
    int open() noexcept override;
    int read_rx(std::uint64_t& bytes) noexcept override;
    int read_tx(std::uint64_t& bytes) noexcept override { return read_followed(8, bytes); }

private:
    /// Lets prefix_ be that of the name which the interface has now: 0, or ENODEV.
    int follow() noexcept;
    int read_followed(int column, std::uint64_t& bytes) noexcept;
    /// The line of the interface after "name:", in text_; empty if there is none. errno, or 0.
    int find_line(std::string_view& columns) noexcept;
    int read_column(int column, std::uint64_t& bytes) noexcept;

    std::string interface_;
    std::string prefix_;   ///< "eth0:", of the name that it has now
    InterfaceWatch watch_; ///< of nothing where the file is not of this namespace
    int descriptor_ = -1;
    std::array<char, 16384> text_; ///< more than the kernel gives at once, and a line that was cut
};

} // namespace collectors
