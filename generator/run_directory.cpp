#include "generator/run_directory.hpp"

#include "collectors/file_output.hpp"
#include "generator/failure.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <ctime>
#include <fcntl.h>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <system_error>
#include <unistd.h>

namespace generator {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view traces = "nic";
constexpr std::string_view characters_of_folders = // of jobs and steps
    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
constexpr std::array contents{"sweep.json", "launch.json",    "jobs.json",   "run.json",    "timeline.csv",
                              "tcp.csv",    "background.csv", traces.data(), "metrics.prom"};

void remove_contents(const fs::path& path) {
    std::error_code error;
    fs::remove_all(path / traces, error);
    for (const char* name : contents)
        fs::remove(path / name, error); // a folder of that name with something in it is not ours
    for (const char* name : {"report.json", "report.html"}) // they tell of the run that goes
        fs::remove(path / name, error);
}

/// The folders that a file of ours names in its list, below `path`; none if it does not tell.
std::vector<fs::path> named_folders(const fs::path& path, const char* name, const char* list,
                                    const char* key) {
    std::vector<fs::path> folders;
    std::error_code error;
    if (!fs::is_regular_file(path / name, error)) // a pipe would be waited for
        return folders;
    std::ifstream file(path / name);
    const nlohmann::json document = nlohmann::json::parse(file, nullptr, false);
    if (!document.is_object() || !document.contains(list) || !document[list].is_array())
        return folders;
    for (const nlohmann::json& each : document[list]) {
        const bool named = each.is_object() && each.contains(key) && each[key].is_string();
        const std::string below = named ? each[key].get<std::string>() : "";
        const fs::path folder = path / below;
        // A link, and a name that may lead elsewhere, are not of gradburst's making.
        if (!below.empty() && below.find_first_not_of(characters_of_folders) == std::string::npos &&
            fs::symlink_status(folder, error).type() == fs::file_type::directory)
            folders.push_back(folder);
    }
    return folders;
}

/// Also the folders of the steps of a sweep and of the jobs of a launch, of which nothing else is removed.
void remove_run(const fs::path& path) {
    std::error_code error;
    std::vector<fs::path> below = named_folders(path, "sweep.json", "steps", "directory");
    for (fs::path& folder : named_folders(path, "launch.json", "jobs", "name"))
        below.push_back(std::move(folder));
    for (const fs::path& folder : below) {
        remove_run(folder);
        fs::remove(folder, error); // if nothing else is in it
    }
    remove_contents(path);
}

bool holds_run(const fs::path& path) {
    return fs::exists(path / "run.json") || fs::exists(path / "launch.json") ||
           fs::exists(path / "sweep.json");
}

void create_folder(const fs::path& out, const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error == std::errc::not_a_directory)
        throw UserError(fmt::format("--out {}: a part of this path is a file", out.string()));
    if (error)
        throw std::system_error(error, "create " + folder.string());
}

void require_writable(const fs::path& folder) {
    if (::access(folder.c_str(), W_OK | X_OK) != 0)
        throw std::system_error(errno, std::generic_category(), "write into " + folder.string());
}

std::tm utc(std::time_t seconds) {
    std::tm parts{};
    gmtime_r(&seconds, &parts);
    return parts;
}

} // namespace

void RunDirectory::make_room(const fs::path& path, bool overwrite) {
    if (fs::exists(path) && !fs::is_directory(path))
        throw UserError(fmt::format("--out {}: is a file; give a folder", path.string()));
    if (holds_run(path)) {
        if (!overwrite)
            throw UserError(fmt::format(
                "--out {}: holds a run already; give another folder, or --overwrite to replace it",
                path.string()));
        remove_run(path);
    }
}

RunDirectory RunDirectory::create(const fs::path& path, bool overwrite) {
    make_room(path, overwrite);
    create_folder(path, path / "nic");
    require_writable(path);
    require_writable(path / "nic");
    return RunDirectory(path);
}

RunDirectory RunDirectory::create_for_sweep(const fs::path& path, bool overwrite) {
    make_room(path, overwrite);
    create_folder(path, path);
    require_writable(path);
    return RunDirectory(path);
}

RunDirectory RunDirectory::join(const fs::path& path) {
    std::error_code error;
    fs::create_directories(path / "nic", error);
    if (error)
        throw std::system_error(error, "create " + (path / "nic").string());
    return RunDirectory(path);
}

RunDirectory RunDirectory::of_job(const std::string& name) const {
    const fs::path folder = path_ / name;
    std::error_code error;
    fs::create_directory(folder, error);
    if (fs::exists(folder) && !fs::is_directory(folder))
        throw UserError(fmt::format("{}: is a file; remove it, or give another --out", folder.string()));
    if (error)
        throw std::system_error(error, "create " + folder.string());
    if (fs::exists(folder / "run.json"))
        throw UserError(
            fmt::format("{}: holds a run already; remove it, or give another --out", folder.string()));
    // Sampled once for all jobs; with the link a job's folder is the directory of a run like any other.
    const fs::path link = folder / traces;
    const fs::path target = fs::path("..") / traces;
    fs::create_directory_symlink(target, link, error);
    if (error == std::errc::file_exists && fs::is_symlink(link) && fs::read_symlink(link) == target)
        return RunDirectory(folder); // of a launch that was cut short
    if (error == std::errc::file_exists)
        throw UserError(fmt::format(
            "{}: stands in the way of a job's folder; remove it, or give another --out", link.string()));
    if (error)
        throw std::system_error(error, "create " + link.string());
    return RunDirectory(folder);
}

void RunDirectory::write(const std::string& name, std::string_view content) {
    const fs::path target = path_ / name;
    const fs::path beside = path_ / (name + ".new");
    const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (descriptor < 0)
        throw std::system_error(errno, std::generic_category(), "create " + beside.string());
    try {
        collectors::write_all(descriptor, content, beside);
    } catch (...) {
        ::close(descriptor);
        ::unlink(beside.c_str()); // half a file helps nobody, and the disk may be full
        throw;
    }
    ::close(descriptor);
    std::error_code error;
    fs::rename(beside, target, error);
    if (error) {
        ::unlink(beside.c_str());
        throw std::system_error(error, fmt::format("rename {} to {}", beside.string(), target.string()));
    }
    written_.insert(name);
}

std::vector<std::string> RunDirectory::kept() const {
    std::vector<std::string> names;
    std::error_code error;
    for (const char* name : contents)
        if (written_.contains(name) && fs::is_regular_file(path_ / name, error))
            names.push_back(name);
        else if (name == traces && fs::is_directory(path_ / name, error))
            names.push_back(fmt::format("{}/", name));
    return names;
}

std::string default_run_directory() {
    const std::string name = fmt::format("gradburst-{:%Y%m%dT%H%M%S}Z", utc(std::time(nullptr)));
    std::string unused = name;
    for (int number = 2; fs::exists(unused); ++number) // of runs in the same second
        unused = fmt::format("{}-{}", name, number);
    return unused;
}

std::string utc_now() {
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", utc(std::time(nullptr)));
}

std::string random_run_id() {
    std::random_device device;
    return fmt::format("{:08x}{:08x}", device(), device());
}

} // namespace generator
