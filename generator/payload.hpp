#pragma once

#include "generator/plan.hpp"

#include <asio/ip/tcp.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace generator {

/// What the bytes on the wire are. One object per rank; the engine calls it in the data path.
class Payload {
public:
    virtual ~Payload() = default;

    /// Called at the start of an iteration, before its first bucket: lays out what each bucket holds on this
    /// rank.
    virtual void prepare(std::uint32_t iteration, std::span<const std::uint64_t> bucket_bytes) = 0;

    /// Up to `most` bytes to send of `operation`, of which `done` are gone already.
    virtual std::span<const std::byte> outgoing(std::size_t bucket, const Operation& operation,
                                                std::uint64_t done, std::uint64_t most) = 0;

    /// Receives up to `most` bytes of `operation`, of which `done` are here already, without waiting. Returns
    /// the number of bytes, 0 at the end of the stream; -1 with errno for an error.
    virtual std::ptrdiff_t receive(int descriptor, std::size_t bucket, const Operation& operation,
                                   std::uint64_t done, std::uint64_t most) = 0;

    /// Called when an iteration is over. Throws std::runtime_error when its results are wrong.
    virtual void check(std::uint32_t iteration) = 0;
};

/// Nobody looks at the bytes: sent from one buffer that stays in the cache, discarded in the kernel
/// (MSG_TRUNC).
std::unique_ptr<Payload> discarded_payload();

/// Real float32 sums (--verify). Rank r's element i holds a small whole number that depends on r, i and the
/// iteration, so that sums are exact in any order; every element of every bucket is checked after each
/// iteration.
std::unique_ptr<Payload> verified_payload(int rank, int world_size,
                                          std::span<const Collective> first_iteration,
                                          std::span<const Collective> later_iterations);

} // namespace generator
