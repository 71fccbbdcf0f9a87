#pragma once

#include "generator/index_list.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// Collectives as data. The same plan is executed on sockets, proven in memory by tests, counted by the dry
/// run and fed to the fluid model; nothing that a collective does lives outside its plan.
namespace generator {

/// A part of the bucket that a collective works on.
struct ByteRange {
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;

    bool operator==(const ByteRange&) const = default;
};

/// One transfer of one rank. On each lane, the k-th send from rank a to rank b meets the k-th receive at b
/// from a; both have the same size. Transfers between the same two ranks on the same lane in the same
/// direction happen in plan order.
struct Operation {
    /// A signal is a message without data: other operations come after it. It crosses the network like any
    /// other bytes; its range has a size, but no place in the bucket.
    enum class Kind : std::uint8_t { send, receive_add, receive_copy, send_signal, receive_signal };

    Kind kind = Kind::send;
    int peer = 0;
    ByteRange range;
    std::uint32_t lane = 0; ///< which of the parallel connections to the peer: channel x sockets + socket
    /// Operations (indices into the rank's plan) that must be complete before the first byte of this one.
    IndexList after;
    /// Receives of the same range: this send may follow them segment by segment, but never overtake them.
    IndexList behind;

    bool is_send() const { return kind == Kind::send || kind == Kind::send_signal; }
    bool is_signal() const { return kind == Kind::send_signal || kind == Kind::receive_signal; }
    bool operator==(const Operation&) const = default;
};

/// What one rank does in one collective.
struct RankPlan {
    std::vector<Operation> operations;

    std::uint64_t sent_bytes() const;     ///< signals included
    std::uint64_t received_bytes() const; ///< signals included
    bool operator==(const RankPlan&) const = default;
};

enum class Collective { all_reduce, reduce_scatter, all_gather, broadcast, all_to_all, send };
/// How a collective is done; `rank_plan` says which form each collective takes.
enum class Algorithm { ring, server, sharded_server, halving_doubling, double_binary_tree, hierarchical };
enum class Service { sequenced, incast }; ///< the server serves one worker after another, or all at once

/// A collective with everything that its plan depends on. Ranks are numbered within the group that takes part
/// (its members in order): a plan knows positions, `for_members` makes ranks of them.
struct CollectiveCall {
    Collective collective = Collective::all_reduce;
    std::uint64_t bytes = 0;         ///< of the whole buffer: what all-reduce sums, what all-gather ends with
    std::uint64_t element_bytes = 1; ///< sums are split between elements
    Algorithm algorithm = Algorithm::ring;
    Service service = Service::sequenced; ///< of the server
    int server = 0;                       ///< position of the central server
    std::uint32_t channels = 1;           ///< the bytes are split over so many parallel plans
    std::uint32_t sockets = 1;            ///< each transfer of a channel is striped over so many connections
    std::vector<int> hosts; ///< of each position (hierarchical); empty: each on a host of its own
};

std::string_view collective_name(Collective collective);

/// Part `index` of `bytes` cut into `parts` consecutive pieces that differ by at most one element; bytes
/// beyond the last whole element belong to the last part. Any 64-bit size, also fewer elements than parts
/// (then some are empty).
ByteRange partition(std::uint64_t bytes, std::uint64_t element_bytes, std::uint64_t parts,
                    std::uint64_t index);

/// Size of a signal: small, but a real message.
inline constexpr std::uint64_t signal_bytes = 8;

/// With several sockets a transfer is cut into pieces of at least this size (NCCL's socket transport).
inline constexpr std::uint64_t least_socket_piece_bytes = 64 * 1024;

/// The plan of `position` in a group of `size`. Forms (each is described in plan_forms.hpp):
///   all_reduce      every algorithm has its own
///   reduce_scatter, all_gather
///                   sharded_server: directly between all pairs; halving_doubling: recursive halving,
///                   doubling; the other algorithms: ring. Position r has chunk r = partition(bytes, ..,
///                   size, r)
///   broadcast       from position 0. server: one after another or all at once, by `service`;
///                   double_binary_tree: two trees; the other algorithms: along the ring
///   all_to_all      pairwise, whatever the algorithm
///   send            from position 0 to position 1, whatever the algorithm
/// Throws what `check_call` throws.
RankPlan rank_plan(const CollectiveCall& call, int position, int size);

/// Throws UserError when a group of `size` cannot do this: a server that is not in the group, a send in a
/// group of other than two, a hierarchical all-reduce on one host or on hosts with unequal numbers of ranks,
/// no channels or sockets.
void check_call(const CollectiveCall& call, int size);

/// Memory that the operations of `position` reach into: the buffer, and for all_to_all the receive area
/// behind it.
std::uint64_t buffer_bytes(const CollectiveCall& call, int position, int size);

/// A plan of positions 0, 1, ... as the plan of the ranks `members`.
RankPlan for_members(RankPlan plan, const std::vector<int>& members);

/// Bytes per hand-over: a receive of `range_bytes` releases the sends behind it in segments of this size. At
/// most `segment_bytes`, and small enough that the range has four segments (but not below 16 KiB): without
/// that a ring of few, short chunks would wait one network latency at every step. A multiple of 64 bytes: a
/// segment that ended inside an element would hand on half a sum.
std::uint64_t segment_size(std::uint64_t range_bytes, std::uint64_t segment_bytes);

} // namespace generator
