#include "generator/expectation.hpp"

#include <array>

namespace generator {
namespace {

/// iteration_mean, iteration_p50 ...
void add_distribution(std::vector<Quantity>& all, const Quantity& family) {
    constexpr std::array<std::string_view, 5> statistics{"mean", "p50", "p95", "p99", "max"};
    for (const std::string_view statistic : statistics) {
        Quantity quantity = family;
        quantity.name.append("_").append(statistic);
        all.push_back(std::move(quantity));
    }
}

std::vector<Quantity> all_quantities() {
    using enum QuantityUnit;
    using Argument = QuantityArgument;
    std::vector<Quantity> all{
        {"ptm", ratio, Argument::window, true, true, true, "peak to mean, E(tau) / (tau x mean rate)"},
        {"e", bytes, Argument::window, true, false, true, "most bytes in any window of that length"},
        {"backlog", bytes, Argument::rate, true, true, true,
         "largest queue if the traffic fed a link of that rate"},
        {"mean_rate", bytes_per_second, Argument::none, true, false, true,
         "bytes that the interface counted / measured time"},
        {"missed_share", share, Argument::none, true, false, false, "ticks that the sampler missed / all"},
        {"gaps", count, Argument::none, true, false, false, "distances of samples above two intervals"},
        {"longest_gap", seconds, Argument::none, true, false, false, "longest distance between two samples"},
        {"algorithm_bandwidth", bytes_per_second, Argument::none, false, false, true,
         "bytes of the all-reduces / their time"},
        {"bus_bandwidth", bytes_per_second, Argument::none, false, false, true,
         "algorithm bandwidth x 2(N-1)/N"},
        {"retransmits", count, Argument::none, false, false, false,
         "segments that the ranks' connections sent again"},
        {"ecn_marks", count, Argument::none, false, false, false,
         "segments of the ranks' connections with a congestion mark"},
        {"drops", count, Argument::none, false, false, false,
         "packets that interfaces, their queues and sampled switch ports dropped"},
        {"switch_backlog", bytes, Argument::none, false, false, false,
         "longest queue of the sampled switch ports"},
        {"iterations", count, Argument::none, false, false, false, "that every rank finished"},
        {"sent_bytes", bytes, Argument::none, false, false, false, "payload of all ranks"},
        {"received_bytes", bytes, Argument::none, false, false, false, "payload of all ranks"},
    };
    add_distribution(all, {"iteration", seconds, Argument::none, false, true, true,
                           "time of an iteration on its slowest rank; predicted: the mean"});
    add_distribution(all, {"bucket", seconds, Argument::collective, false, false, true,
                           "time of a collective on its slowest rank; of all_reduce unless one is named"});
    add_distribution(all, {"lateness", seconds, Argument::none, false, false, false,
                           "how late a bucket started by the rank's own fault"});
    add_distribution(all, {"rtt", seconds, Argument::none, false, false, true,
                           "round-trip time that TCP measured at the end of buckets"});
    return all;
}

} // namespace

const std::vector<Quantity>& quantities() {
    static const std::vector<Quantity> all = all_quantities();
    return all;
}

} // namespace generator
