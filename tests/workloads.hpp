#pragma once

#include "generator/schedule.hpp"
#include "generator/workload.hpp"

#include <chrono>
#include <cstdint>
#include <numeric>
#include <span>

/// Workloads that tests put together, and schedules of them.
namespace tests {

inline constexpr std::uint64_t megabyte = 1'000'000;

inline std::uint64_t sum(std::span<const std::uint64_t> values) {
    return std::accumulate(values.begin(), values.end(), std::uint64_t{0});
}

inline generator::WorkloadBucket bucket(generator::Collective collective, std::uint64_t bytes,
                                        std::chrono::nanoseconds ready, std::chrono::nanoseconds needed,
                                        std::uint32_t group = 0) {
    return {{.group = group, .collective = collective, .bytes = bytes}, 0, ready, needed};
}

inline generator::IterationSchedule schedule_of(const generator::Profile& profile, int rank = 0,
                                                std::uint32_t iteration = 0) {
    return generator::iteration_schedule(profile, generator::make_workload(profile, 1), rank, iteration);
}

} // namespace tests
