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

/// What a column shows of one interface: the sum of its counters; "-" if the kernel tells none of them, "?"
/// if one was not known to the end.
std::string loss(const SlowLaneResult& result, const LossColumn& column) {
    std::optional<std::int64_t> sum;
    for (const std::string_view counter : column.counters)
        if (const collectors::SlowTotal* total = result.total(counter)) {
            if (!total->total)
                return "?";
            sum = sum.value_or(0) + *total->total;
        }
    return sum ? std::to_string(*sum) : "-";
}

bool lost_nothing(const SlowLaneResult& result) {
    return std::all_of(loss_columns.begin(), loss_columns.end(), [&](const LossColumn& column) {
        const std::string shown = loss(result, column);
        return shown == "0" || shown == "-";
    });
}

std::string row_text(const SlowLaneResult& result) {
    std::string text = fmt::format("{:<10} {:<10}", result.host, result.interface);
    for (const LossColumn& column : loss_columns)
        text += fmt::format(" {:>{}}", loss(result, column), column.title.size());
    return text + "\n";
}

} // namespace

const collectors::SlowTotal* SlowLaneResult::total(std::string_view column) const {
    for (const collectors::SlowTotal& each : totals)
        if (each.name == column)
            return &each;
    return nullptr;
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
                  "network namespace; - : the kernel does not tell; ? : not known to the end\n";
}

} // namespace generator
