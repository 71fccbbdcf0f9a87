#pragma once

#include "collectors/grid_counter.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace collectors {

/// How much the bytes X of consecutive windows of one length vary. Windows of which nobody knows what they
/// held (gaps, see GridCounter) are left out.
struct DispersionPoint {
    std::chrono::nanoseconds window{0};
    std::uint64_t count = 0; ///< of windows
    double mean_bytes = 0;
    /// sqrt(Var X) / mean X, with the sample variance (n - 1). 0 for fewer than two windows or no traffic.
    double coefficient_of_variation = 0;
    /// Index of dispersion Var X / mean X (Cox and Lewis, "The Statistical Analysis of Series of Events",
    /// 1966; for packet arrivals Gusella, "Characterizing the Variability of Arrival Processes with Indexes
    /// of Dispersion", IEEE JSAC 9(2), 1991). Of bytes, so its unit is the byte: packets of s bytes that come
    /// by a Poisson process have s at every scale; it grows with the window where bursts are correlated.
    double index_of_dispersion_bytes = 0;

    /// Too few windows say little about their variance.
    bool shown() const { return count >= fewest_windows && mean_bytes > 0; }
    static constexpr std::uint64_t fewest_windows = 10;
};

/// Dispersion while readings arrive; about 100 bytes for each window length.
class OnlineDispersion {
public:
    /// Windows shorter than `interval`, the distance between readings, are not looked at.
    explicit OnlineDispersion(std::span<const std::chrono::nanoseconds> windows,
                              std::chrono::nanoseconds interval = std::chrono::nanoseconds(0));

    void add(std::span<const Reading> readings);
    /// One point for each window length, of all windows that are over.
    std::vector<DispersionPoint> points() const;

private:
    struct Scale {
        std::chrono::nanoseconds window;
        std::optional<GridCounter> grid;
        std::uint64_t count = 0;
        double mean = 0;
        double squares = 0; ///< sum of squared distances from the mean (Welford)
    };
    std::vector<Scale> scales_;
};

} // namespace collectors
