#pragma once

#include "collectors/device_counters.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <string>

namespace collectors {

/// Two counters in a file each, which the kernel computes when they are read. Both files stay open and are
/// read at offset 0. Their folder is held open too: where it was found, in whatever network and mount
/// namespace, it is found again.
class FileCounters : public DeviceCounters {
public:
    ~FileCounters() override;
    FileCounters(const FileCounters&) = delete;
    FileCounters& operator=(const FileCounters&) = delete;

protected:
    /// `rx` and `tx` below `root`. A value of `limit` is none: the counter stands at its end (0: no limit).
    /// Values are multiplied by `unit_bytes`. Throws std::system_error if a file cannot be opened.
    FileCounters(const std::filesystem::path& root, const std::filesystem::path& rx,
                 const std::filesystem::path& tx, std::uint64_t unit_bytes = 1, std::uint64_t limit = 0);

    int open() noexcept override;
    /// The same of other files below `root`, now.
    int open_files(const char* rx, const char* tx) noexcept;
    int read_rx(std::uint64_t& bytes) noexcept override { return read_file(0, bytes); }
    int read_tx(std::uint64_t& bytes) noexcept override { return read_file(1, bytes); }

private:
    int read_file(std::size_t number, std::uint64_t& bytes) const noexcept;
    void close_files() noexcept;

    int root_ = -1;
    std::array<std::string, 2> paths_; ///< rx, tx, from root_
    std::array<int, 2> descriptors_{-1, -1};
    std::uint64_t unit_bytes_;
    std::uint64_t limit_;
};

} // namespace collectors
