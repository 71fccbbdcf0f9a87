#include "collectors/trace.hpp"

namespace collectors {

std::vector<Reading> readings(const Trace& trace, Direction direction, std::chrono::nanoseconds from,
                              std::chrono::nanoseconds to) {
    std::vector<Reading> result;
    result.reserve(trace.samples.size());
    for (const Sample& sample : trace.samples) {
        Reading reading = reading_of(sample, direction);
        if (reading.begin_ns < from.count() || reading.end_ns > to.count())
            continue;
        const bool fell = !result.empty() && reading.bytes < result.back().bytes;
        reading.new_segment = reading.new_segment || fell;
        result.push_back(reading);
    }
    return result;
}

} // namespace collectors
