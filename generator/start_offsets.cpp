#include "generator/start_offsets.hpp"

#include "generator/predicted_results.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace generator {
namespace {

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
        offsets.push_back(offsets[other] +
                          nanoseconds(std::llround(*job.start.phase * static_cast<double>(period.count()))));
    }
    return offsets;
}

} // namespace generator
