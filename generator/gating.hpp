#pragma once

#include "generator/timeline.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <vector>

namespace generator {

/// Who held up an iteration: the rank that was the last to start the iteration's last collective of those in
/// which most ranks take part (sends aside), and by how much after the median of these ranks.
struct Gate {
    std::uint32_t iteration = 0;
    int rank = 0;
    std::int64_t behind_ns = 0;

    bool operator==(const Gate&) const = default;
};

/// How often one rank gated, and by how much.
struct GatingRank {
    int rank = 0;
    std::uint32_t iterations = 0;
    double median_seconds = 0; ///< behind the median start, by nearest rank
    double max_seconds = 0;
};

/// The gates of iterations `first` to `last - 1`, of those that had such a collective with records of two
/// ranks at least. Starts are compared as they are: the timelines are on one clock (see `aligned`), and the
/// result as exact as the offsets that brought them there.
std::vector<Gate> gates(const std::vector<Timeline>& timelines, const Workload& workload, std::uint32_t first,
                        std::uint32_t last);

/// Of each rank that gated, the most frequent first.
std::vector<GatingRank> gating_ranks(const std::vector<Gate>& gates);

} // namespace generator
