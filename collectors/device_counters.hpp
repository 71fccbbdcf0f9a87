#pragma once

#include "collectors/counter_source.hpp"

#include <cstdint>

namespace collectors {

/// The counters of a device that may go and come back. Each counter is read on its own, within a window of
/// its own. After a read that failed, the device is looked for at most every 100 ms; the first good read
/// after that says `reopened`.
class DeviceCounters : public CounterSource {
public:
    Counters read() noexcept final;

protected:
    /// Finds the device and opens what is needed; also after it was lost. 0, or an errno.
    virtual int open() noexcept = 0;
    /// 0 and the value, or an errno.
    virtual int read_rx(std::uint64_t& bytes) noexcept = 0;
    virtual int read_tx(std::uint64_t& bytes) noexcept = 0;

private:
    bool lost_ = false;
    std::int64_t next_attempt_ns_ = 0;
};

} // namespace collectors
