#include "collectors/dispersion.hpp"

#include <cmath>

namespace collectors {

OnlineDispersion::OnlineDispersion(std::span<const std::chrono::nanoseconds> windows,
                                   std::chrono::nanoseconds interval) {
    for (const std::chrono::nanoseconds window : windows) {
        scales_.push_back({.window = window, .grid = std::nullopt});
        if (window.count() > 0 && window >= interval)
            scales_.back().grid.emplace(window.count());
    }
}

void OnlineDispersion::add(std::span<const Reading> readings) {
    for (Scale& scale : scales_) {
        if (!scale.grid)
            continue;
        for (const Reading& reading : readings) {
            scale.grid->add(reading, [&](std::optional<double> bytes, std::uint64_t) {
                if (!bytes)
                    return;
                // Welford's recursion: no difference of large squares.
                ++scale.count;
                const double distance = *bytes - scale.mean;
                scale.mean += distance / static_cast<double>(scale.count);
                scale.squares += distance * (*bytes - scale.mean);
            });
        }
    }
}

std::vector<DispersionPoint> OnlineDispersion::points() const {
    std::vector<DispersionPoint> points;
    for (const Scale& scale : scales_) {
        DispersionPoint point{.window = scale.window, .count = scale.count, .mean_bytes = scale.mean};
        if (scale.count >= 2 && scale.mean > 0) {
            const double variance = scale.squares / static_cast<double>(scale.count - 1);
            point.coefficient_of_variation = std::sqrt(variance) / scale.mean;
            point.index_of_dispersion_bytes = variance / scale.mean;
        }
        points.push_back(point);
    }
    return points;
}

} // namespace collectors
