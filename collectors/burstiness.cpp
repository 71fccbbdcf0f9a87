#include "collectors/burstiness.hpp"

#include "collectors/segments.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace collectors {

namespace {

using std::chrono::nanoseconds;

/// One segment as flat columns, bytes counted from its first reading: the loops below read little memory per
/// step.
struct Columns {
    std::vector<std::int64_t> begin;
    std::vector<std::int64_t> end;
    std::vector<double> midpoint;
    std::vector<std::uint64_t> bytes;

    explicit Columns(std::span<const Reading> segment) {
        begin.reserve(segment.size());
        end.reserve(segment.size());
        midpoint.reserve(segment.size());
        bytes.reserve(segment.size());
        for (const Reading& reading : segment) {
            begin.push_back(reading.begin_ns);
            end.push_back(reading.end_ns);
            midpoint.push_back(midpoint_ns(reading));
            bytes.push_back(reading.bytes - segment.front().bytes);
        }
    }

    std::size_t size() const { return begin.size(); }
};

/// Whatever the instants within the read windows were, A_j - A_i bytes passed within e_j - b_i.
std::uint64_t certain_bytes(const Columns& columns, std::int64_t window) {
    std::uint64_t most = 0;
    std::size_t first = 0;
    for (std::size_t last = 0; last < columns.size(); ++last) {
        while (first < last && columns.end[last] - columns.begin[first] > window)
            ++first;
        most = std::max(most, columns.bytes[last] - columns.bytes[first]);
    }
    return most;
}

/// A window that starts at s in [e_i, e_(i+1)) saw at least A_i before it, and at most A_k by its end, if
/// reading k began at or after e_(i+1) + tau > s + tau. Windows that start before e_0 are covered by i = 0
/// because none starts before reading 0 was taken. Without such a k the last reading bounds every window that
/// fits; later starts only lose bytes then.
std::uint64_t possible_bytes(const Columns& columns, std::int64_t window) {
    std::uint64_t most = 0;
    std::size_t after = 0;
    const std::size_t last = columns.size() - 1;
    for (std::size_t i = 0; i < last; ++i) {
        while (after < last && columns.begin[after] < columns.end[i + 1] + window)
            ++after;
        const bool clamped = columns.begin[after] < columns.end[i + 1] + window;
        if (!clamped || i == 0 || columns.end[i] + window <= columns.end[last])
            most = std::max(most, columns.bytes[after] - columns.bytes[i]);
        if (clamped)
            break;
    }
    return most;
}

/// A between readings k - 1 and k, on the straight line between their midpoints.
double interpolated(const Columns& columns, std::size_t k, double instant) {
    const double from = static_cast<double>(columns.bytes[k - 1]);
    const double rise = static_cast<double>(columns.bytes[k]) - from;
    const double length = columns.midpoint[k] - columns.midpoint[k - 1];
    return from + rise * (instant - columns.midpoint[k - 1]) / length;
}

/// The supremum over windows of a piecewise linear A has one end at a corner. Where A jumps (two readings at
/// one instant) a window that ends there holds the jump, and so does one that begins there.
double likely_bytes(const Columns& columns, double window) {
    const std::vector<double>& time = columns.midpoint;
    const std::size_t size = columns.size();
    double most = 0;
    std::size_t k = 0; // windows that end at a corner; k is the first corner not before the start
    for (std::size_t i = 0; i < size; ++i) {
        const double start = time[i] - window;
        while (time[k] < start)
            ++k;
        const double before = k == 0 || time[k] == start ? static_cast<double>(columns.bytes[k])
                                                         : interpolated(columns, k, start);
        most = std::max(most, static_cast<double>(columns.bytes[i]) - before);
    }
    k = 0; // windows that begin at a corner; k is the first corner after the end
    for (std::size_t i = 0; i < size; ++i) {
        const double end = time[i] + window;
        while (k < size && time[k] <= end)
            ++k;
        const double after =
            k == size ? static_cast<double>(columns.bytes.back()) : interpolated(columns, k, end);
        most = std::max(most, after - static_cast<double>(columns.bytes[i]));
    }
    return most;
}

/// 500.02 us is a 500 us grid: two significant digits.
double two_digits(double value) {
    if (value <= 0)
        return 0;
    const double scale = std::pow(10.0, std::floor(std::log10(value)) - 1);
    return std::round(value / scale) * scale;
}

nanoseconds smallest_resolved(std::span<const Reading> readings, std::optional<nanoseconds> refresh_period) {
    const bool exact = std::all_of(readings.begin(), readings.end(),
                                   [](const Reading& reading) { return reading.begin_ns == reading.end_ns; });
    if (exact || readings.size() < 2)
        return nanoseconds{0};
    std::vector<std::int64_t> distances;
    distances.reserve(readings.size() - 1);
    for (std::size_t i = 1; i < readings.size(); ++i)
        distances.push_back(readings[i].begin_ns - readings[i - 1].begin_ns);
    const auto middle = distances.begin() + static_cast<std::ptrdiff_t>(distances.size() / 2);
    std::nth_element(distances.begin(), middle, distances.end());
    const nanoseconds ten_readings{std::llround(10 * two_digits(static_cast<double>(*middle)))};
    return std::max(ten_readings, 2 * refresh_period.value_or(nanoseconds{0}));
}

} // namespace

BurstinessCurve burstiness_curve(std::span<const Reading> readings, std::span<const nanoseconds> windows,
                                 std::optional<nanoseconds> refresh_period) {
    BurstinessCurve curve;
    for (const nanoseconds window : windows)
        curve.points.push_back({window, {}, false});
    if (readings.size() < 2)
        return curve;
    curve.resolved_from = smallest_resolved(readings, refresh_period);
    curve.span = nanoseconds{std::llround(midpoint_ns(readings.back()) - midpoint_ns(readings.front()))};
    for (const auto& segment : segments(readings)) {
        const Columns columns(segment);
        curve.total_bytes += columns.bytes.back();
        for (BurstinessPoint& point : curve.points) {
            Bounds& most = point.bytes;
            const std::int64_t window = point.window.count();
            most.lower = std::max(most.lower, static_cast<double>(certain_bytes(columns, window)));
            most.estimate = std::max(most.estimate, likely_bytes(columns, static_cast<double>(window)));
            most.upper = std::max(most.upper, static_cast<double>(possible_bytes(columns, window)));
        }
    }
    for (BurstinessPoint& point : curve.points) {
        point.resolved =
            point.window.count() > 0 && point.window >= curve.resolved_from && point.window <= curve.span;
        point.bytes.estimate = std::clamp(point.bytes.estimate, point.bytes.lower, point.bytes.upper);
    }
    if (curve.span.count() > 0)
        curve.mean_bytes_per_second =
            static_cast<double>(curve.total_bytes) / std::chrono::duration<double>(curve.span).count();
    return curve;
}

Bounds peak_to_mean(const BurstinessCurve& curve, const BurstinessPoint& point) {
    const double mean_bytes =
        curve.mean_bytes_per_second * std::chrono::duration<double>(point.window).count();
    if (mean_bytes <= 0)
        return {};
    return {point.bytes.lower / mean_bytes, point.bytes.estimate / mean_bytes,
            point.bytes.upper / mean_bytes};
}

std::span<const nanoseconds> standard_windows() {
    using namespace std::chrono_literals;
    static constexpr std::array<nanoseconds, 10> windows{1ms,  2ms,   5ms,   10ms,  20ms,
                                                         50ms, 100ms, 200ms, 500ms, 1s};
    return windows;
}

} // namespace collectors
