#include "generator/profile_reader.hpp"
#include "generator/profile_sections.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <set>

namespace generator {
namespace {

using nlohmann::json;

constexpr std::uint64_t most_rank = std::numeric_limits<std::int32_t>::max();

/// Where the members stand in the file, for messages.
struct Place {
    const ObjectReader& groups;
    const std::string& name;
    std::string below;

    [[noreturn]] void fail(const std::string& rule) const { groups.fail_below(name, below, rule); }
};

int read_rank(const json& value, const Place& place) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most_rank) {
        place.fail(fmt::format("must be a rank, 0 to {}, is {}", most_rank, shown(value)));
    }
    return static_cast<int>(value.get<std::uint64_t>());
}

/// A rank is in one list of a group at most: it has one queue there.
std::vector<int> read_members(const json& list, const Place& place, std::set<int>& known) {
    if (!list.is_array() || list.empty()) {
        place.fail("must be a list of ranks, is " + (list.is_array() ? "an empty list" : shown(list)));
    }
    std::vector<int> ranks;
    for (const json& value : list) {
        const Place at{place.groups, place.name, place.below + "/" + std::to_string(ranks.size())};
        ranks.push_back(read_rank(value, at));
        if (!known.insert(ranks.back()).second) {
            at.fail(fmt::format("rank {} stands twice in this group", ranks.back()));
        }
    }
    return ranks;
}

} // namespace

std::vector<Group> read_groups(ObjectReader section) {
    std::vector<Group> groups;
    for (const std::string& name : section.keys()) {
        const json* lists = section.raw(name);
        if (name.empty() || name == "all") {
            section.fail(name, "\"all\" is the group of all ranks; choose another name");
        }
        if (lists == nullptr || !lists->is_array() || lists->empty()) {
            section.fail(name, "must be a list of lists of ranks, such as [[0, 1], [2, 3]]");
        }
        Group group{name, {}};
        std::set<int> known;
        for (const json& list : *lists) {
            const Place place{section, name, "/" + std::to_string(group.members.size())};
            group.members.push_back(read_members(list, place, known));
        }
        groups.push_back(std::move(group));
    }
    return groups;
}

} // namespace generator
