#include "generator/sweep_range.hpp"

#include "generator/profile_suggestion.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace generator {
namespace {

constexpr std::uint32_t most_offsets = 1000;
constexpr double most_periods = 1e6;
constexpr nanoseconds longest_offset = std::chrono::hours(24);
constexpr std::string_view form =
    "expected [JOB=]FROM..TO:COUNT, e.g. 0..T:9 or b=0..250ms:6; T is the period of the job that is not "
    "shifted";

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
    throw UserError(fmt::format("--sweep-offset {}: {}", text, reason));
}

std::optional<double> positive_number(std::string_view text) {
    double number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && std::isfinite(number) && number >= 0 ? std::optional(number) : std::nullopt;
}

/// "T", "0.5T", "T/8", "3T/4"
std::optional<double> number_of_periods(std::string_view text) {
    const std::size_t letter = text.find('T');
    if (letter == std::string_view::npos)
        return std::nullopt;
    const std::string_view before = text.substr(0, letter);
    std::string_view after = text.substr(letter + 1);
    const auto factor = before.empty() ? std::optional(1.0) : positive_number(before);
    if (!factor || (!after.empty() && after[0] != '/'))
        return std::nullopt;
    const auto divisor = after.empty() ? std::optional(1.0) : positive_number(after.substr(1));
    return divisor && *divisor > 0 ? std::optional(*factor / *divisor) : std::nullopt;
}

SweepTime parse_time(const std::string& whole, const std::string& text) {
    if (text == "0")
        return {};
    if (const auto periods = number_of_periods(text)) {
        if (*periods > most_periods)
            refuse(whole, fmt::format("\"{}\" is more than {:.0f} periods", text, most_periods));
        return {{}, periods};
    }
    try {
        const nanoseconds time = collectors::parse_duration(text);
        if (time > longest_offset)
            refuse(whole, fmt::format("\"{}\" is more than a day", text));
        return {time, {}};
    } catch (const std::invalid_argument&) {
        refuse(whole, fmt::format("\"{}\" is no time such as 250ms, T or T/2; {}", text, form));
    }
}

std::uint32_t parse_count(const std::string& whole, std::string_view text) {
    std::uint32_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 2 || count > most_offsets)
        refuse(whole,
               fmt::format("how many offsets? \"{}\" is no whole number from 2 to {}", text, most_offsets));
    return count;
}

double in_nanoseconds(const SweepTime& time, nanoseconds period) {
    return time.periods ? *time.periods * static_cast<double>(period.count())
                        : static_cast<double>(time.time.count());
}

std::string text_of(const SweepTime& time, nanoseconds period) {
    const nanoseconds length(std::llround(in_nanoseconds(time, period)));
    return time.periods ? fmt::format("{:g} T = {}", *time.periods, collectors::format_duration(length))
                        : collectors::format_duration(length);
}

} // namespace

SweepRange parse_sweep(const std::string& text) {
    SweepRange range;
    const std::size_t equals = text.find('=');
    range.job = equals == std::string::npos ? "" : text.substr(0, equals);
    const std::string rest = equals == std::string::npos ? text : text.substr(equals + 1);
    const std::size_t dots = rest.find("..");
    if (equals == 0 || dots == std::string::npos)
        refuse(text, std::string(form));
    const std::string to_and_count = rest.substr(dots + 2);
    const std::size_t colon = to_and_count.find(':');
    if (colon == std::string::npos)
        refuse(text, fmt::format("how many offsets? e.g. {}:9, with both ends", text));
    range.from = parse_time(text, rest.substr(0, dots));
    range.to = parse_time(text, to_and_count.substr(0, colon));
    range.count = parse_count(text, std::string_view(to_and_count).substr(colon + 1));
    // Whether 10 ms are less than T shows later.
    const bool alike = range.from.periods.has_value() == range.to.periods.has_value() ||
                       range.from == SweepTime{} || range.to == SweepTime{};
    if (alike)
        sweep_offsets(range, std::chrono::seconds(1));
    return range;
}

SweepRoles sweep_roles(const SweepRange& range, const std::vector<JobSpec>& jobs) {
    std::vector<std::string> names;
    for (const JobSpec& job : jobs)
        names.push_back(job.name);
    if (jobs.size() < 2)
        throw UserError("--sweep-offset: shifts one job against another; the jobs file has only one");
    const auto number = [&](const std::string& name) {
        return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    };
    SweepRoles roles;
    roles.shifted = range.job.empty() ? jobs.size() - 1 : number(range.job);
    if (roles.shifted == jobs.size())
        throw UserError(fmt::format("--sweep-offset {}=...: there is no such job{}; the jobs are {}",
                                    range.job, suggestion(range.job, names), fmt::join(names, ", ")));
    const JobStart& start = jobs[roles.shifted].start;
    roles.reference = start.phase ? number(start.of) : roles.shifted == 0 ? 1 : 0;
    return roles;
}

std::vector<nanoseconds> sweep_offsets(const SweepRange& range, nanoseconds period) {
    const double from = in_nanoseconds(range.from, period);
    const double to = in_nanoseconds(range.to, period);
    if (from >= to)
        throw UserError(fmt::format("--sweep-offset: must ascend, but goes from {} to {}",
                                    text_of(range.from, period), text_of(range.to, period)));
    std::vector<nanoseconds> offsets;
    for (std::uint32_t i = 0; i < range.count; ++i)
        offsets.emplace_back(std::llround(from + (to - from) * i / (range.count - 1)));
    return offsets;
}

} // namespace generator
