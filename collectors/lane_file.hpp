#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace collectors {

struct LaneColumn {
    std::string_view name;
    std::string_view unit;
    std::string_view meaning;
};

/// What a lane's file says about itself; the JSON sidecar.
struct LaneInfo {
    std::string_view format; ///< "gradburst-queue/1"
    std::string interface;
    std::vector<std::pair<std::string, std::string>> facts; ///< more keys with their texts
    std::span<const LaneColumn> columns;                    ///< the first is t_ns
    std::int64_t interval_ns = 0;
    std::int64_t start_monotonic_ns = 0; ///< CLOCK_MONOTONIC at t_ns = 0
};

/// One CSV file of a lane with its sidecar `<name>.json`. Rows are collected in memory; what `write` has
/// written stays readable after SIGKILL. Errors are std::system_error that names the file.
class LaneFile {
public:
    /// Creates both; refuses to replace an existing file unless `overwrite`.
    LaneFile(std::filesystem::path path, LaneInfo info, bool overwrite);
    ~LaneFile();
    LaneFile(const LaneFile&) = delete;
    LaneFile& operator=(const LaneFile&) = delete;

    /// Adds a row: the numbers of all columns.
    void add(std::span<const std::int64_t> row);
    /// Counts a reading without an answer.
    void add_failure() { ++failed_; }
    void write();
    /// Writes what is left and completes the sidecar.
    void finish();

    const std::filesystem::path& path() const { return path_; }
    std::uint64_t rows() const { return rows_; }
    std::uint64_t failed() const { return failed_; }

private:
    void write_sidecar(bool complete) const;

    std::filesystem::path path_;
    LaneInfo info_;
    int descriptor_ = -1;
    std::string lines_;
    std::uint64_t rows_ = 0;
    std::uint64_t failed_ = 0;
};

/// What `LaneFile` wrote.
struct LaneTable {
    std::int64_t start_monotonic_ns = 0;
    std::string interface;
    std::vector<std::pair<std::string, std::string>> facts; ///< all texts of the sidecar
    std::vector<std::vector<std::int64_t>> rows;

    /// The text under that key of the sidecar; empty if there is none.
    std::string fact(std::string_view key) const;
};

/// Throws std::runtime_error that names the file and the line. A last line without line end is ignored: its
/// writer was killed.
LaneTable read_lane_file(const std::filesystem::path& path, std::span<const LaneColumn> columns);

} // namespace collectors
