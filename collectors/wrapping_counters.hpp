#pragma once

#include "collectors/counter_source.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace collectors {

/// One counter of 32 bits that begins again at 0 after its end, as one that does not. What fell is taken for
/// a wrap only if nothing speaks against it: the step is less than half of the counter's range, and no more
/// than the link can carry in the time. Anything else is a counter that was reset, and starts a segment.
class WrappingCounter {
public:
    /// A count is `unit_bytes`; the link carries at most `bytes_per_second`.
    WrappingCounter(std::uint64_t unit_bytes, double bytes_per_second)
        : unit_bytes_(unit_bytes), bytes_per_second_(bytes_per_second) {}

    struct Value {
        std::uint64_t bytes = 0;
        bool anew = false; ///< it was reset: no difference may be taken to what came before
    };
    /// `bytes` as read between `begin_ns` and `end_ns`.
    Value add(std::uint64_t bytes, std::int64_t begin_ns, std::int64_t end_ns) noexcept;
    /// No difference to what came before means anything.
    void forget() noexcept { previous_.reset(); }

private:
    struct Previous {
        std::uint64_t bytes;
        std::int64_t begin_ns;
    };

    std::uint64_t unit_bytes_;
    double bytes_per_second_;
    std::uint64_t wrapped_bytes_ = 0; ///< in all rounds so far
    std::optional<Previous> previous_;
};

/// A source whose counters somebody declared to have 32 bits: old drivers, RDMA ports without extended
/// counters. Nothing else tells, and of a counter of 64 bits a fall must never be taken for a wrap.
class WrappingCounters : public CounterSource {
public:
    WrappingCounters(std::unique_ptr<CounterSource> source, std::uint64_t unit_bytes, double bytes_per_second)
        : source_(std::move(source)), rx_(unit_bytes, bytes_per_second), tx_(unit_bytes, bytes_per_second) {}

    Counters read() noexcept override;
    std::string name() const override { return source_->name(); }
    std::string interface_name() const override { return source_->interface_name(); }

private:
    std::unique_ptr<CounterSource> source_;
    WrappingCounter rx_;
    WrappingCounter tx_;
};

} // namespace collectors
