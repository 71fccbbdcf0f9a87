#pragma once

#include "generator/fair_network.hpp"

#include <set>
#include <vector>

namespace generator {

/// How the peers of a rank follow when the rank is another one: at the same distance around the ring of all
/// ranks, or at the same exclusive or.
enum class Distance { rotation, exclusive_or };

int distance(Distance kind, int from, int to, int size);
int opposite(Distance kind, int distance, int size); ///< the way back
int at_distance(Distance kind, int from, int distance, int size);

/// What the ranks at one place of all blocks send to.
struct Hop {
    Distance kind = Distance::rotation;
    int place = 0; ///< in a block
    int distance = 0;

    auto operator<=>(const Hop&) const = default;
};

/// The ranks 0 to size - 1, which stand for the blocks behind them.
struct RankBlock {
    int size = 1;
    bool has_uplinks = false; ///< it is a leaf; else uplinks are thought away, see `uplinks_suffice`
};

/// Blocks of ranks that a topology has many of: first the ranks of a host, then, where uplinks are slower
/// than the hosts below them, those of a leaf. Ranks must be on hosts and leaves in order, equally many on
/// each. Empty when nothing repeats.
std::vector<RankBlock> equal_blocks(const Topology& topology);

/// The part of a topology that one block is on.
Topology topology_of_block(const Topology& topology, const RankBlock& block);

/// Uplinks are slower than the hosts below them together, and some traffic may need them.
bool are_uplinks_scarce(const Topology& topology);

/// Whether no up- or downlink of any leaf limits anything, because so few hosts send through it that their
/// own ports are the limit: of a ring along the leaves, one host sends and one receives.
bool uplinks_suffice(const Topology& topology, int block_size, const std::set<Hop>& hops);

} // namespace generator
