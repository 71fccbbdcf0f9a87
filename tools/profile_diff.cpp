#include "tools/profile_diff.hpp"

#include "collectors/units.hpp"
#include "generator/variation.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tools {
namespace {

using generator::Profile;
using nlohmann::json;

constexpr const char* absent = "not set";

std::string without(const std::string& pointer, std::string_view unit) {
    return pointer.ends_with(unit) ? pointer.substr(0, pointer.size() - unit.size()) : pointer;
}

/// Pointer and value of every leaf. The effective profile has its times in `_ns` and its rates in
/// `_bits_per_second`: people read them with a unit.
std::map<std::string, std::string> fields(const Profile& profile) {
    std::map<std::string, std::string> result;
    const json flat = json::parse(generator::effective_profile_json(profile)).flatten();
    for (const auto& [pointer, value] : flat.items()) {
        if (value.is_number_integer() && pointer.ends_with("_ns"))
            result[without(pointer, "_ns")] =
                collectors::format_duration(nanoseconds(value.get<std::int64_t>()));
        else if (value.is_number_integer() && pointer.ends_with("_bits_per_second"))
            result[without(pointer, "_bits_per_second")] = collectors::format_bit_rate(value.get<double>());
        else
            result[without(without(pointer, "_ns"), "_bits_per_second")] =
                value.is_null() ? absent : value.dump(-1, ' ', false, json::error_handler_t::replace);
    }
    return result;
}

/// One fact about the buckets of both.
struct Fact {
    std::string name;
    std::string left;
    std::string right;
};

std::string time_range(const IterationView& view, nanoseconds BucketView::*time) {
    if (view.buckets.empty())
        return absent;
    const auto [first, last] = std::ranges::minmax_element(view.buckets, {}, time);
    const auto text = [](nanoseconds value) { return collectors::format_duration(value); };
    return (*first).*time == (*last).*time ? text((*first).*time)
                                           : text((*first).*time) + " to " + text((*last).*time);
}

std::string size_range(const IterationView& view) {
    if (view.buckets.empty())
        return absent;
    const auto [least, most] = std::ranges::minmax_element(view.buckets, {}, &BucketView::bytes);
    const auto text = [](std::uint64_t bytes) {
        return collectors::format_bytes(static_cast<double>(bytes));
    };
    return least->bytes == most->bytes ? text(least->bytes) : text(least->bytes) + " to " + text(most->bytes);
}

std::string collectives(const IterationView& view) {
    std::map<generator::Collective, std::size_t> counts;
    for (const BucketView& bucket : view.buckets)
        ++counts[bucket.collective];
    std::string text;
    for (const auto& [collective, count] : counts)
        text +=
            fmt::format("{}{} {}", text.empty() ? "" : ", ", count, generator::collective_name(collective));
    return text.empty() ? "none" : text;
}

std::vector<Fact> facts(const IterationView& left, const IterationView& right) {
    const auto both = [&](const std::string& name, auto text) { return Fact{name, text(left), text(right)}; };
    return {both("buckets", collectives),
            both("bytes", [](const IterationView& view) { return fmt::format("{} B", view.bytes()); }),
            both("bytes of a bucket", size_range),
            both("ready", [](const auto& view) { return time_range(view, &BucketView::ready_after); }),
            both("needed", [](const auto& view) { return time_range(view, &BucketView::needed_at); }),
            both("computing", [](const auto& view) { return collectors::format_duration(view.compute); })};
}

IterationView steady_view(const Profile& profile) {
    return view_iteration(generator::without_variation(profile), 0, 1);
}

} // namespace

std::vector<FieldDifference> field_differences(const Profile& left, const Profile& right) {
    const auto left_fields = fields(left);
    const auto right_fields = fields(right);
    std::set<std::string> pointers;
    for (const auto* each : {&left_fields, &right_fields})
        for (const auto& [pointer, value] : *each)
            pointers.insert(pointer);
    const auto value_in = [](const auto& map, const std::string& pointer) {
        const auto found = map.find(pointer);
        return found == map.end() ? std::string(absent) : found->second;
    };
    std::vector<FieldDifference> differences;
    for (const std::string& pointer : pointers) {
        FieldDifference difference{pointer, value_in(left_fields, pointer), value_in(right_fields, pointer)};
        if (difference.left != difference.right)
            differences.push_back(std::move(difference));
    }
    return differences;
}

std::string difference_text(const Profile& left, const Profile& right) {
    std::string text = fmt::format("- {}\n+ {}\n", left.name, right.name);
    const std::vector<FieldDifference> differences = field_differences(left, right);
    text += differences.empty() ? "\nno field differs\n" : "\nfields of the effective profiles that differ\n";
    for (const FieldDifference& each : differences)
        text += fmt::format("{}\n  - {}\n  + {}\n", each.pointer, each.left, each.right);
    if (left.model != right.model)
        text += "the tensor lists differ\n";
    text += "\nan iteration's buckets (iteration 1, rank 0, without jitter)\n";
    for (const Fact& fact : facts(steady_view(left), steady_view(right)))
        text += fact.left == fact.right
                    ? fmt::format("  {:<18}{}\n", fact.name, fact.left)
                    : fmt::format("- {:<18}{}\n+ {:<18}{}\n", fact.name, fact.left, "", fact.right);
    return text;
}

} // namespace tools
