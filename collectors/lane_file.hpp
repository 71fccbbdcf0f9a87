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
    /// Counts readings that were left out.
    void add_late(std::uint64_t count) { late_ += count; }
    /// It, or a part of it, will not be read any more: the sidecar says why.
    void give_up(const std::string& reason) { gave_up_ += (gave_up_.empty() ? "" : "; ") + reason; }
    void write();
    /// Writes what is left and completes the sidecar.
    void finish();

    const std::filesystem::path& path() const { return path_; }
    std::uint64_t rows() const { return rows_; }
    std::uint64_t failed() const { return failed_; }
    std::uint64_t late() const { return late_; }
    const std::string& gave_up() const { return gave_up_; }

private:
    void write_sidecar(bool complete) const;

    std::filesystem::path path_;
    LaneInfo info_;
    int descriptor_ = -1;
    std::string lines_;
    std::uint64_t rows_ = 0;
    std::uint64_t failed_ = 0;
    std::uint64_t late_ = 0;
    std::string gave_up_;
};

/// Writes what `LaneFile` wrote under another name, with its sidecar, in place of what is there. Errors are
/// std::system_error or std::runtime_error that names the file.
void copy_lane_file(const std::filesystem::path& from, const std::filesystem::path& to);

/// What `LaneFile` wrote.
struct LaneTable {
    std::int64_t start_monotonic_ns = 0;
    std::string interface;
    std::vector<std::pair<std::string, std::string>> facts; ///< all texts of the sidecar
    std::vector<std::vector<std::int64_t>> rows;

    /// The text under that key of the sidecar; empty if there is none.
    std::string fact(std::string_view key) const;
};

/// What the sidecar of a lane's file says of how it went.
struct LaneNotes {
    std::uint64_t failed = 0;
    std::uint64_t late = 0;
    std::string gave_up;
};

/// Throws std::runtime_error that names the sidecar.
LaneNotes read_lane_notes(const std::filesystem::path& path);

/// Throws std::runtime_error that names the file and the line. A last line without line end is ignored: its
/// writer was killed.
LaneTable read_lane_file(const std::filesystem::path& path, std::span<const LaneColumn> columns);

} // namespace collectors
