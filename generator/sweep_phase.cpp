#include "generator/sweep_phase.hpp"

#include <algorithm>
#include <cmath>

namespace generator {
namespace {

using std::chrono::nanoseconds;

/// As p50 everywhere: of an even number the lower of the two in the middle.
nanoseconds median(std::vector<nanoseconds> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// After the nearest start; negative: before it.
nanoseconds after_nearest(const std::vector<IterationSpan>& reference, nanoseconds start) {
    const auto later =
        std::lower_bound(reference.begin(), reference.end(), start,
                         [](const IterationSpan& each, nanoseconds time) { return each.start < time; });
    if (later == reference.begin())
        return start - later->start;
    const nanoseconds after = start - std::prev(later)->start;
    return later == reference.end() || after <= later->start - start ? after : start - later->start;
}

/// By a multiple of the period.
nanoseconds moved_near(nanoseconds offset, nanoseconds wanted, nanoseconds period) {
    const double periods =
        static_cast<double>((wanted - offset).count()) / static_cast<double>(period.count());
    return offset + std::llround(periods) * period;
}

} // namespace

std::vector<std::vector<IterationSpan>>
measured_together(const std::vector<std::vector<IterationSpan>>& jobs) {
    std::vector<std::vector<IterationSpan>> together(jobs.size());
    nanoseconds from = nanoseconds::min();
    nanoseconds to = nanoseconds::max();
    for (const std::vector<IterationSpan>& job : jobs) {
        if (job.empty())
            return together;
        from = std::max(from, job.front().start);
        to = std::min(to, job.back().start + job.back().length);
    }
    for (std::size_t i = 0; i < jobs.size(); ++i)
        std::copy_if(jobs[i].begin(), jobs[i].end(), std::back_inserter(together[i]),
                     [&](const IterationSpan& each) {
                         return each.measured && each.start >= from && each.start + each.length <= to;
                     });
    return together;
}

std::optional<HeldOffset> held_offset(const std::vector<IterationSpan>& reference,
                                      const std::vector<IterationSpan>& shifted, nanoseconds asked,
                                      nanoseconds period) {
    if (reference.empty() || shifted.empty())
        return std::nullopt;
    std::vector<nanoseconds> offsets;
    for (const IterationSpan& each : shifted)
        offsets.push_back(moved_near(after_nearest(reference, each.start),
                                     offsets.empty() ? asked : offsets.back(), period));
    return HeldOffset{median(offsets), offsets.front(), offsets.back(), offsets.size()};
}

bool is_held(const HeldOffset& held, nanoseconds asked, nanoseconds period) {
    const double most = most_offset_error * static_cast<double>(period.count());
    return std::abs(static_cast<double>(held.drift().count())) <= most &&
           std::abs(static_cast<double>((held.median - asked).count())) <= most;
}

std::optional<nanoseconds> median_length(const std::vector<IterationSpan>& iterations) {
    if (iterations.empty())
        return std::nullopt;
    std::vector<nanoseconds> lengths;
    for (const IterationSpan& each : iterations)
        lengths.push_back(each.length);
    return median(std::move(lengths));
}

} // namespace generator
