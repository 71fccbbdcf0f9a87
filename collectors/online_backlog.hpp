#pragma once

#include "collectors/burstiness.hpp"

#include <optional>
#include <span>
#include <vector>

namespace collectors {

/// B_max(r) for several rates while readings arrive, as `max_backlog` defines it. Holds 56 bytes per rate.
class OnlineBacklog {
public:
    explicit OnlineBacklog(std::span<const BitRate> rates);

    /// The next readings of the trace, in any number.
    void add(std::span<const Reading> readings);
    /// For rate i, of all readings so far.
    Bounds backlog(std::size_t i) const;

private:
    void begin_segment(const Reading& first);

    // One column per rate: the compiler works on several rates at once.
    std::vector<double> bytes_per_ns_;
    std::vector<double> best_start_; ///< largest r b_i - A_i
    std::vector<double> queue_;      ///< Lindley
    std::vector<double> certain_;
    std::vector<double> likely_;
    std::vector<double> early_start_; ///< largest r e_(i+1) - A_i of the i that lie three readings back
    std::vector<double> possible_;
    double neighbours_ = 0;         ///< largest A_k - A_(k-2)
    std::optional<Reading> origin_; ///< of the current segment
    std::optional<Reading> last_;
    /// Since the origin; those of readings that the segment does not have say nothing.
    struct Past {
        double last_begin = 0;
        double last_end;
        double second_last_end;
        double last_bytes = 0;
        double second_last_bytes = 0;
        double third_last_bytes = 0;
    } past_{};
};

} // namespace collectors
