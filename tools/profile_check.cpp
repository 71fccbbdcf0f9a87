#include "tools/profile_check.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <nlohmann/json.hpp>

namespace tools {
namespace {

using nlohmann::json;
using Pointer = json::json_pointer;

/// `mine.json: /run/seed: must be ...` taken apart.
struct Complaint {
    Pointer at;
    std::string rule;
};

/// nullopt when the message names no place in the document.
std::optional<Complaint> taken_apart(const std::string& message, const std::string& file) {
    const std::string before = file + ": ";
    const std::size_t end = message.find(": ", before.size());
    if (!message.starts_with(before + "/") || end == std::string::npos || end == before.size() + 1)
        return std::nullopt; // "/" is the document as a whole
    try {
        return Complaint{Pointer(message.substr(before.size(), end - before.size())), message.substr(end)};
    } catch (const json::parse_error&) { // a key that had to be altered to be printed
        return std::nullopt;
    }
}

/// A document from which things are taken away, and where they stood.
class Reduced {
public:
    explicit Reduced(json document) : document_(std::move(document)) {}

    std::string text() const { return document_.dump(); }
    bool has(const Pointer& at) const { return document_.contains(at); }

    /// Whether a complaint about `at` can come from what was taken away: something at the same place or
    /// beside it is gone, or something inside it. Whether tensors are needed depends on the bucketing.
    bool disturbed(const Pointer& at) const {
        const auto is_gone = [this](const Pointer& place) {
            return std::ranges::find(gone_, place) != gone_.end();
        };
        if (at == Pointer("/model/tensors") &&
            (is_gone(Pointer("/gradients")) || is_gone(Pointer("/gradients/bucketing"))))
            return true;
        return std::ranges::any_of(gone_, [&](const Pointer& gone) {
            return gone == at || gone.parent_pointer() == at ||
                   (gone.parent_pointer() == at.parent_pointer() && !has(at));
        });
    }

    void remove(const Pointer& at) {
        gone_.push_back(at);
        json& parent = document_.at(at.parent_pointer());
        if (parent.is_array()) {
            const auto index = static_cast<std::size_t>(std::stoul(at.back()));
            gone_items_[at.parent_pointer().to_string()].insert(original(at.parent_pointer(), index));
            parent.erase(index);
        } else {
            parent.erase(at.back());
        }
    }

    /// The place in the document as it was: items of a list have moved up.
    std::string original(const Pointer& at) const {
        Pointer now, before;
        Pointer rest = at;
        std::vector<std::string> tokens;
        for (; !rest.empty(); rest.pop_back())
            tokens.push_back(rest.back());
        for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) {
            const bool item = has(now) && document_.at(now).is_array();
            before.push_back(item ? std::to_string(original(now, std::stoul(*token))) : *token);
            now.push_back(*token);
        }
        return before.to_string();
    }

private:
    std::size_t original(const Pointer& list, std::size_t index) const {
        const auto found = gone_items_.find(list.to_string());
        if (found != gone_items_.end())
            for (const std::size_t gone : found->second) // in rising order
                if (gone <= index)
                    ++index;
        return index;
    }

    json document_;
    std::vector<Pointer> gone_;
    std::map<std::string, std::set<std::size_t>> gone_items_; ///< of each list, by original number
};

} // namespace

std::vector<std::string> mistakes(const generator::ProfileSource& source) {
    std::vector<std::string> found;
    std::optional<Reduced> reduced;
    generator::ProfileSource attempt = source;
    while (true) {
        std::string message;
        try {
            generator::parse_profile(attempt);
            return found;
        } catch (const generator::ProfileError& error) {
            message = error.what();
        }
        const std::optional<Complaint> complaint = taken_apart(message, source.name);
        if (!reduced)
            reduced.emplace(json::parse(source.text, nullptr, false));
        if (!complaint || complaint->at.empty() || complaint->at == Pointer("/model/tensors")) {
            if (found.empty() || (complaint && !reduced->disturbed(complaint->at)))
                found.push_back(message);
            return found;
        }
        if (!reduced->disturbed(complaint->at))
            found.push_back(source.name + ": " + reduced->original(complaint->at) + complaint->rule);
        Pointer away = complaint->at;
        while (!away.empty() && !reduced->has(away))
            away.pop_back(); // something is missing: go on without what should hold it
        if (away.empty())
            return found;
        reduced->remove(away);
        attempt.text = reduced->text();
    }
}

} // namespace tools
