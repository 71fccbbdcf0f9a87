#include "generator/profile_syntax.hpp"

#include "collectors/json_reason.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cstddef>
#include <set>
#include <stdexcept>
#include <vector>

namespace generator {
namespace {

using Event = nlohmann::json::parse_event_t;

constexpr std::size_t max_depth = 32;
constexpr std::size_t max_message_length = 300;

/// Follows the parser through the text and remembers the keys of every object that is still open.
class DuplicateCheck {
public:
    void see(Event event, const nlohmann::json& parsed) {
        switch (event) {
        case Event::object_start:
        case Event::array_start:
            enter();
            break;
        case Event::object_end:
        case Event::array_end:
            open_.pop_back();
            count_element();
            break;
        case Event::key:
            see_key(parsed.get<std::string>());
            break;
        case Event::value:
            count_element();
            break;
        }
    }

private:
    struct Level {
        std::set<std::string> keys;
        std::string key;          ///< in an object: the member that is being read
        std::size_t elements = 0; ///< in an array: how many have been read
    };

    std::string path() const {
        std::string text;
        for (const Level& level : open_) {
            text = child_path(text, level.keys.empty() ? std::to_string(level.elements) : level.key);
        }
        return text;
    }

    void enter() {
        if (open_.size() == max_depth) {
            throw std::invalid_argument(fmt::format("{}: nested deeper than {} levels", path(), max_depth));
        }
        open_.emplace_back();
    }

    void see_key(const std::string& key) {
        Level& object = open_.back();
        object.key = key;
        if (!object.keys.insert(key).second) {
            throw std::invalid_argument(path() + ": this key stands twice in one object");
        }
    }

    void count_element() {
        if (!open_.empty()) {
            ++open_.back().elements;
        }
    }

    std::vector<Level> open_;
};

/// "line 3, column 5: ...", not longer than a message may be.
std::string readable(std::string message) {
    constexpr std::string_view noise = "parse error at ";
    if (message.starts_with(noise)) {
        message.erase(0, noise.size());
    }
    if (message.size() > max_message_length) {
        message = message.substr(0, max_message_length) + " ...";
    }
    return message;
}

} // namespace

nlohmann::json parse_json(std::string_view text) {
    if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
        throw std::invalid_argument("is empty; expected a JSON object");
    }
    if (text.find('\0') != std::string_view::npos) {
        // The library would take it for the end of the text and ignore what follows.
        throw std::invalid_argument("contains a NUL byte; expected text");
    }
    DuplicateCheck check;
    try {
        return nlohmann::json::parse(text, [&check](int, Event event, nlohmann::json& parsed) {
            check.see(event, parsed);
            return true;
        });
    } catch (const nlohmann::json::exception& error) {
        throw std::invalid_argument(readable(collectors::json_reason(error)));
    }
}

std::string child_path(const std::string& path, std::string_view key) {
    // Control characters must not reach a terminal: dump() escapes them, and its quotes are cut off.
    const std::string quoted = nlohmann::json(key).dump();
    std::string escaped;
    for (const char character : std::string_view(quoted).substr(1, quoted.size() - 2)) {
        escaped += character == '~' ? "~0" : character == '/' ? "~1" : std::string(1, character);
    }
    return path + '/' + escaped;
}

} // namespace generator
