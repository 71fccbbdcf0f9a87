#include "collectors/units.hpp"
#include "generator/background_results.hpp"
#include "generator/profile_sections.hpp"

#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace generator {
namespace {

std::string rate_shown(double bits_per_second) {
    return collectors::format_bit_rate(bits_per_second);
}

std::string rate_shown(const std::optional<double>& bits_per_second) {
    return bits_per_second ? rate_shown(*bits_per_second) : "-";
}

std::string time_shown(double seconds) {
    return collectors::format_duration(nanoseconds(std::llround(1e9 * seconds)));
}

std::string completions(const std::optional<Distribution>& seconds) {
    if (!seconds)
        return fmt::format("{:>10} {:>10} {:>10} {:>10}", "-", "-", "-", "-");
    return fmt::format("{:>10} {:>10} {:>10} {:>10}", time_shown(seconds->p50), time_shown(seconds->p95),
                       time_shown(seconds->p99), time_shown(seconds->max));
}

std::string ranks_shown(const std::vector<int>& ranks) {
    return ranks.empty() ? "all ranks" : fmt::format("rank {}", fmt::join(ranks, ", "));
}

} // namespace

std::string background_text(const std::vector<BackgroundEntryResult>& results,
                            const std::vector<BackgroundEntry>& background) {
    if (results.empty())
        return "";
    std::string text = "\nbackground traffic, beside the collectives: their bytes and their prediction are "
                       "without it\n";
    auto append = std::back_inserter(text);
    fmt::format_to(append, "{:<18} {:>5} {:>12} {:>12} {:>12} {:>9} {:>9}   {:>10} {:>10} {:>10} {:>10}\n",
                   "entry", "flows", "asked", "offered", "received", "due", "complete", "p50", "p95", "p99",
                   "max");
    for (std::size_t i = 0; i < results.size(); ++i) {
        const BackgroundEntryResult& result = results[i];
        fmt::format_to(append, "{:<18} {:>5} {:>12} {:>12} {:>12} {:>9} {:>9}   {}\n", background[i].name,
                       result.flows, rate_shown(result.asked_bits_per_second),
                       rate_shown(result.offered_bits_per_second),
                       rate_shown(result.received_bits_per_second), result.planned.messages,
                       result.received.messages, completions(result.completion_seconds));
        for (std::size_t size = 0; size < size_classes.size(); ++size)
            if (result.by_size[size].messages > 0)
                fmt::format_to(append, "  {:<71} {:>9}   {}\n", size_classes[size].name,
                               result.by_size[size].messages, completions(result.by_size[size].seconds));
        if (background[i].pattern == BackgroundPattern::incast)
            fmt::format_to(append, "  {:<61} {:>9} {:>9}   {}\n", "queries, to the last answer",
                           result.queries_planned, result.queries.messages,
                           completions(result.queries.seconds));
        const std::string details = socket_text(result.sockets, background[i].sockets);
        fmt::format_to(append, "  congestion control {}{}{}; payload due {} B, sent {} B, received {} B\n",
                       congestion_controls(result.sockets), details.empty() ? "" : ", ", details,
                       result.planned.bytes, result.sent.bytes, result.received.bytes);
    }
    return text + "offered: what fell due by the seed; due, complete: messages; times: from due at the "
                  "sender to the "
                  "last byte at the receiver\n";
}

std::vector<std::string> background_settings(const std::vector<BackgroundEntry>& background, int world_size) {
    std::vector<std::string> lines;
    const std::vector<BackgroundFlow> flows = background_flows(background, world_size);
    for (std::size_t i = 0; i < background.size(); ++i) {
        const BackgroundEntry& entry = background[i];
        const auto count = std::count_if(flows.begin(), flows.end(),
                                         [&](const BackgroundFlow& flow) { return flow.entry == i; });
        const std::string rate =
            entry.pattern != BackgroundPattern::incast
                ? fmt::format("{} each", rate_shown(static_cast<double>(entry.rate.bits_per_second)))
                : fmt::format("{} queries/s of each client, {} answers each", entry.queries_per_second,
                              entry.fan_in ? std::to_string(*entry.fan_in) : "all servers'");
        lines.push_back(fmt::format("{}: {} {} flows, {} to {}, {}, messages of {}", entry.name, count,
                                    choice_name(background_pattern_names, entry.pattern),
                                    ranks_shown(entry.from), ranks_shown(entry.to), rate,
                                    sizes_text(entry.sizes)));
    }
    return lines;
}

} // namespace generator
