#pragma once

#include "generator/prediction.hpp"

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

/// What a workload sends, counted in the plans of its ranks.
namespace tools {

using std::chrono::nanoseconds;

/// A bucket as the first or a later iteration sends it.
struct BucketRow {
    generator::Collective collective = generator::Collective::all_reduce;
    std::uint64_t bytes = 0;
    std::size_t tensors = 0;
    nanoseconds ready_after{0};
    std::string group;
};

/// All collectives of one kind in one group.
struct CollectiveRow {
    generator::Collective collective = generator::Collective::all_reduce;
    std::string group;
    std::uint64_t count = 0;
    std::uint64_t bytes = 0; ///< of their buffers
};

/// Over all ranks.
struct Range {
    std::uint64_t least = 0;
    std::uint64_t most = 0;
};

struct IterationPlan {
    std::vector<BucketRow> buckets;
    std::vector<CollectiveRow> collectives;
    Range sent_bytes; ///< per rank
    Range transfers;  ///< that a rank sends
    std::uint64_t all_sent_bytes = 0;
};

/// Exactly those that a run opens.
struct ConnectionCount {
    Range outgoing; ///< of a rank
    Range incoming; ///< of a rank
    std::uint64_t all = 0;
};

struct Traffic {
    IterationPlan first;
    IterationPlan later;
    ConnectionCount connections;
    int counted_ranks = 0; ///< fewer than all only if there are more than 1024 and blocks are alike
};

/// `block_size`: all blocks of so many ranks do the same, so that of very many some stand for all.
Traffic count_traffic(const generator::Profile& profile, const generator::Workload& workload, int ranks,
                      int block_size);

} // namespace tools
