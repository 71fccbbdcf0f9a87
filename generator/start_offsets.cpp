#include "generator/start_offsets.hpp"

#include "collectors/summary.hpp"
#include "collectors/units.hpp"
#include "generator/failure.hpp"
#include "generator/predicted_results.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace generator {
namespace {

constexpr nanoseconds latest_start = std::chrono::hours(24);

/// Of an iteration after the first, which may send other buckets.
nanoseconds predicted_period(const Agreement& job, const std::string& asked_by) {
    constexpr std::uint32_t iterations = 4;
    const auto prediction = predicted_alone(job.record, job.workload, iterations);
    if (!prediction || prediction->iteration_times.empty())
        throw UserError(
            fmt::format("job {}: /start/period: required: how long an iteration of job {} takes cannot be "
                        "predicted, because its line rate is not known",
                        asked_by, job.record.job));
    return prediction->iteration_times.back();
}

} // namespace

std::vector<nanoseconds> start_offsets(const std::vector<Agreement>& jobs) {
    std::vector<nanoseconds> offsets;
    for (const Agreement& job : jobs) {
        if (!job.start.phase) {
            offsets.push_back(job.start.offset);
            continue;
        }
        const auto other = static_cast<std::size_t>(
            std::find_if(jobs.begin(), jobs.end(),
                         [&](const Agreement& each) { return each.record.job == job.start.of; }) -
            jobs.begin()); // an earlier one
        const nanoseconds period =
            job.start.period ? *job.start.period : predicted_period(jobs[other], job.record.job);
        const double later = *job.start.phase * collectors::in_seconds(period);
        if (later > collectors::in_seconds(latest_start))
            throw UserError(
                fmt::format("job {}: /start/phase: {:g} iterations of job {}, {} each, are {:.3g} s; a "
                            "job starts at most {} after another",
                            job.record.job, *job.start.phase, job.start.of,
                            collectors::format_duration(period), later, "24 h"));
        offsets.push_back(offsets[other] + nanoseconds(std::llround(1e9 * later)));
    }
    return offsets;
}

} // namespace generator
