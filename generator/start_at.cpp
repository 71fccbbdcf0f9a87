#include "generator/start_at.hpp"

#include "collectors/units.hpp"
#include "generator/failure.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <optional>
#include <string_view>
#include <sys/timex.h>

namespace generator {
namespace {

using namespace std::chrono_literals;
using std::chrono::nanoseconds;

/// Takes so many digits from the front; nullopt unless there are as many.
std::optional<int> take_digits(std::string_view& text, std::size_t count) {
    int number = 0;
    if (text.size() < count)
        return std::nullopt;
    const auto [end, error] = std::from_chars(text.data(), text.data() + count, number);
    if (error != std::errc() || end != text.data() + count || text[0] == '-')
        return std::nullopt;
    text.remove_prefix(count);
    return number;
}

bool take(std::string_view& text, std::string_view any_of) {
    if (text.empty() || any_of.find(text[0]) == std::string_view::npos)
        return false;
    text.remove_prefix(1);
    return true;
}

/// ".5"; nothing is zero. What is finer than 1 ns is dropped.
std::optional<nanoseconds> take_fraction(std::string_view& text) {
    nanoseconds fraction{0};
    if (!take(text, "."))
        return fraction;
    const std::size_t before = text.size();
    for (nanoseconds digit = 100ms; !text.empty() && text[0] >= '0' && text[0] <= '9'; digit /= 10) {
        fraction += (text[0] - '0') * digit;
        text.remove_prefix(1);
    }
    return text.size() < before ? std::optional(fraction) : std::nullopt;
}

/// "Z", "+01:00"
std::optional<std::chrono::minutes> take_zone(std::string_view& text) {
    if (take(text, "Zz"))
        return 0min;
    const bool west = text.starts_with('-');
    if (!take(text, "+-"))
        return std::nullopt;
    const auto hours = take_digits(text, 2);
    if (!hours || *hours > 23 || !take(text, ":"))
        return std::nullopt;
    const auto minutes = take_digits(text, 2);
    if (!minutes || *minutes > 59)
        return std::nullopt;
    return (west ? -1 : 1) * (std::chrono::hours(*hours) + std::chrono::minutes(*minutes));
}

std::optional<WallTime> rfc_3339(std::string_view text) {
    using namespace std::chrono;
    const auto year_number = take_digits(text, 4);
    constexpr int last_year = 2255; // its nanoseconds still fit
    if (!year_number || *year_number > last_year || !take(text, "-"))
        return std::nullopt;
    const auto month_number = take_digits(text, 2);
    if (!month_number || !take(text, "-"))
        return std::nullopt;
    const auto day_number = take_digits(text, 2);
    if (!day_number || !take(text, "Tt "))
        return std::nullopt;
    const auto hour = take_digits(text, 2);
    if (!hour || *hour > 23 || !take(text, ":"))
        return std::nullopt;
    const auto minute = take_digits(text, 2);
    if (!minute || *minute > 59 || !take(text, ":"))
        return std::nullopt;
    const auto second = take_digits(text, 2);
    if (!second || *second > 60) // a leap second
        return std::nullopt;
    const auto fraction = take_fraction(text);
    const auto zone = take_zone(text);
    const year_month_day date{year(*year_number), month(static_cast<unsigned>(*month_number)),
                              day(static_cast<unsigned>(*day_number))};
    if (!fraction || !zone || !text.empty() || !date.ok())
        return std::nullopt;
    return sys_days(date) + hours(*hour) + minutes(*minute) + seconds(*second) + *fraction - *zone;
}

std::optional<WallTime> epoch_seconds(std::string_view text) {
    std::int64_t whole = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), whole);
    constexpr std::int64_t most = 9'000'000'000; // the nanoseconds of 2255 still fit
    if (error != std::errc() || whole < 0 || whole > most)
        return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    const auto fraction = take_fraction(text);
    if (!fraction || !text.empty())
        return std::nullopt;
    return WallTime(std::chrono::seconds(whole) + *fraction);
}

std::string signed_duration(nanoseconds time) {
    return fmt::format("{}{}", time.count() < 0 ? "-" : "+",
                       collectors::format_duration(std::chrono::abs(time)));
}

double as_seconds(nanoseconds time) {
    return 1e-9 * static_cast<double>(time.count());
}

} // namespace

WallTime parse_wall_time(const std::string& text) {
    const bool only_number = text.find_first_not_of("0123456789.") == std::string::npos;
    if (const auto time = only_number ? epoch_seconds(text) : rfc_3339(text))
        return *time;
    throw UserError(fmt::format("--start-at {}: expected a time such as 2026-12-02T23:59:00Z or "
                                "2026-12-03T00:59:00.5+01:00, or seconds since 1970; not later than 2255",
                                text));
}

std::string wall_time_text(WallTime time) {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                       fmt::gmtime(std::chrono::system_clock::to_time_t(seconds)),
                       std::chrono::duration_cast<std::chrono::milliseconds>(time - seconds).count());
}

std::string time_ahead_text(WallTime start, WallTime now) {
    const nanoseconds ahead = start - now;
    if (ahead <= 0ns)
        throw UserError(fmt::format("--start-at {}: is {} in the past; this host's clock says {}",
                                    wall_time_text(start), collectors::format_duration(-ahead),
                                    wall_time_text(now)));
    if (ahead < 1h)
        return "in " + collectors::format_duration(ahead);
    return fmt::format("in {:.1f} {}", collectors::in_seconds(ahead) / (ahead < 48h ? 3600.0 : 86400.0),
                       ahead < 48h ? "hours" : "days");
}

std::string start_at_text(const StartAt& start) {
    std::string text = fmt::format("wall clock       rank 0's is {}", start.discipline);
    const auto farthest = std::max_element(
        start.clocks.begin(), start.clocks.end(), [](const WallClock& one, const WallClock& other) {
            return std::chrono::abs(one.ahead) < std::chrono::abs(other.ahead);
        });
    if (farthest != start.clocks.end())
        text +=
            fmt::format("; of the hosts {} is farthest from it: {} (+- {})", farthest->host,
                        signed_duration(farthest->ahead), collectors::format_duration(farthest->uncertainty));
    return text + "\n";
}

std::string start_at_json(const StartAt& start) {
    nlohmann::ordered_json json;
    json["time"] = wall_time_text(start.time);
    json["began"] =
        start.began ? nlohmann::ordered_json(wall_time_text(*start.began)) : nlohmann::ordered_json();
    json["clock_of_rank_0"] = start.discipline;
    json["wall_clocks"] = nlohmann::ordered_json::array();
    for (const WallClock& clock : start.clocks) {
        nlohmann::ordered_json entry;
        entry["host"] = clock.host;
        entry["ahead_of_rank_0_seconds"] = as_seconds(clock.ahead);
        entry["uncertainty_seconds"] = as_seconds(clock.uncertainty);
        json["wall_clocks"].push_back(std::move(entry));
    }
    return json.dump();
}

std::string clock_discipline() {
    timex state{};
    const int result = ::adjtimex(&state);
    if (result < 0)
        return "unknown";
    if (result == TIME_ERROR || (state.status & STA_UNSYNC) != 0)
        return "not synchronised (no NTP or PTP on this host)";
    return fmt::format("synchronised, at most {} off",
                       collectors::format_duration(std::chrono::microseconds(state.maxerror)));
}

} // namespace generator
