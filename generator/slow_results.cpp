#include "generator/slow_results.hpp"

#include <algorithm>
#include <array>
#include <span>

#include <fmt/format.h>

namespace generator {
namespace {

/// A column of the table, and what of the lane it adds up.
struct LossColumn {
    std::string_view title;
    std::array<std::string_view, 3> counters;
};

constexpr std::array<LossColumn, 8> loss_columns{{
    {"rx drops", {"rx_drops"}},
    {"tx drops", {"tx_drops"}},
    {"errors", {"rx_errors", "tx_errors", "rx_missed"}},
    {"queue drops", {"queue_drops"}},
    {"retransmits", {"tcp_retransmits"}},
    {"timeouts", {"tcp_timeouts"}},
    {"marks received", {"ecn_marks_received"}},
    {"marks echoed", {"ecn_marks_echoed"}},
}};

/// nullopt if none of its counters is known.
std::optional<std::int64_t> loss(const SlowLaneResult& result, const LossColumn& column) {
    std::optional<std::int64_t> sum;
    for (const std::string_view counter : column.counters)
        if (const auto total = counter.empty() ? std::nullopt : result.total(counter))
            sum = sum.value_or(0) + *total;
    return sum;
}

bool lost_nothing(const SlowLaneResult& result) {
    return std::all_of(loss_columns.begin(), loss_columns.end(),
                       [&](const LossColumn& column) { return loss(result, column).value_or(0) == 0; });
}

std::string row_text(const SlowLaneResult& result) {
    std::string text = fmt::format("{:<10} {:<10}", result.host, result.interface);
    for (const LossColumn& column : loss_columns) {
        const auto total = loss(result, column);
        text += fmt::format(" {:>{}}", total ? std::to_string(*total) : "-", column.title.size());
    }
    return text + "\n";
}

} // namespace

std::optional<std::int64_t> SlowLaneResult::total(std::string_view column) const {
    for (const collectors::SlowTotal& each : totals)
        if (each.name == column)
            return each.total;
    return std::nullopt;
}

std::string slow_lane_text(const std::vector<SlowLaneResult>& results) {
    if (results.empty())
        return "";
    const auto clean = static_cast<std::size_t>(std::count_if(results.begin(), results.end(), lost_nothing));
    if (clean == results.size())
        return fmt::format(
            "\nlosses           no drops, errors, retransmits, timeouts or ECN marks on {} "
            "(whole run)\n",
            clean == 1 ? results[0].host + " " + results[0].interface : fmt::format("any of {} interfaces", clean));
    std::string text =
        fmt::format("\nlosses in the whole run, warm-up included\n{:<10} {:<10}", "host", "interface");
    for (const LossColumn& column : loss_columns)
        text += fmt::format(" {}", column.title);
    text += "\n";
    for (const SlowLaneResult& result : results)
        if (!lost_nothing(result))
            text += row_text(result);
    if (clean > 0)
        text += fmt::format("nothing on {} more\n", clean);
    return text + "drops and errors: packets; retransmits (segments), timeouts and ECN marks: all TCP of the "
                  "host's\n"
                  "network namespace; - : the kernel does not tell\n";
}

} // namespace generator
