#pragma once

#include "collectors/trace.hpp"
#include "generator/fluid_model.hpp"
#include "generator/profile.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace generator {

/// The network as the fluid model sees it: hosts whose NICs are full duplex, on one ideal switch or on leaf
/// switches below a spine (see Topology).
struct LinkModel {
    BitRate line_rate;
    double goodput_share = 1; ///< payload bytes per byte on the wire, see goodput_share()
    nanoseconds step_latency =
        std::chrono::microseconds(30); ///< from a last byte until what depends on it goes
    bool pipelining = true;            ///< false: a chunk is handed on as a whole, as in the analytic model
    /// The host of each rank, numbered from 0; ranks on one host share its NIC. Empty: each has its own.
    std::vector<int> hosts;
    int hosts_per_leaf = 0;      ///< 0: one switch for all
    double oversubscription = 1; ///< of the leaves' uplinks

    double payload_bytes_per_second() const { return line_rate.bytes_per_second() * goodput_share; }
};

/// Payload per byte on the wire in full TCP segments: (mtu - 52) / (mtu + overhead). 52: IPv4 header 20, TCP
/// header 20, timestamps 12. Overhead of a frame: 38 on Ethernet (header 14, FCS 4, preamble 8, gap 12); a
/// tbf shaper charges 14. Throws std::invalid_argument when the MTU leaves no room for payload.
double goodput_share(std::uint64_t mtu, std::uint64_t frame_overhead_bytes = 38);

struct Prediction {
    int world_size = 1;
    std::uint32_t warmup = 0; ///< first iterations that statistics leave out
    std::vector<nanoseconds>
        iteration_times;           ///< of the slowest rank, from the start of the first iteration on
    nanoseconds iteration_mean{0}; ///< without warm-up
    /// Start and end of each iteration on each rank, in seconds from the start of the run.
    std::vector<std::vector<IterationTimes>> iterations;
    std::vector<ConnectionFlow> connections; ///< payload
    /// Ranks 0 to executed_ranks - 1 were executed, and `connections` are theirs. Every other rank did what
    /// the rank did that has its number mod executed_ranks, see `fold_plan`.
    int executed_ranks = 1;
    std::set<BucketKind> left_out; ///< not executed, see `predict`
};

/// Which ranks the fluid model executes: every one, one (or a block) for all where they are alike, or
/// whatever suits their number.
enum class Execution { by_size, every_rank, one_for_all };

/// Executes the plans of all ranks in the fluid model. Without jitter an iteration repeats the one before
/// once all ranks start as they did then; it is computed once and copied, and at most `warm-up + 20`
/// iterations are predicted: more would change nothing. With jitter every iteration is computed, up to 1000.
///
/// Where blocks of ranks do the same (all compute alike, the ranks of a host or of a leaf are an
/// `equal_block` of the network and every bucket has a `fold_plan`), one block is executed for all, the
/// smallest that the plans allow: thousands of ranks then cost no more than one, or those of one host or
/// leaf. By size, that is done above 32 ranks; up to there every rank is executed, which is exact to the
/// byte. Where it would take more than a million transfers in an iteration to execute every rank, buckets
/// that hinder it (broadcasts of buffers) are left out if they are at most 1 % of the bytes; else UserError.
///
/// Limits: no loss, no slow start, no CPU time; the sender's and receiver's buffers hold nothing (a transfer
/// moves when both ranks have begun its bucket). Compared with the analytic model that spreads latency evenly
/// over a burst (tests/data/ptm_table_ring.csv), steps pause here as they do on a wire, so that windows of
/// about one step hold up to C tau instead of a burst's mean rate; see prediction_table_test.cpp: at 1 ms up
/// to 3 %, from 5 ms on less than 1 %.
Prediction predict(const Profile& profile, const Workload& workload, int world_size, const LinkModel& link,
                   std::uint32_t iterations, Execution execution = Execution::by_size);

/// What the NIC that `ranks` share carries, as the collector would record it: payload bytes at the corners of
/// the piecewise linear A(t), from the first of the ranks' starts of iteration `warmup` to the last end of
/// the last iteration. t_ns counts from there. Transfers between two of the ranks do not cross the NIC;
/// `loopback` counts them all the same.
collectors::Trace predicted_trace(const Prediction& prediction, std::span<const int> ranks,
                                  bool loopback = false);

} // namespace generator
