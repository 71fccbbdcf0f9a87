#include "generator/free_space.hpp"

#include <algorithm>
#include <fstream>
#include <string>

namespace generator {
namespace {

namespace fs = std::filesystem;

/// First number in a file; nullopt also for "max".
std::optional<std::uint64_t> number_in(const fs::path& path) {
    std::ifstream file(path);
    std::uint64_t value = 0;
    return file >> value ? std::optional(value) : std::nullopt;
}

/// The control group of this process below /sys/fs/cgroup: the line "0::/path" of version 2.
std::optional<fs::path> control_group() {
    std::ifstream file("/proc/self/cgroup");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("0::/"))
            return fs::path("/sys/fs/cgroup") / line.substr(4);
    return std::nullopt;
}

} // namespace

std::optional<std::uint64_t> free_memory() {
    std::optional<std::uint64_t> free;
    std::ifstream file("/proc/meminfo");
    for (std::string line; std::getline(file, line);)
        for (const std::string key : {"MemAvailable:", "SwapFree:"})
            if (line.starts_with(key))
                free = free.value_or(0) + 1024 * std::stoull(line.substr(key.size())); // "  12345 kB"
    // The limits of the groups around it bind as well.
    for (std::optional<fs::path> group = control_group(); free && group;) {
        const auto most = number_in(*group / "memory.max");
        const auto used = number_in(*group / "memory.current");
        if (most && used)
            free = std::min(*free, *most > *used ? *most - *used : 0);
        group =
            *group == "/sys/fs/cgroup" || *group == "/" ? std::nullopt : std::optional(group->parent_path());
    }
    return free;
}

std::optional<std::uint64_t> free_disk(const fs::path& path) {
    std::error_code error;
    fs::path place = fs::absolute(path, error);
    while (!error && !fs::exists(place, error) && place.has_relative_path())
        place = place.parent_path();
    const fs::space_info space = fs::space(place, error);
    return error ? std::nullopt : std::optional<std::uint64_t>(space.available);
}

} // namespace generator
