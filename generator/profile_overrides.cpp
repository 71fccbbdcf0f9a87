#include "generator/profile_overrides.hpp"

#include "generator/profile_reader.hpp"
#include "generator/profile_syntax.hpp"

#include <fmt/format.h>
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

using Pointer = json::json_pointer;

Pointer pointer_of(const Override& change) {
    try {
        const Pointer pointer(change.pointer);
        if (!pointer.empty()) {
            return pointer;
        }
    } catch (const json::parse_error&) { // has no words for users
    }
    throw std::invalid_argument(change.option + ": sets no field of a profile: \"" + change.pointer + '"');
}

bool is_index(const std::string& key) {
    return key == "-" || key.find_first_not_of("0123456789") == std::string::npos;
}

/// The element `key` of a list, or of an object, which is made if need be.
json& element(json& container, const std::string& key, const std::string& path, const Override& change,
              Origin& origin) {
    const auto refuse = [&](const std::string& reason) {
        throw std::invalid_argument(change.option + ": " + reason);
    };
    if (container.is_null()) {
        if (is_index(key)) {
            refuse(fmt::format("the profile has no list {0}; set the whole list, --set '{0}=[...]'", path));
        }
        container = json::object();
        origin.made.emplace(path, change.option);
    }
    if (container.is_object()) {
        return container[key];
    }
    if (!container.is_array()) {
        refuse(fmt::format("{}{} is {}, which has no fields", origin.file.empty() ? "" : origin.file + ": ",
                           path, shown(container)));
    }
    for (std::size_t i = 0; i < container.size(); ++i) {
        if (key == std::to_string(i)) {
            return container[i];
        }
    }
    refuse(fmt::format("the list {} has {} element{}, counted from 0", path, container.size(),
                       container.size() == 1 ? "" : "s"));
    return container;
}

json& element(json& document, const Pointer& at, const Override& change, Origin& origin) {
    if (at.empty()) {
        return document;
    }
    const Pointer container = at.parent_pointer();
    return element(element(document, container, change, origin), at.back(), container.to_string(), change,
                   origin);
}

/// Notes who sets what; nothing may be set by two options, be it as a part of something larger.
void note(const Override& change, Origin& origin) {
    for (const auto& [pointer, option] : origin.options) {
        if (pointer == change.pointer) {
            throw std::invalid_argument(change.option + ": set twice" +
                                        (option == change.option ? "" : ", by " + option + " too"));
        }
        if (pointer.starts_with(change.pointer + '/') || change.pointer.starts_with(pointer + '/')) {
            throw std::invalid_argument(fmt::format("{}: sets what {} sets too ({}); give one of them",
                                                    change.option, option,
                                                    std::max(pointer, change.pointer)));
        }
    }
    origin.options[change.pointer] = change.option;
}

/// Removes from the section of `at` what a value there replaces.
void erase_replaced(json& section, const Pointer& at) {
    if (!section.is_object()) {
        return;
    }
    const std::string_view key = without_unit(at.back());
    erase(section, key);
    section.erase(at.back());
    for (const Alternatives& choice : alternatives()) {
        if (choice.section != at.parent_pointer().to_string()) {
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
        if (change.pointer == "/model/tensors") {
            throw std::invalid_argument(change.option + ": the tensor list can only be named in the profile");
        }
        pointer_of(change);
        note(change, origin);
    }
    for (const Override& change : overrides) {
        const Pointer at = pointer_of(change);
        erase_replaced(element(document, at.parent_pointer(), change, origin), at);
    }
    // Only now, so that one option does not remove what another has set.
    for (const Override& change : overrides) {
        json& field = element(document, pointer_of(change), change, origin);
        try {
            field = parse_json(change.json);
        } catch (const std::invalid_argument& error) {
            throw std::invalid_argument(change.option + ": " + error.what());
        }
    }
}

} // namespace generator
