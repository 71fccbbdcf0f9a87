#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

/// Everything that one run leaves behind, or a launch of several jobs: each then has a folder in it; or a
/// sweep, each of whose steps is a launch in a folder in it. See README.md for the files.
class RunDirectory {
public:
    /// Creates the folder. Throws UserError when it holds a run already (unless `overwrite`, which removes
    /// the old run's files) or is a file, std::system_error when it cannot be written.
    static RunDirectory create(const std::filesystem::path& path, bool overwrite);
    /// The same for a sweep, which has no traces of its own.
    static RunDirectory create_for_sweep(const std::filesystem::path& path, bool overwrite);
    /// A folder that rank 0 has created, seen from another rank: made here if the hosts share no file system.
    static RunDirectory join(const std::filesystem::path& path);

    /// The folder of one job of a launch of several, made here. Throws UserError when a run or a file stands
    /// in its way.
    RunDirectory of_job(const std::string& name) const;

    const std::filesystem::path& path() const { return path_; }

    /// Writes beside, then renames: whoever reads sees the old file or the new one, whole. Throws
    /// std::system_error that names the file.
    void write(const std::string& name, std::string_view content);

    /// The names of what this object wrote, as far as it is still there, and the folder of the traces.
    std::vector<std::string> kept() const;

private:
    static void make_room(const std::filesystem::path& path, bool overwrite);

    explicit RunDirectory(std::filesystem::path path) : path_(std::move(path)) {}
    std::filesystem::path path_;
    std::set<std::string> written_;
};

/// "gradburst-20240229T134501Z", for runs without --out.
std::string default_run_directory();
/// "2024-02-29T13:45:01Z"
std::string utc_now();
/// 16 random hex digits, to recognise a run.
std::string random_run_id();

} // namespace generator
