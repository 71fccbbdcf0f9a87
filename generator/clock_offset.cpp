#include "generator/clock_offset.hpp"

#include <algorithm>
#include <cmath>

namespace generator {

using std::chrono::nanoseconds;

std::optional<ClockOffset> clock_offset(std::span<const ClockRoundTrip> round_trips) {
    const auto took = [](const ClockRoundTrip& trip) { return trip.received_ns - trip.sent_ns; };
    const auto quickest = std::min_element(
        round_trips.begin(), round_trips.end(),
        [&](const ClockRoundTrip& left, const ClockRoundTrip& right) { return took(left) < took(right); });
    if (quickest == round_trips.end())
        return std::nullopt;
    const std::int64_t middle_ns = quickest->sent_ns + took(*quickest) / 2;
    return ClockOffset{quickest->remote_ns, nanoseconds(middle_ns - quickest->remote_ns),
                       nanoseconds((took(*quickest) + 1) / 2)};
}

std::string_view method_text(ClockMethod method) {
    switch (method) {
    case ClockMethod::data_network:
        return "quickest of many round trips over the data network, known to half of its time";
    case ClockMethod::mpi_network:
        return "quickest of many round trips over MPI's network, known to half of its time";
    case ClockMethod::same_host:
        break;
    }
    return "rank 0's host: 0 by construction";
}

nanoseconds ClockAlignment::offset_at(std::int64_t host_ns) const {
    if (!start || !end || start->at_ns >= end->at_ns)
        return start ? start->offset : end ? end->offset : nanoseconds(0);
    const double share =
        static_cast<double>(host_ns - start->at_ns) / static_cast<double>(end->at_ns - start->at_ns);
    const auto rise = static_cast<double>((end->offset - start->offset).count());
    return start->offset + nanoseconds(std::llround(share * rise));
}

std::optional<ClockDrift> ClockAlignment::drift() const {
    if (method == ClockMethod::same_host)
        return ClockDrift{};
    if (!start || !end || start->at_ns >= end->at_ns)
        return std::nullopt;
    const double per_million = 1e6 / static_cast<double>(end->at_ns - start->at_ns);
    return ClockDrift{per_million * static_cast<double>((end->offset - start->offset).count()),
                      per_million * static_cast<double>((end->error + start->error).count())};
}

Timeline aligned(Timeline timeline, const ClockAlignment& clock, std::int64_t origin_ns) {
    const std::int64_t start_ns = timeline.start_monotonic_ns;
    const auto align = [&](std::int64_t& time_ns) {
        time_ns += start_ns + clock.offset_at(start_ns + time_ns).count() - origin_ns;
    };
    for (BucketRecord& record : timeline.buckets)
        for (std::int64_t* time : {&record.due_ns, &record.start_ns, &record.end_ns})
            align(*time);
    for (IterationRecord& record : timeline.iterations)
        for (std::int64_t* time : {&record.start_ns, &record.end_ns})
            align(*time);
    timeline.start_monotonic_ns = origin_ns;
    return timeline;
}

} // namespace generator
