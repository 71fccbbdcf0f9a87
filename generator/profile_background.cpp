#include "generator/profile_reader.hpp"
#include "generator/profile_sections.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <stdexcept>

// Traffic beside the collectives.
namespace generator {
namespace {

using nlohmann::json;

constexpr std::size_t most_entries = 64;
constexpr double most_messages_per_second = 1e6; // of a flow: each costs a system call
constexpr Range<std::uint64_t> message_range{1, std::uint64_t{1} << 40};
constexpr std::uint64_t usual_most_bytes = std::uint64_t{1} << 30; // of Pareto sizes
constexpr Range<double> queries_range{1e-6, 1e5};
constexpr std::array<std::string_view, 1> distribution_names{"pareto"};

/// "all", or a list of different ranks.
std::vector<int> read_ranks(ObjectReader& section, std::string_view key) {
    const json* value = section.raw(key);
    if (value == nullptr)
        section.fail(key, "required: a list of ranks, or \"all\"");
    if (value->is_string() && *value == "all")
        return {};
    if (!value->is_array() || value->empty())
        section.fail(key, "must be a list of ranks, or \"all\", is " +
                              (value->is_array() ? "an empty list" : shown(*value)));
    const auto ranks = section.counts(key, rank_range);
    std::vector<int> numbers(ranks->begin(), ranks->end());
    std::vector<int> sorted = numbers;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end())
        section.fail(key, fmt::format("rank {} stands twice in this list", *twice));
    return numbers;
}

/// A file's name, or the corners themselves: [[bytes, probability], ...].
std::vector<CdfPoint> read_points(ObjectReader& section, const json& value, const ProfileSource& source) {
    if (value.is_string()) {
        const auto text = source.cdf_texts.find(value.get<std::string>());
        if (text == source.cdf_texts.end())
            section.fail("cdf", "a file can only be named in the profile itself; else give the points, "
                                "[[bytes, probability], ...]");
        try {
            return parse_cdf(text->second);
        } catch (const std::invalid_argument& error) {
            section.fail("cdf", text->first + ": " + error.what());
        }
    }
    std::vector<CdfPoint> points;
    if (!value.is_array())
        section.fail("cdf", "must be a file's name or a list of [bytes, probability], is " + shown(value));
    for (const json& point : value) {
        if (!point.is_array() || point.size() != 2 || !point[0].is_number() || !point[1].is_number())
            section.fail_below("cdf", fmt::format("/{}", points.size()),
                               "must be [bytes, probability], is " + shown(point));
        points.push_back({point[0].get<double>(), point[1].get<double>()});
    }
    return points;
}

MessageSizes read_distribution(ObjectReader section, const ProfileSource& source) {
    const json* cdf = section.raw("cdf");
    const auto distribution = section.choice("distribution", distribution_names);
    const auto mean = section.bytes("mean", message_range);
    const auto shape = section.number("shape", {1.01, 64});
    const auto most = section.bytes("most", message_range);
    section.finish();
    if (cdf != nullptr && (distribution || mean || shape || most))
        section.fail("cdf", "says all about the sizes; give nothing beside it");
    if (cdf == nullptr && !distribution)
        section.fail("", "must have \"distribution\" or \"cdf\"");
    if (cdf == nullptr && !mean)
        section.fail("mean", "required");
    if (cdf == nullptr && !shape)
        section.fail("shape", "required: above 1; the closer to it, the heavier the tail");
    const std::vector<CdfPoint> points =
        cdf != nullptr ? read_points(section, *cdf, source) : std::vector<CdfPoint>{};
    try {
        return cdf != nullptr ? cdf_sizes(points)
                              : pareto_sizes(static_cast<double>(*mean), *shape,
                                             static_cast<double>(most.value_or(usual_most_bytes)));
    } catch (const std::invalid_argument& error) {
        section.fail(cdf != nullptr ? "cdf" : "mean", error.what());
    }
}

MessageSizes read_sizes(ObjectReader& section, const ProfileSource& source) {
    const json* value = section.raw("message");
    if (value != nullptr && value->is_object())
        return read_distribution(section.section("message"), source);
    const auto bytes = section.bytes("message", message_range);
    if (!bytes)
        section.fail("message", "required: a size such as \"64KiB\", or how sizes are distributed");
    return fixed_size(*bytes);
}

/// Of the fields that belong to some patterns alone.
void check_pattern(const ObjectReader& section, const BackgroundEntry& entry, bool has_rate,
                   bool has_queries) {
    const auto pattern = choice_name(background_pattern_names, entry.pattern);
    const bool incast = entry.pattern == BackgroundPattern::incast;
    if (incast && has_rate)
        section.fail("rate", "not with \"incast\", whose rate is that of its queries; give "
                             "\"queries_per_second\"");
    if (incast != has_queries)
        section.fail("queries_per_second",
                     incast ? "required" : fmt::format("only with \"incast\", is \"{}\"", pattern));
    if (!incast && !has_rate)
        section.fail("rate", "required: the mean payload rate of each flow");
    if (!incast && entry.fan_in)
        section.fail("fan_in", fmt::format("only with \"incast\", is \"{}\"", pattern));
    const double messages =
        incast ? entry.queries_per_second
               : static_cast<double>(entry.rate.bits_per_second) / 8 / entry.sizes.mean_bytes;
    if (messages > most_messages_per_second)
        section.fail("rate", fmt::format("comes to {:.0f} messages a second in each flow; must be at most "
                                         "{:.0f}: give larger messages",
                                         messages, most_messages_per_second));
}

BackgroundEntry read_entry(ObjectReader section, std::size_t number, const ProfileSource& source) {
    BackgroundEntry entry;
    const auto pattern = section.choice("pattern", background_pattern_names);
    const auto name = section.text("name");
    const auto rate = section.rate("rate");
    const auto queries = section.number("queries_per_second", queries_range);
    const auto fan_in = section.count("fan_in", {1, rank_range.most});
    entry.sockets = read_sockets(section);
    for (const char* const key : {"from", "to", "message"})
        section.raw(key); // read below
    section.finish();
    if (!pattern)
        section.fail("pattern", "required: \"constant\", \"poisson\" or \"incast\"");
    entry.pattern = static_cast<BackgroundPattern>(*pattern);
    entry.name =
        name.value_or(fmt::format("{}-{}", choice_name(background_pattern_names, entry.pattern), number));
    if (entry.name.empty() || entry.name.find_first_of(",\"\n\r") != std::string::npos)
        section.fail("name", "must not be empty or have a comma, a quote or a line break in it");
    entry.from = read_ranks(section, "from");
    entry.to = read_ranks(section, "to");
    entry.rate = rate.value_or(BitRate{});
    entry.sizes = read_sizes(section, source);
    entry.queries_per_second = queries.value_or(0);
    if (fan_in)
        entry.fan_in = static_cast<std::uint32_t>(*fan_in);
    check_pattern(section, entry, rate.has_value(), queries.has_value());
    return entry;
}

} // namespace

std::vector<BackgroundEntry> read_background(std::vector<ObjectReader> sections,
                                             const ProfileSource& source) {
    std::vector<BackgroundEntry> background;
    for (const ObjectReader& section : sections) {
        background.push_back(read_entry(section, background.size(), source));
        const auto same = std::count_if(background.begin(), background.end(), [&](const auto& each) {
            return each.name == background.back().name;
        });
        if (same > 1)
            section.fail("name", fmt::format("\"{}\" is the name of two entries", background.back().name));
        if (background.size() > most_entries)
            section.fail("", fmt::format("must be at most {} entries", most_entries));
    }
    return background;
}

} // namespace generator
