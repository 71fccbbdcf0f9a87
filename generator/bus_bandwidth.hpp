#pragma once

#include "generator/plan.hpp"

#include <string_view>

namespace generator {

/// Bus bandwidth per algorithm bandwidth of a collective among `members` ranks, whatever its algorithm, as
/// nccl-tests defines it (doc/PERFORMANCE.md): what each rank has to send, at least, per byte of the buffer.
constexpr double bus_factor(Collective collective, int members) {
    const double ranks = members;
    switch (collective) {
    case Collective::all_reduce:
        return 2 * (ranks - 1) / ranks;
    case Collective::reduce_scatter:
    case Collective::all_gather:
    case Collective::all_to_all:
        return (ranks - 1) / ranks;
    case Collective::broadcast:
    case Collective::send:
        break;
    }
    return 1;
}

} // namespace generator
