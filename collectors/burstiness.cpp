#include "collectors/burstiness.hpp"

#include "collectors/online_curve.hpp"
#include "collectors/units.hpp"

#include <array>

namespace collectors {

using std::chrono::nanoseconds;

BurstinessCurve burstiness_curve(std::span<const Reading> readings, std::span<const nanoseconds> windows,
                                 std::optional<nanoseconds> refresh_period) {
    OnlineCurve curve(windows);
    curve.add(readings);
    return curve.curve(refresh_period);
}

Bounds peak_to_mean(const BurstinessCurve& curve, const BurstinessPoint& point) {
    const double mean_bytes = curve.mean_bytes_per_second * in_seconds(point.window);
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
