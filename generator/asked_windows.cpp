#include "generator/asked_windows.hpp"

#include "collectors/burstiness.hpp"

#include <algorithm>
#include <cmath>

namespace generator {
namespace {

template <class Value>
std::vector<Value> ascending_once(std::vector<Value> values) {
    std::sort(values.begin(), values.end());
    values.erase(std::unique(values.begin(), values.end()), values.end());
    return values;
}

} // namespace

std::vector<std::chrono::nanoseconds> asked_windows(std::span<const Expectation> expectations) {
    const auto standard = collectors::standard_windows();
    std::vector<std::chrono::nanoseconds> windows(standard.begin(), standard.end());
    for (const Expectation& each : expectations)
        if (each.quantity.argument == QuantityArgument::window)
            windows.push_back(each.window);
    return ascending_once(std::move(windows));
}

std::vector<collectors::BitRate> asked_rates(std::span<const Expectation> expectations,
                                             std::optional<collectors::BitRate> line_rate,
                                             double mean_bits_per_second) {
    std::vector<collectors::BitRate> rates;
    for (const Expectation& each : expectations)
        if (each.quantity.argument == QuantityArgument::rate)
            rates.push_back(each.rate);
    const auto add = [&](double bits_per_second) {
        if (bits_per_second >= 1)
            rates.push_back({static_cast<std::uint64_t>(std::llround(bits_per_second))});
    };
    if (line_rate)
        for (const double share : {0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.9})
            add(share * static_cast<double>(line_rate->bits_per_second));
    else
        for (const double multiple : {1.5, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0})
            add(multiple * mean_bits_per_second);
    return ascending_once(std::move(rates));
}

} // namespace generator
