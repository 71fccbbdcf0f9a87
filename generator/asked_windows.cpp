#include "generator/asked_windows.hpp"

#include "collectors/burstiness.hpp"

#include <algorithm>

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

std::vector<collectors::BitRate> asked_rates(std::span<const Expectation> expectations) {
    std::vector<collectors::BitRate> rates;
    for (const Expectation& each : expectations)
        if (each.quantity.argument == QuantityArgument::rate)
            rates.push_back(each.rate);
    return ascending_once(std::move(rates));
}

} // namespace generator
