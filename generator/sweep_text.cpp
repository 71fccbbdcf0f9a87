#include "generator/sweep_text.hpp"

#include "collectors/units.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace generator {
namespace {

using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;
using Cells = std::vector<std::string>;

constexpr const char* unknown = "-";

std::string time_text(const Json& seconds) {
    if (!seconds.is_number())
        return unknown;
    const double value = seconds.get<double>();
    const std::string text = collectors::format_duration(nanoseconds(std::llround(1e9 * std::abs(value))));
    return value < 0 ? "-" + text : text;
}

std::string signed_time_text(const Json& seconds) {
    const std::string text = time_text(seconds);
    return text.starts_with('-') || seconds.get<double>() == 0 ? text : "+" + text;
}

std::string count_text(const Json& count) {
    return count.is_number() ? std::to_string(count.get<std::int64_t>()) : unknown;
}

Cells heading(const Json& steps, const std::vector<std::string>& names) {
    Cells cells{"offset", "held", "drift"};
    for (const std::string& name : names) {
        cells.push_back(name + " p50");
        cells.emplace_back("x alone");
    }
    const bool measured = std::any_of(steps.begin(), steps.end(), [](const Json& step) {
        return step["backlog"].is_object() && step["backlog"]["of"] == "switch_queue";
    });
    for (const char* const cell : {"PtM(5 ms)", measured ? "switch queue" : "B_max", "drops", "retransmits"})
        cells.emplace_back(cell);
    return cells;
}

Cells row(const Json& step, const std::vector<std::string>& names) {
    const Json& offset = step["offset_seconds"];
    const Json& held = offset["held"];
    const bool alone = step["alone"].is_string();
    Cells cells{alone ? "alone" : time_text(offset["asked"]),
                alone              ? ""
                : held.is_object() ? time_text(held["median"])
                                   : unknown,
                alone ? ""
                : held.is_object()
                    ? signed_time_text(held["drift"]) + (offset["was_held"] == false ? " !" : "")
                    : unknown};
    for (const std::string& name : names) {
        const auto job = std::find_if(step["jobs"].begin(), step["jobs"].end(),
                                      [&](const Json& each) { return each["name"] == name; });
        const bool there = job != step["jobs"].end();
        cells.push_back(there ? time_text((*job)["iterations"]["p50_seconds"]) : "");
        cells.push_back(!there || alone ? ""
                        : (*job)["interference"].is_number()
                            ? fmt::format("{:.3f}", (*job)["interference"].get<double>())
                            : unknown);
    }
    const Json& ratio = step["ptm"];
    cells.push_back(ratio.is_object() && ratio["estimate"].is_number()
                        ? fmt::format("{:.2f}", ratio["estimate"].get<double>())
                        : unknown);
    const Json& backlog = step["backlog"];
    cells.push_back(backlog.is_object() ? collectors::format_bytes(backlog["estimate_bytes"].get<double>())
                                        : unknown);
    cells.push_back(count_text(step["drops"]));
    cells.push_back(count_text(step["retransmits"]));
    if (step["status"] != "complete")
        cells.push_back(step["status"].get<std::string>());
    else if (step["cut_off_after_seconds"].is_number())
        cells.push_back("cut off after " + time_text(step["cut_off_after_seconds"]));
    return cells;
}

/// Right-aligned, two spaces apart; what has no heading is a remark.
std::string aligned(const std::vector<Cells>& rows) {
    std::vector<std::size_t> widths(rows.front().size(), 0);
    for (const Cells& cells : rows)
        for (std::size_t i = 0; i < widths.size(); ++i)
            widths[i] = std::max(widths[i], cells[i].size());
    std::string text;
    for (const Cells& cells : rows) {
        for (std::size_t i = 0; i < cells.size(); ++i)
            text += i < widths.size() ? fmt::format("{}{:>{}}", i == 0 ? "" : "  ", cells[i], widths[i])
                                      : "  " + cells[i];
        text += "\n";
    }
    return text;
}

std::string title(const Json& sweep) {
    std::string text =
        fmt::format("sweep            {} shifted against {}", sweep["shifted"].get<std::string>(),
                    sweep["reference"].get<std::string>());
    if (sweep["period_seconds"].is_number())
        text += fmt::format(", T {} ({})", time_text(sweep["period_seconds"]),
                            sweep["period_origin"].get<std::string>());
    return text +
           fmt::format("; {} of {} steps\n", sweep["steps"].size(), count_text(sweep["planned_steps"]));
}

/// Which interfaces and queues the columns are about.
std::string places(const Json& steps) {
    std::set<std::string> ratios, backlogs;
    for (const Json& step : steps) {
        if (step["ptm"].is_object())
            ratios.insert(step["ptm"]["where"].get<std::string>());
        const Json& backlog = step["backlog"];
        if (backlog.is_object())
            backlogs.insert(
                backlog["rate_bits_per_second"].is_number()
                    ? fmt::format("{} on a link of {}", backlog["where"].get<std::string>(),
                                  collectors::format_bit_rate(backlog["rate_bits_per_second"].get<double>()))
                    : backlog["where"].get<std::string>());
    }
    const auto named = [](const std::set<std::string>& all) {
        constexpr std::size_t most = 3;
        return all.size() <= most ? fmt::format("{}", fmt::join(all, ", "))
                                  : fmt::format("{} of them, see sweep.json", all.size());
    };
    std::string text;
    if (!ratios.empty())
        text += fmt::format("PtM: of the interface that carried the most: {}\n", named(ratios));
    if (!backlogs.empty())
        text += fmt::format("largest queue: {}\n", named(backlogs));
    return text;
}

} // namespace

std::string sweep_text(const Json& sweep) {
    const Json& steps = sweep["steps"];
    std::vector<std::string> names;
    for (const Json& step : steps)
        for (const Json& job : step["jobs"])
            if (std::find(names.begin(), names.end(), job["name"]) == names.end())
                names.push_back(job["name"].get<std::string>());
    std::vector<Cells> rows{heading(steps, names)};
    for (const Json& step : steps)
        rows.push_back(row(step, names));
    std::string text = "\n" + title(sweep) + aligned(rows);
    const bool any_lost = std::any_of(steps.begin(), steps.end(), [](const Json& step) {
        return step["offset_seconds"]["was_held"] == false;
    });
    text +=
        "held, drift: starts of measured iterations against the other job's, median, and last less first\n";
    if (any_lost)
        text +=
            fmt::format("!: OFFSET NOT HELD: it drifted, or was on the median, more than {:g} % of T away\n",
                        100 * sweep["offset_error_limit"].get<double>());
    text += places(steps);
    for (const Json& step : steps)
        if (step["error"].is_string())
            text += fmt::format("{}: {}\n", step["directory"].get<std::string>(),
                                step["error"].get<std::string>());
    if (sweep["status"] != "complete")
        text +=
            fmt::format("THE SWEEP IS NOT COMPLETE: {}\n",
                        sweep["error"].is_string() ? sweep["error"].get<std::string>() : "it did not end");
    return text;
}

} // namespace generator
