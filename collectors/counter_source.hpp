#pragma once

#include "collectors/trace.hpp"

#include <cstdint>
#include <string>

namespace collectors {

/// Where byte counters come from. `read` is called in the sampling loop: it does not throw and does not
/// allocate.
class CounterSource {
public:
    struct Counters {
        std::uint64_t rx_bytes = 0;
        std::uint64_t tx_bytes = 0;
        std::int64_t begin_ns = 0;  ///< CLOCK_MONOTONIC before the rx read
        std::int64_t middle_ns = 0; ///< between both reads
        std::int64_t end_ns = 0;    ///< after the tx read
        int error = 0;              ///< errno of the read that failed; then the values mean nothing
        bool reopened = false; ///< the device came back since the last good read: its counters started anew
    };

    virtual ~CounterSource() = default;
    virtual Counters read() noexcept = 0;
    /// For the sidecar: "sysfs", ...
    virtual std::string name() const = 0;
    /// For the sidecar: what a byte is, and on which side of the queue it is counted, if that is not what the
    /// counters of the device do; empty if it is.
    virtual std::string byte_unit() const { return {}; }
    virtual std::string side() const { return {}; }
    /// The name that the interface has now; empty if that is not known. Called on another thread than `read`.
    virtual std::string interface_name() const { return {}; }
};

} // namespace collectors
