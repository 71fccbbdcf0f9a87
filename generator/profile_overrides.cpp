#include "generator/profile_overrides.hpp"

#include "generator/profile_reader.hpp"
#include "generator/profile_syntax.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

namespace generator {
namespace {

using nlohmann::json;
using Keys = std::vector<std::string_view>;

/// Ways to say one thing in a section. An option that says it in one way replaces the profile's other ways.
struct Alternatives {
    std::string_view section;
    std::vector<Keys> ways;
};

std::vector<Alternatives> alternatives() {
    const Keys time{"time", "forward_share", "backward_share", "optimizer_share"};
    const Keys throughput{"images_per_second", "batch", "forward_share", "backward_share", "optimizer_share"};
    return {{"/compute", {time, throughput, {"forward", "backward", "optimizer"}}},
            {"/run", {{"iterations"}, {"duration"}}}};
}

bool contains(const Keys& keys, std::string_view key) {
    return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::vector<std::string_view> unit_suffixes() {
    std::vector<std::string_view> suffixes(duration_suffixes().begin(), duration_suffixes().end());
    suffixes.insert(suffixes.end(), rate_suffixes().begin(), rate_suffixes().end());
    return suffixes;
}

/// Removes a field in all its spellings: `forward`, `forward_ms` ...
void erase(json& section, std::string_view key) {
    section.erase(std::string(key));
    for (const std::string_view suffix : unit_suffixes()) {
        section.erase(std::string(key).append(suffix));
    }
}

std::string_view without_unit(std::string_view key) {
    for (const std::string_view suffix : unit_suffixes()) {
        if (key.ends_with(suffix)) {
            return key.substr(0, key.size() - suffix.size());
        }
    }
    return key;
}

struct Target {
    std::string section; ///< JSON path
    std::string key;
};

Target target(const Override& change) {
    const std::size_t slash = change.pointer.rfind('/');
    if (slash == std::string::npos) {
        throw std::invalid_argument(change.option + ": sets no field of a profile: \"" + change.pointer +
                                    '"');
    }
    return {change.pointer.substr(0, slash), change.pointer.substr(slash + 1)};
}

json& as_object(json& value, const std::string& path, const Origin& origin) {
    if (value.is_null()) {
        value = json::object();
    }
    if (!value.is_object()) {
        throw std::invalid_argument(origin.name(path) + ": must be an object, is " + shown(value));
    }
    return value;
}

/// The section in the document; what is not there is made.
json& section_of(json& document, const Target& at, const Origin& origin) {
    json* section = &document;
    for (std::size_t begin = 0; begin < at.section.size();) {
        const std::size_t end = std::min(at.section.find('/', begin + 1), at.section.size());
        section = &as_object((*section)[at.section.substr(begin + 1, end - begin - 1)],
                             at.section.substr(0, end), origin);
        begin = end;
    }
    return *section;
}

void erase_replaced(json& section, const Target& at) {
    const std::string_view key = without_unit(at.key);
    erase(section, key);
    section.erase(at.key);
    for (const Alternatives& choice : alternatives()) {
        if (choice.section != at.section) {
            continue;
        }
        Keys kept; // of every way that the key belongs to
        for (const Keys& way : choice.ways) {
            if (contains(way, key)) {
                kept.insert(kept.end(), way.begin(), way.end());
            }
        }
        for (const Keys& way : choice.ways) {
            for (const std::string_view other : way) {
                if (!kept.empty() && !contains(kept, other)) {
                    erase(section, other);
                }
            }
        }
    }
}

} // namespace

void apply_overrides(json& document, std::span<const Override> overrides, Origin& origin) {
    if (!document.is_object()) {
        return; // the reader of the document says so
    }
    for (const Override& change : overrides) {
        const Target at = target(change);
        if (change.pointer == "/model/tensors") {
            throw std::invalid_argument(change.option + ": the tensor list can only be named in the profile");
        }
        erase_replaced(section_of(document, at, origin), at);
    }
    // Only now, so that one option does not remove what another has set.
    for (const Override& change : overrides) {
        const Target at = target(change);
        try {
            section_of(document, at, origin)[at.key] = parse_json(change.json);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(change.option + ": " + error.what());
        }
        origin.options[change.pointer] = change.option;
    }
}

} // namespace generator
