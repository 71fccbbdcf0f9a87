#include "collectors/wrapping_counters.hpp"

namespace collectors {

namespace {

constexpr std::uint64_t counts_per_round = std::uint64_t{1} << 32;
constexpr double slack_bytes = 1 << 20; // a batch of packets that is counted at once

} // namespace

WrappingCounter::Value WrappingCounter::add(std::uint64_t bytes, std::int64_t begin_ns,
                                            std::int64_t end_ns) noexcept {
    const std::uint64_t round = counts_per_round * unit_bytes_;
    Value value;
    if (previous_ && bytes < previous_->bytes) {
        const std::uint64_t step = round - previous_->bytes + bytes;
        const double possible =
            bytes_per_second_ * static_cast<double>(end_ns - previous_->begin_ns) / 1e9 + slack_bytes;
        const bool wrapped =
            previous_->bytes < round && step < round / 2 && static_cast<double>(step) <= possible;
        value.anew = !wrapped;
        wrapped_bytes_ += wrapped ? round : 0;
    }
    value.bytes = wrapped_bytes_ + bytes;
    previous_ = Previous{bytes, begin_ns};
    return value;
}

CounterSource::Counters WrappingCounters::read() noexcept {
    Counters counters = source_->read();
    if (counters.error != 0)
        return counters;
    if (counters.reopened) {
        rx_.forget();
        tx_.forget();
    }
    const WrappingCounter::Value rx = rx_.add(counters.rx_bytes, counters.begin_ns, counters.middle_ns);
    const WrappingCounter::Value tx = tx_.add(counters.tx_bytes, counters.middle_ns, counters.end_ns);
    counters.rx_bytes = rx.bytes;
    counters.tx_bytes = tx.bytes;
    counters.reopened = counters.reopened || rx.anew || tx.anew;
    return counters;
}

} // namespace collectors
