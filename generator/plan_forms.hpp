#pragma once

#include "generator/plan.hpp"

#include <cstdint>
#include <vector>

/// One function per form of a collective: the plan of `position` in a group of `size`. S stands for `bytes`,
/// N for `size`. Transfers of nothing are left out; one rank alone does nothing.
namespace generator {

/// N-1 reduce-scatter steps, then N-1 all-gather steps; in each a rank sends one chunk (1/N of the buffer) to
/// its right neighbour and receives one from its left. Every rank sends 2(N-1)/N S (Patarasuk and Yuan 2009).
RankPlan ring_all_reduce(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes = 1);

/// The halves of it, N-1 steps and (N-1)/N S each: position r ends with, or begins with, chunk r.
RankPlan ring_reduce_scatter(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);
RankPlan ring_all_gather(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);

/// From position 0 along the ring: each rank hands on what it receives; the last one only receives.
RankPlan ring_broadcast(int position, int size, std::uint64_t bytes);

/// All-reduce over a central server, which is a worker too. The others push the buffer, it adds and sends the
/// sum back: the server sends and receives (N-1) S, every other rank S. Workers are served in ring order from
/// the server's right neighbour on.
///   sequenced  one worker after another: a worker pushes when a signal says that the push before has been
///              added, and the next sum leaves when the worker before has signalled that it has its own.
///              Without signals the pushes would mix, because sockets take bytes before the server reads.
///   incast     all push at once, and all get the sum segment by segment behind the adds.
RankPlan server_all_reduce(int position, int size, std::uint64_t bytes, Service service, int server);

/// The second half of it, with position 0 as the server.
RankPlan server_broadcast(int position, int size, std::uint64_t bytes, Service service);

/// Every rank is the server of 1/N of the buffer: all push chunk j to rank j, which adds and sends the sum
/// back. 2 steps, 2(N-1)/N S, N-1 senders at each NIC at once. Rank r begins with r+1, then r+2, ..., so that
/// not all begin with the same receiver. A sum waits for N-1 pushes, so that a rank's plan holds (N-1)^2
/// indices.
RankPlan sharded_all_reduce(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);

/// The halves of it, 1 step and (N-1)/N S each: position r ends with, or begins with, chunk r.
RankPlan sharded_reduce_scatter(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);
RankPlan sharded_all_gather(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);

/// Recursive halving, then doubling, for any N by binary blocks (Rabenseifner 2004; Gloo's
/// allreduce_halving_doubling): N is split into blocks of powers of two, largest first. In a block of B
/// ranks, step k = 1 .. log2 B exchanges halves, S/2^k, with the partner at distance 2^(k-1); then each holds
/// the block's sum of a piece of S/B. The smallest block hands its pieces to the next larger one, which adds
/// them, and so on; sums come back the same way, and the blocks double. 2 floor(log2 N) dependent steps. Sent
/// = received = 2 (B-1)/B S + (S/B if there is a larger block) + (S/B if there is a smaller one); with the
/// parts P_1 .. P_log2(B) that the rank keeps in its halving steps, P the last of them, exactly S - P + sum
/// of P_k + (P for each neighbouring block). All ranks together: 2(N-1) S.
RankPlan halving_doubling_all_reduce(int position, int size, std::uint64_t bytes,
                                     std::uint64_t element_bytes);

/// The halves of it for chunks of the ranks' own, directly for any N: the group is split in two (the first
/// half is larger by one if N is odd), each rank exchanges what belongs to the other half with a partner
/// there, and so on in the halves. At most ceil(log2 N) dependent steps. A rank of the reduce-scatter sends S
/// less its chunk, (N-1)/N S; it receives as much if N is a power of two, otherwise some receive from two
/// partners in a step and some from none. The all-gather is the same with the directions turned around.
/// Position r ends with, or begins with, chunk r.
RankPlan halving_reduce_scatter(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);
RankPlan doubling_all_gather(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);

/// Two binary trees, each for half of the buffer, built so that no rank is an inner node of both (Sanders,
/// Speck and Traeff 2009; NCCL). Sums go up and come down segment by segment. 2 floor(log2 N) dependent
/// steps. Sent = received = (neighbours in the first tree) x S_1 + (neighbours in the second) x S_2, at most
/// 2 S; all ranks together 2(N-1) S.
RankPlan tree_all_reduce(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);

/// Position 0 sends half of the buffer to the root of each of two such trees over the other ranks.
/// 1 + floor(log2 (N-1)) steps; position 0 sends S, the others (children in each tree) x S/2.
RankPlan tree_broadcast(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);

/// M hosts of G ranks each; `hosts` has a number for each position's host, empty: each on its own. Ring
/// reduce-scatter on the host, ring all-reduce of the chunk across hosts among ranks of equal index, ring
/// all-gather on the host. 2(G-1) + 2(M-1) steps; a rank sends 2(G-1)/G S on its host and 2(M-1)/M S/G to
/// other hosts, so that a host's NIC sends 2(M-1)/M S. `hosts` as `check_call` wants them.
RankPlan hierarchical_all_reduce(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes,
                                 const std::vector<int>& hosts);

/// Partition j of the buffer goes to rank j, pairwise: in step k = 1 .. N-1 rank r sends to r+k and receives
/// from r-k, when the step before is complete. (N-1)/N S sent. The receive area lies behind the buffer:
/// what rank i sends is placed at S + i x (bytes of partition r); the rank's own place is not written.
RankPlan pairwise_all_to_all(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes);

/// From position 0 to position 1.
RankPlan send_plan(int position, std::uint64_t bytes);

} // namespace generator
