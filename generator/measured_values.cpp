#include "generator/measured_values.hpp"

#include "collectors/summary.hpp"
#include "generator/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace generator {
namespace {

using Json = nlohmann::ordered_json;
using collectors::format_duration;

/// nullptr if the path leads nowhere or to null.
const Json* find_at(const Json& document, const std::string& path) {
    const Json::json_pointer pointer(path);
    if (!document.contains(pointer) || document.at(pointer).is_null())
        return nullptr;
    return &document.at(pointer);
}

std::optional<double> number_at(const Json& document, const std::string& path) {
    const Json* const value = find_at(document, path);
    return value != nullptr && value->is_number() ? std::optional(value->get<double>()) : std::nullopt;
}

std::string text_at(const Json& document, const std::string& path) {
    const Json* const value = find_at(document, path);
    return value != nullptr && value->is_string() ? value->get<std::string>() : "";
}

const Json& list_at(const Json& document, const std::string& path) {
    static const Json empty = Json::array();
    const Json* const value = find_at(document, path);
    return value != nullptr && value->is_array() ? *value : empty;
}

std::chrono::nanoseconds from_seconds(double seconds) {
    return std::chrono::nanoseconds(std::llround(1e9 * seconds));
}

MeasuredValue exactly(std::optional<double> value, const std::string& absent) {
    return {.lower = value, .estimate = value, .upper = value, .problem = value ? "" : absent};
}

MeasuredValue unusable(std::string reason) {
    return {.problem = std::move(reason)};
}

/// Why times of this run tell nothing about the network; empty if they do.
std::string saturated_cpu(const Json& run) {
    std::map<int, double> shares;
    const Json& cpu = list_at(run, "/cpu_share_of_a_core");
    for (std::size_t rank = 0; rank < cpu.size(); ++rank) {
        const double own = number_at(cpu[rank], "/rank").value_or(0);
        if (own > most_cpu_share)
            return fmt::format("rank {} used {:.0f} % of a core: it may have waited for CPU time", rank,
                               100 * own);
        shares[static_cast<int>(rank)] = own + number_at(cpu[rank], "/sampler").value_or(0);
    }
    for (const Json& host : list_at(run, "/context/hosts")) {
        double sum = 0;
        for (const Json& rank : list_at(host, "/ranks"))
            sum += shares[static_cast<int>(number_at(rank, "/rank").value_or(-1))];
        const double cpus = number_at(host, "/cpus_online").value_or(0);
        if (cpus > 0 && sum > most_cpu_share * cpus)
            return fmt::format("the ranks of {} used {:.0f} % of its {:.0f} CPUs", text_at(host, "/host"),
                               100 * sum / cpus, cpus);
    }
    return "";
}

std::string place_of(const Json& interface) {
    return text_at(interface, "/host") + "." + text_at(interface, "/interface");
}

/// Why the trace tells too little; empty if it tells enough. `window`: 0 for what is no window's.
std::string trace_problem(const Json& interface, std::chrono::nanoseconds window) {
    const double samples = number_at(interface, "/samples").value_or(0);
    const double missed = number_at(interface, "/missed").value_or(0);
    if (const Json::json_pointer whole("/whole"); interface.contains(whole) && interface[whole] == false)
        return "the trace is not whole: its files do not hold all samples that were recorded";
    if (samples < 2)
        return fmt::format("the trace holds {:.0f} samples", samples);
    if (const auto lost = number_at(interface, "/lost_from_seconds"))
        return fmt::format("the counters could not be read any more from {} on",
                           format_duration(from_seconds(*lost)));
    const double failed = number_at(interface, "/failed").value_or(0);
    if (failed / (samples + failed) > most_missed_share)
        return fmt::format("{:.2g} % of all reads failed, more than {:.0f} %",
                           100 * failed / (samples + failed), 100 * most_missed_share);
    if (missed / (samples + missed) > most_missed_share)
        return fmt::format("the sampler missed {:.2g} % of its ticks, more than {:.0f} %",
                           100 * missed / (samples + missed), 100 * most_missed_share);
    const double gap = number_at(interface, "/longest_gap_seconds").value_or(0);
    if (window.count() > 0 && from_seconds(gap) > window)
        return fmt::format("the trace has a gap of {}", format_duration(from_seconds(gap)));
    const double span = number_at(interface, "/span_seconds").value_or(0);
    const double total = number_at(interface, "/total_gap_seconds").value_or(0);
    if (window.count() == 0 && total > most_gap_share * span)
        return fmt::format("gaps of {} in all are more than {:.0f} % of the trace",
                           format_duration(from_seconds(total)), 100 * most_gap_share);
    if (number_at(interface, "/sampler_cpu_share").value_or(0) > most_cpu_share)
        return "the sampler had no CPU time left";
    return "";
}

/// Nobody knows what passed while a counter started anew: there is no upper bound then.
void drop_upper_over_restarts(MeasuredValue& value, const Json& interface) {
    if (value.upper && number_at(interface, "/restarts").value_or(0) > 0)
        value.upper = std::numeric_limits<double>::infinity();
}

std::string unresolved(const Json& interface, std::chrono::nanoseconds tau) {
    if (number_at(interface, "/nic_bytes").value_or(0) == 0)
        return "nothing was counted there";
    const double restarts = number_at(interface, "/restarts").value_or(0);
    const auto span = from_seconds(number_at(interface, "/span_seconds").value_or(0));
    return fmt::format(
        "{} is not resolved there; the trace resolves windows from {} on, up to its {}", format_duration(tau),
        format_duration(from_seconds(number_at(interface, "/resolved_from_seconds").value_or(0))),
        restarts > 0 ? fmt::format("longest stretch without a restart of its counters ({:.0f} in {})",
                                   restarts, format_duration(span))
                     : "length of " + format_duration(span));
}

MeasuredValue window_value(const AskedQuantity& asked, const Json& interface) {
    const bool is_ratio = asked.quantity.name == "ptm";
    const std::string key = is_ratio ? "/ptm_" : "/e_";
    const std::string end = is_ratio ? "" : "_bytes";
    std::string known;
    for (const Json& point : list_at(interface, "/burstiness")) {
        const auto tau = from_seconds(number_at(point, "/tau_seconds").value_or(0));
        known += (known.empty() ? "" : ", ") + format_duration(tau);
        if (tau != asked.window)
            continue;
        MeasuredValue value{.lower = number_at(point, key + "lower" + end),
                            .estimate = number_at(point, key + "estimate" + end),
                            .upper = number_at(point, key + "upper" + end),
                            .predicted = is_ratio ? number_at(point, "/ptm_predicted") : std::nullopt};
        if (!value.lower || !value.upper)
            value.problem = unresolved(interface, tau);
        else
            value.problem = trace_problem(interface, tau);
        drop_upper_over_restarts(value, interface);
        return value;
    }
    return unusable(
        fmt::format("no window of {} was computed, only {}", format_duration(asked.window), known));
}

MeasuredValue backlog_value(const AskedQuantity& asked, const Json& interface) {
    std::string known;
    for (const Json& point : list_at(interface, "/backlog")) {
        const double rate = number_at(point, "/rate_bits_per_second").value_or(0);
        known += (known.empty() ? "" : ", ") + collectors::format_bit_rate(rate);
        if (std::llround(rate) != static_cast<long long>(asked.rate.bits_per_second))
            continue;
        MeasuredValue value{.lower = number_at(point, "/lower_bytes"),
                            .estimate = number_at(point, "/estimate_bytes"),
                            .upper = number_at(point, "/upper_bytes"),
                            .predicted = number_at(point, "/predicted_bytes")};
        value.problem = value.lower ? trace_problem(interface, {}) : "nothing was counted there";
        if (value.lower && !value.upper) // an early run.json has none
            value.upper = std::numeric_limits<double>::infinity();
        drop_upper_over_restarts(value, interface);
        return value;
    }
    return unusable(fmt::format("no backlog for {} was computed, only for {}",
                                collectors::format_bit_rate(static_cast<double>(asked.rate.bits_per_second)),
                                known.empty() ? "none" : known));
}

/// Bytes per second. Over a restart at least what was counted passed in the whole time.
MeasuredValue mean_rate_value(const Json& interface) {
    const std::optional<double> bits = number_at(interface, "/mean_bits_per_second");
    MeasuredValue value = exactly(bits ? std::optional(*bits / 8) : std::nullopt, "it is not known");
    const std::optional<double> bytes = number_at(interface, "/nic_bytes");
    const double span = number_at(interface, "/span_seconds").value_or(0);
    if (value.lower && number_at(interface, "/restarts").value_or(0) > 0)
        value.lower = bytes && span > 0 ? std::min(*value.lower, *bytes / span) : 0;
    drop_upper_over_restarts(value, interface);
    if (value.problem.empty())
        value.problem = trace_problem(interface, {});
    return value;
}

MeasuredValue interface_value(const AskedQuantity& asked, const Json& interface) {
    const std::string& name = asked.quantity.name;
    if (asked.quantity.argument == QuantityArgument::window)
        return window_value(asked, interface);
    if (asked.quantity.argument == QuantityArgument::rate)
        return backlog_value(asked, interface);
    if (name == "gaps")
        return exactly(number_at(interface, "/gaps"), "it is not known");
    if (name == "longest_gap")
        return exactly(number_at(interface, "/longest_gap_seconds"), "it is not known");
    if (name == "missed_share") {
        const double samples = number_at(interface, "/samples").value_or(0);
        const std::optional<double> missed = number_at(interface, "/missed");
        return exactly(missed && samples + *missed > 0 ? std::optional(*missed / (samples + *missed))
                                                       : std::nullopt,
                       missed ? "the trace is empty" : "it is not known");
    }
    return mean_rate_value(interface);
}

std::vector<MeasuredValue> interface_values(const AskedQuantity& asked, const Json& run) {
    std::vector<MeasuredValue> values;
    std::vector<std::string> known;
    for (const Json& interface : list_at(run, "/interfaces")) {
        const std::string direction = text_at(interface, "/direction");
        const std::string place = place_of(interface);
        if (std::find(known.begin(), known.end(), place) == known.end()) // once for both directions
            known.push_back(place);
        if (!asked.interface.empty() && place != asked.interface)
            continue;
        if (asked.direction && direction != collectors::to_text(*asked.direction))
            continue;
        values.push_back(interface_value(asked, interface));
        values.back().where = place + " " + direction;
    }
    if (values.empty())
        values.push_back(unusable(
            known.empty() ? "no interface was measured"
                          : fmt::format("no such interface was measured, only {}", fmt::join(known, ", "))));
    return values;
}

/// Packets, of everything that counts them; at least so many if some counter could not be read.
MeasuredValue all_drops(const Json& run) {
    std::optional<double> sum;
    bool all_known = true;
    const auto add = [&](const Json& from, const std::string& path) {
        if (const auto value = number_at(from, path))
            sum = sum.value_or(0) + *value;
        else
            all_known = false;
    };
    for (const Json& lane : list_at(run, "/slow_lane"))
        for (const char* const path : {"/rx_drops", "/tx_drops", "/queue_drops"})
            add(lane, path);
    for (const Json& port : list_at(run, "/switch_ports"))
        add(port, "/drops");
    MeasuredValue value = exactly(sum, "no counter of drops was read");
    if (sum && !all_known)
        value.upper = std::numeric_limits<double>::infinity();
    return value;
}

std::optional<double> most_switch_backlog(const Json& run) {
    std::optional<double> most;
    for (const Json& port : list_at(run, "/switch_ports"))
        if (const auto value = number_at(port, "/max_backlog_bytes"))
            most = std::max(most.value_or(0), *value);
    return most;
}

/// iteration_p99 -> /iterations/seconds/p99
MeasuredValue distribution_value(const AskedQuantity& asked, const Json& run) {
    const std::string& name = asked.quantity.name;
    const std::size_t bar = name.rfind('_');
    const std::string family = name.substr(0, bar);
    const std::string statistic = "/" + name.substr(bar + 1);
    if (family == "lateness")
        return exactly(number_at(run, "/bucket_start_lateness_seconds" + statistic),
                       "no bucket was measured");
    if (family == "rtt")
        return exactly(number_at(run, "/tcp/rtt_seconds" + statistic),
                       "connections were not asked (tcp.csv)");
    if (family == "bucket") {
        for (const Json& each : list_at(run, "/collectives"))
            if (text_at(each, "/collective") == asked.collective)
                return exactly(number_at(each, "/seconds" + statistic), "no bucket was measured");
        return unusable(fmt::format("no {} was measured", asked.collective));
    }
    MeasuredValue value =
        exactly(number_at(run, "/iterations/seconds" + statistic), "no iteration was measured");
    value.predicted = number_at(run, "/iterations/predicted_seconds");
    return value;
}

MeasuredValue run_value(const AskedQuantity& asked, const Json& run) {
    const std::string& name = asked.quantity.name;
    if (name == "algorithm_bandwidth" || name == "bus_bandwidth")
        return exactly(
            number_at(run, fmt::format("/bandwidth/{}_bytes_per_second", name.substr(0, name.find('_')))),
            "no all-reduce was measured");
    if (name == "retransmits")
        return exactly(number_at(run, "/tcp/retransmitted_segments"), "connections were not asked (tcp.csv)");
    if (name == "ecn_marks")
        return exactly(number_at(run, "/tcp/ecn_marked_segments"), "connections were not asked (tcp.csv)");
    if (name == "drops")
        return all_drops(run);
    if (name == "switch_backlog")
        return exactly(most_switch_backlog(run), "no switch port was sampled");
    if (name == "iterations")
        return exactly(number_at(run, "/iterations/count"), "it is not known");
    if (name == "sent_bytes" || name == "received_bytes")
        return exactly(number_at(run, "/bytes/" + name.substr(0, name.find('_'))), "it is not known");
    return distribution_value(asked, run);
}

} // namespace

std::string unfinished(const Json& run) {
    const std::string status = text_at(run, "/status");
    if (status.empty())
        return "nobody knows whether it ended as planned";
    return status == "complete" ? "" : fmt::format("the run is {}", status);
}

std::vector<MeasuredValue> measured_values(const AskedQuantity& asked, const Json& run) {
    std::vector<MeasuredValue> values;
    if (asked.quantity.of_interfaces)
        values = interface_values(asked, run);
    else
        values.push_back(run_value(asked, run));
    if (const std::string saturated = saturated_cpu(run); asked.quantity.needs_cpu && !saturated.empty())
        for (MeasuredValue& value : values)
            if (value.problem.empty())
                value.problem = saturated;
    return values;
}

} // namespace generator
