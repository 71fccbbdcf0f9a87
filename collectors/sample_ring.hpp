#pragma once

#include "collectors/trace.hpp"

#include <atomic>
#include <bit>
#include <cstddef>
#include <span>
#include <vector>

namespace collectors {

/// Hands samples from the sampling thread to the writing thread: single producer, single consumer, no lock
/// and no allocation. The storage is written once at the start, so that no page is touched first while
/// sampling.
class SampleRing { // NOLINT(clang-analyzer-optin.performance.Padding)
public:
    /// Rounded up to a power of two.
    explicit SampleRing(std::size_t capacity) : samples_(std::bit_ceil(capacity)) {}

    /// False, and the sample is dropped, if the ring is full.
    bool push(const Sample& sample) noexcept {
        const std::size_t head = head_.load(std::memory_order_relaxed);
        if (head - tail_.load(std::memory_order_acquire) == samples_.size())
            return false;
        samples_[head & (samples_.size() - 1)] = sample;
        head_.store(head + 1, std::memory_order_release);
        return true;
    }

    /// Moves up to `out.size()` samples into `out`; returns how many.
    std::size_t pop(std::span<Sample> out) noexcept {
        const std::size_t tail = tail_.load(std::memory_order_relaxed);
        const std::size_t available = head_.load(std::memory_order_acquire) - tail;
        const std::size_t count = available < out.size() ? available : out.size();
        for (std::size_t i = 0; i < count; ++i)
            out[i] = samples_[(tail + i) & (samples_.size() - 1)];
        tail_.store(tail + count, std::memory_order_release);
        return count;
    }

private:
    std::vector<Sample> samples_;
    // Each on a cache line of its own: the threads do not slow each other down. The padding is meant.
    alignas(64) std::atomic<std::size_t> head_{0}; ///< samples pushed so far
    alignas(64) std::atomic<std::size_t> tail_{0}; ///< samples popped so far
};

} // namespace collectors
