#include "collectors/trace.hpp"

#include "collectors/segments.hpp"

namespace collectors {

std::vector<Reading> readings(const Trace& trace, Direction direction, std::chrono::nanoseconds from,
                              std::chrono::nanoseconds to) {
    std::vector<Reading> result;
    result.reserve(trace.samples.size());
    for (const Sample& sample : trace.samples) {
        Reading reading = reading_of(sample, direction);
        if (reading.begin_ns < from.count() || reading.end_ns > to.count())
            continue;
        reading.new_segment =
            reading.new_segment || (!result.empty() && starts_segment(reading, result.back()));
        result.push_back(reading);
    }
    return result;
}

} // namespace collectors
