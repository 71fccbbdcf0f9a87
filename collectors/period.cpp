#include "collectors/period.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>

namespace collectors {

namespace {

using std::chrono::nanoseconds;
using Complex = std::complex<double>;

constexpr double weakest_peak = 0.3;
constexpr std::size_t periods_that_fit = 5;
constexpr double fewest_repetitions = 3.5; // four, of which none is much weaker than the others
constexpr double least_at_twice = 0.5;     // of the peak: there is a third burst after the second

/// Discrete Fourier transform in place; a power of two of values (Cooley and Tukey, 1965).
void transform(std::vector<Complex>& values) {
    const std::size_t size = values.size();
    for (std::size_t i = 1, reversed = 0; i < size; ++i) {
        std::size_t bit = size >> 1;
        for (; (reversed & bit) != 0; bit >>= 1)
            reversed ^= bit;
        reversed ^= bit;
        if (i < reversed)
            std::swap(values[i], values[reversed]);
    }
    for (std::size_t length = 2; length <= size; length *= 2) {
        std::vector<Complex> turns(length / 2);
        for (std::size_t k = 0; k < turns.size(); ++k)
            turns[k] =
                std::polar(1.0, -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(length));
        for (std::size_t begin = 0; begin < size; begin += length)
            for (std::size_t k = 0; k < turns.size(); ++k) {
                Complex& upper = values[begin + k];
                Complex& lower = values[begin + k + length / 2];
                const Complex turned = lower * turns[k];
                lower = upper - turned;
                upper += turned;
            }
    }
}

/// Of the cells that are known; 0 if there is none.
double mean_of(std::span<const std::optional<double>> bytes) {
    double total = 0;
    std::size_t known = 0;
    for (const std::optional<double>& value : bytes) {
        total += value.value_or(0);
        known += value ? 1U : 0U;
    }
    return known == 0 ? 0 : total / static_cast<double>(known);
}

/// r(0) = 1, r(1), ... up to half of the series; empty without traffic that varies. By Wiener and Khinchin:
/// the transform of the power spectrum; zeros behind the series keep its ends apart.
std::vector<double> autocorrelation(std::span<const std::optional<double>> bytes) {
    const double mean = mean_of(bytes);
    std::vector<Complex> values(2 * std::bit_ceil(bytes.size()));
    for (std::size_t i = 0; i < bytes.size(); ++i)
        values[i] = bytes[i].value_or(mean) - mean;
    transform(values);
    for (Complex& value : values)
        value = std::norm(value);
    transform(values);
    const double variance = values[0].real();
    if (!(variance > 1e-9 * mean * mean * static_cast<double>(values.size() * bytes.size())))
        return {};
    std::vector<double> correlation(bytes.size() / 2);
    for (std::size_t lag = 0; lag < correlation.size(); ++lag)
        correlation[lag] = values[lag].real() / variance;
    return correlation;
}

/// A peak between two cells shows half in each: the two that hold it together.
double height(const std::vector<double>& correlation, std::size_t lag) {
    return correlation[lag] + std::max(correlation[lag - 1], correlation[lag + 1]);
}

/// The top of the parabola through a peak and its neighbours.
double top(const std::vector<double>& correlation, std::size_t lag) {
    const double before = correlation[lag - 1];
    const double after = correlation[lag + 1];
    const double bend = before - 2 * correlation[lag] + after;
    const double shift = bend < 0 ? std::clamp((before - after) / (2 * bend), -0.5, 0.5) : 0;
    return static_cast<double>(lag) + shift;
}

/// Largest within two lags of `around`.
std::size_t peak_near(const std::vector<double>& correlation, double around) {
    const auto middle = static_cast<std::size_t>(std::llround(around));
    const auto from = correlation.begin() + static_cast<std::ptrdiff_t>(middle - 2);
    return middle - 2 + static_cast<std::size_t>(std::max_element(from, from + 5) - from);
}

/// On how many repetitions the correlation at `lag` rests: the participation ratio (sum s)^2 / sum s^2 of
/// what each stretch of one lag adds to it, over all ways to lay the stretches. One coincidence of two bursts
/// gives 1, n + 1 equal bursts in equal distances n.
double repetitions(std::span<const std::optional<double>> bytes, std::size_t lag) {
    const double mean = mean_of(bytes);
    const auto product = [&](std::size_t i) {
        return (bytes[i].value_or(mean) - mean) * (bytes[i + lag].value_or(mean) - mean);
    };
    const std::size_t count = bytes.size() - lag;
    double total = 0;
    double squares = 0;
    double stretch = 0;
    for (std::size_t end = 0; end < count + lag; ++end) {
        if (end < count) {
            total += product(end);
            stretch += product(end);
        }
        if (end >= lag)
            stretch -= product(end - lag);
        squares += stretch * stretch;
    }
    return squares > 0 ? static_cast<double>(lag) * total * total / squares : 0;
}

} // namespace

ActivitySeries::ActivitySeries(nanoseconds cell, std::size_t most_cells)
    : cell_(cell), most_cells_(most_cells), grid_(cell.count()) {}

void ActivitySeries::add(std::span<const Reading> readings) {
    for (const Reading& reading : readings)
        grid_.add(reading,
                  [this](std::optional<double> bytes, std::uint64_t count) { add_cells(bytes, count); });
}

void ActivitySeries::add_cells(std::optional<double> bytes, std::uint64_t count) {
    while (count > 0) {
        const std::uint64_t taken = std::min<std::uint64_t>(count, merged_ - pending_count_);
        pending_ = pending_ && bytes ? std::optional(*pending_ + *bytes) : std::nullopt;
        pending_count_ += taken;
        count -= taken;
        if (pending_count_ < merged_)
            return;
        if (cells_.size() < most_cells_) {
            cells_.push_back(pending_);
            pending_ = 0.0;
            pending_count_ = 0;
            continue;
        }
        for (std::size_t i = 0; i + 1 < cells_.size(); i += 2)
            cells_[i / 2] =
                cells_[i] && cells_[i + 1] ? std::optional(*cells_[i] + *cells_[i + 1]) : std::nullopt;
        cells_.resize(cells_.size() / 2);
        merged_ *= 2; // what is pending is now half of a cell
    }
}

std::optional<Period> find_period(std::span<const std::optional<double>> bytes, nanoseconds cell) {
    const std::vector<double> correlation = autocorrelation(bytes);
    const std::size_t longest = bytes.size() / periods_that_fit;
    std::size_t first = 1;
    while (first < correlation.size() && correlation[first] > 0)
        ++first;
    ++first; // its neighbours too are beyond the top at lag 0
    if (correlation.empty() || first + 1 >= longest)
        return std::nullopt;
    double highest = 0;
    for (std::size_t lag = first; lag + 1 < longest; ++lag)
        highest = std::max(highest, height(correlation, lag));
    std::size_t lag = first;
    while (lag + 1 < longest && height(correlation, lag) < 0.9 * highest)
        ++lag;
    while (lag + 2 < longest && correlation[lag + 1] > correlation[lag]) // up to the top
        ++lag;
    const double strength = correlation[lag];
    if (strength < weakest_peak || repetitions(bytes, lag) < fewest_repetitions ||
        height(correlation, peak_near(correlation, 2 * top(correlation, lag))) <
            least_at_twice * height(correlation, lag))
        return std::nullopt;

    double period = top(correlation, lag);
    for (double multiple = 2; multiple * period + 4 < static_cast<double>(longest); multiple *= 2) {
        const std::size_t peak = peak_near(correlation, multiple * period);
        if (height(correlation, peak) < 0.5 * highest)
            break;
        period = top(correlation, peak) / multiple;
    }
    return Period{nanoseconds{std::llround(period * static_cast<double>(cell.count()))}, strength};
}

} // namespace collectors
