#include "collectors/trace.hpp"

namespace collectors {

std::vector<Reading> readings(const Trace& trace, Direction direction, std::chrono::nanoseconds from,
                              std::chrono::nanoseconds to) {
    std::vector<Reading> result;
    result.reserve(trace.samples.size());
    for (const Sample& sample : trace.samples) {
        const std::int64_t middle = sample.t_ns + sample.rx_width_ns;
        Reading reading;
        if (direction == Direction::rx)
            reading = {sample.t_ns, middle, sample.rx_bytes, false};
        else
            reading = {middle, middle + sample.tx_width_ns, sample.tx_bytes, false};
        if (reading.begin_ns < from.count() || reading.end_ns > to.count())
            continue;
        const bool fell = !result.empty() && reading.bytes < result.back().bytes;
        reading.new_segment = fell || (sample.flags & SampleFlag::new_segment) != 0;
        result.push_back(reading);
    }
    return result;
}

} // namespace collectors
