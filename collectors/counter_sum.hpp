#pragma once

#include "collectors/summary.hpp"
#include "collectors/trace.hpp"

#include <chrono>
#include <span>

namespace collectors {

/// One trace of a sum. `offset` is added to its times to bring them to the time of the first trace; it is
/// known to within `uncertainty` either way. `drift` is by how much it is larger at the last reading than at
/// the first one; in between it lies on a line. Interfaces of one host share a clock: offsets are what their
/// starts say, and the rest is 0.
struct SumPart {
    const Trace* trace = nullptr;
    std::chrono::nanoseconds offset{0};
    std::chrono::nanoseconds uncertainty{0};
    std::chrono::nanoseconds drift{0};
};

/// The sum of one direction of several interfaces, perhaps of several hosts, as a trace of its own, so that
/// every metric applies to it as it is. The trace with the fewest samples in the time that all cover gives
/// the pace: with each of its readings goes the nearest (by midpoint) of every other trace. The sum's window
/// is the smallest that holds all their windows, each widened by its uncertainty: the counters cannot have
/// risen beyond these readings before it began, nor fallen short of them after it ended, which is all that
/// certified bounds need. So the bounds stay certified, and widen where traces were read far apart. A counter
/// that started anew in any trace starts the sum anew. Only the columns of `direction` are filled. Throws
/// std::invalid_argument if the traces share no time, or no reading of it.
Trace sum_of(std::span<const SumPart> parts, Direction direction);

/// What the sum says. Its quality is that of the worst of the traces in the time that all cover, each figure
/// by itself, never a total: one thread that comes late misses the same tick for all of its interfaces.
/// `windows`: the standard ones if empty.
InterfaceSummary summarize_sum(std::span<const SumPart> parts, Direction direction,
                               std::span<const std::chrono::nanoseconds> windows,
                               std::span<const BitRate> rates = {});

} // namespace collectors
