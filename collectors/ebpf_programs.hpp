#pragma once

#include "collectors/file_descriptor.hpp"
#include "collectors/trace.hpp"

#include <cstddef>
#include <cstdint>

namespace collectors {

/// Two programs in the kernel, for tc, that add the length of each packet (skb->len) to a counter, one for
/// each direction, and the counters: an array map that is part of this process' memory, so that to read one
/// is to load a word. The programs count once something attaches them, and are gone with this object.
class EbpfPrograms {
public:
    /// `uncounted_bytes` of each packet are left out. Throws std::system_error; EPERM without the right to
    /// load programs.
    explicit EbpfPrograms(std::int32_t uncounted_bytes);
    ~EbpfPrograms();
    EbpfPrograms(const EbpfPrograms&) = delete;
    EbpfPrograms& operator=(const EbpfPrograms&) = delete;

    /// The descriptor of a program, to attach it.
    int program(Direction direction) const noexcept {
        return (direction == Direction::rx ? rx_ : tx_).number();
    }
    std::uint64_t bytes(Direction direction) const noexcept {
        const Counter& counter = direction == Direction::rx ? counters_->rx : counters_->tx;
        return __atomic_load_n(&counter.bytes, __ATOMIC_RELAXED);
    }

private:
    /// Receiving and sending CPUs do not wait for each other's cache line.
    struct alignas(64) Counter {
        std::uint64_t bytes;
    };
    struct Counters {
        Counter rx;
        Counter tx;
    };

    FileDescriptor load(const char* name, std::size_t counter, std::int32_t uncounted_bytes) const;

    FileDescriptor map_;
    FileDescriptor rx_;
    FileDescriptor tx_;
    const Counters* counters_ = nullptr; ///< written by the kernel's programs
};

} // namespace collectors
