#pragma once

#include "generator/schedule.hpp"
#include "generator/workload.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace generator {

/// What the bytes on the wire are. One object per rank; the engine calls it in the data path. `bucket` is a
/// bucket's number in the workload's list; several buckets may be in flight at once.
class Payload {
public:
    virtual ~Payload() = default;

    /// Called at the start of an iteration, before its first bucket: lays out what each bucket holds on this
    /// rank.
    virtual void prepare(std::uint32_t iteration, const IterationSchedule& schedule) = 0;

    /// Up to `most` bytes to send of `operation`, of which `done` are gone already.
    virtual std::span<const std::byte> outgoing(std::uint32_t bucket, const Operation& operation,
                                                std::uint64_t done, std::uint64_t most) = 0;

    /// Receives up to `most` bytes of `operation`, of which `done` are here already, without waiting. Returns
    /// the number of bytes, 0 at the end of the stream; -1 with errno for an error.
    virtual std::ptrdiff_t receive(int descriptor, std::uint32_t bucket, const Operation& operation,
                                   std::uint64_t done, std::uint64_t most) = 0;

    /// Called when an iteration is over. Returns how many elements were checked; throws std::runtime_error
    /// when one is wrong.
    virtual std::uint64_t check(std::uint32_t iteration) = 0;
};

/// Nobody looks at the bytes: sent from one buffer that stays in the cache, discarded in the kernel
/// (MSG_TRUNC).
std::unique_ptr<Payload> discarded_payload();

/// Real float32 numbers (--verify). Each element of each bucket of each rank holds a small whole number that
/// depends on rank, bucket, element and iteration, so that sums are exact in any order; what was not yet
/// received holds -1. After each iteration every element that the bucket's collective promises to this rank
/// is checked: the sum (all_reduce; its own chunk of it for reduce_scatter), what the others held
/// (all_gather, all_to_all), or what the first of the group held (broadcast, send).
std::unique_ptr<Payload> verified_payload(int rank, int world_size, const Workload& workload);

/// Measured best on loopback and veth: large enough to hide the system call, small enough to stay in the L2
/// cache.
inline constexpr std::size_t hot_buffer_bytes = 256 * 1024;

/// Receives up to `most` bytes and drops them in the kernel, without waiting; returns as recv does.
std::ptrdiff_t discard_bytes(int descriptor, std::uint64_t most);

} // namespace generator
