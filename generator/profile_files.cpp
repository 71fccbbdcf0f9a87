#include "generator/profile_files.hpp"

#include "generator/profile.hpp"
#include "generator/profile_suggestion.hpp"
#include "generator/profile_syntax.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace generator {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t max_file_bytes =
    64 * 1024 * 1024; // the tensors of the largest models need less than 1 MiB

constexpr std::size_t max_cdf_bytes = 1024 * 1024;

std::string not_found(const std::string& name, const std::vector<fs::path>& folders) {
    std::vector<std::string> searched;
    for (const fs::path& folder : folders) {
        searched.push_back(folder.string());
    }
    std::vector<std::string> names;
    for (const ProfileListing& listing : list_profiles(folders)) {
        names.push_back(listing.name);
    }
    const std::string hint = nearest_name(name, names) ? suggestion(name, names) : ";";
    return fmt::format("no profile \"{}\" in {}{} there are: {}", name,
                       searched.empty() ? "no folder" : fmt::format("{}", fmt::join(searched, ", ")), hint,
                       names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
}

/// Where the profile is, and how messages name it.
struct Location {
    fs::path path;
    std::string name;
};

Location locate(const std::string& name_or_path, const std::vector<fs::path>& folders) {
    if (is_profile_path(name_or_path)) {
        return {name_or_path, name_or_path};
    }
    for (const fs::path& folder : folders) {
        const fs::path path = folder / (name_or_path + ".json");
        std::error_code error;
        if (fs::exists(path, error)) {
            return {path, path.filename().string()};
        }
    }
    throw ProfileError(not_found(name_or_path, folders));
}

/// The tensor list that the profile names; empty if it names none. Whatever is wrong with the field itself,
/// parse_profile says.
std::string model_file(const nlohmann::json& document) {
    if (!document.is_object() || !document.contains("model") || !document["model"].is_object()) {
        return "";
    }
    const nlohmann::json& model = document["model"];
    return model.contains("tensors") && model["tensors"].is_string() ? model["tensors"].get<std::string>()
                                                                     : "";
}

/// The files of message sizes that its background traffic names.
std::vector<std::string> cdf_files(const nlohmann::json& document) {
    std::vector<std::string> files;
    if (!document.is_object() || !document.contains("background") || !document["background"].is_array())
        return files;
    for (const nlohmann::json& entry : document["background"])
        if (const nlohmann::json::json_pointer cdf("/message/cdf");
            entry.is_object() && entry.contains("message") && entry["message"].is_object() &&
            entry.contains(cdf) && entry[cdf].is_string())
            files.push_back(entry[cdf].get<std::string>());
    return files;
}

std::string description(const fs::path& path) {
    try {
        const nlohmann::json document = parse_json(read_profile_file(path, path.filename().string()));
        return document.is_object() && document.contains("description") && document["description"].is_string()
                   ? document["description"].get<std::string>()
                   : "";
    } catch (const std::exception& error) {
        return fmt::format("(not usable: {})", error.what());
    }
}

bool is_profile_file(const fs::directory_entry& entry) {
    std::error_code error;
    return entry.path().extension() == ".json" && entry.path().stem().extension() != ".schema" &&
           entry.is_regular_file(error);
}

} // namespace

std::string read_profile_file(const fs::path& path, const std::string& as) {
    std::error_code error;
    if (fs::is_directory(path, error)) {
        throw ProfileError(as + ": is a directory; expected a file");
    }
    errno = 0;
    std::ifstream file(path, std::ios::binary);
    if (!file) {
        throw ProfileError(fmt::format("{}: cannot be opened: {}", as, std::strerror(errno)));
    }
    std::string text;
    std::array<char, 65536> block;
    while (text.size() <= max_file_bytes && (file.read(block.data(), block.size()) || file.gcount() > 0)) {
        text.append(block.data(), static_cast<std::size_t>(file.gcount()));
    }
    if (file.bad()) {
        throw ProfileError(as + ": cannot be read");
    }
    if (text.size() > max_file_bytes) {
        throw ProfileError(as + ": is larger than 64 MiB; that is no profile");
    }
    return text;
}

bool is_profile_path(const std::string& name) {
    return name.find('/') != std::string::npos || name.ends_with(".json");
}

ProfileSource load_profile(const std::string& name_or_path, const std::vector<fs::path>& folders) {
    const Location at = locate(name_or_path, folders);
    ProfileSource source{at.name, read_profile_file(at.path, at.name), ""};
    std::string file;
    std::vector<std::string> cdfs;
    try {
        const nlohmann::json document = parse_json(source.text);
        file = model_file(document);
        cdfs = cdf_files(document);
    } catch (const std::invalid_argument& error) {
        throw ProfileError(source.name + ": " + error.what());
    }
    if (!file.empty()) {
        source.model_text =
            read_profile_file(at.path.parent_path() / file, source.name + ": /model/tensors: " + file);
    }
    for (const std::string& cdf : cdfs) {
        source.cdf_texts[cdf] =
            read_profile_file(at.path.parent_path() / cdf, source.name + ": /background: " + cdf);
        if (source.cdf_texts[cdf].size() > max_cdf_bytes) {
            throw ProfileError(
                fmt::format("{}: /background: {}: is larger than 1 MiB; that is no CDF", source.name, cdf));
        }
    }
    return source;
}

std::vector<ProfileListing> list_profiles(const std::vector<fs::path>& folders) {
    std::vector<ProfileListing> listings;
    for (const fs::path& folder : folders) {
        std::error_code error;
        for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
            const std::string name = entry.path().stem().string();
            const bool hidden =
                std::any_of(listings.begin(), listings.end(), [&name](const ProfileListing& listing) {
                    return listing.name == name; // an earlier folder wins
                });
            if (is_profile_file(entry) && !hidden) {
                listings.push_back({name, description(entry.path()), entry.path()});
            }
        }
    }
    std::sort(listings.begin(), listings.end(),
              [](const ProfileListing& left, const ProfileListing& right) { return left.name < right.name; });
    return listings;
}

std::vector<fs::path> profile_folders() {
    std::vector<fs::path> folders;
    if (const char* variable = std::getenv("GRADBURST_PROFILES")) {
        const std::string_view list(variable);
        for (std::size_t begin = 0; begin < list.size();) {
            const std::size_t end = std::min(list.find(':', begin), list.size());
            if (end > begin) {
                folders.emplace_back(list.substr(begin, end - begin));
            }
            begin = end + 1;
        }
    }
    std::error_code error;
    const fs::path program = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
        folders.push_back((program.parent_path() / "../share/gradburst/profiles").lexically_normal());
    }
    return folders;
}

} // namespace generator
