#pragma once

#include "collectors/trace.hpp"
#include "generator/run_record.hpp"
#include "generator/switch_sampling.hpp"
#include "generator/timeline.hpp"
#include "generator/workload.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace generator {

/// Bytes that each bin of `bin` length saw, from `from_ns` (CLOCK_MONOTONIC) on; between two readings the
/// counter is taken to rise evenly. What came between readings more than two bins apart is in no bin.
std::vector<double> bin_bytes(const collectors::Trace& trace, collectors::Direction direction,
                              std::int64_t from_ns, std::int64_t to_ns, nanoseconds bin);

/// How many of the senders were active in each bin: a sender is active when it moves at least `least_bytes`
/// in the bin and in both bins beside it. That leaves out the first and the last bin of a burst, in which one
/// sender may follow another without meeting it.
std::vector<int> active_senders(const std::vector<std::vector<double>>& senders, double least_bytes);

/// Adds to each host those that send to it by the plans of a job.
void add_senders(std::map<std::string, std::set<std::string>>& senders, const RunRecord& record,
                 const Workload& workload);

/// Every port of the switch over the measured iterations: what left through it, its queue, and how many
/// of its senders were active at the same time. Ports of hosts without ranks are left out. The timelines are
/// on the clock of the host on which the switch was sampled, that of the launch's rank 0.
std::vector<SwitchPortResult> switch_results(const std::vector<SwitchPortTrace>& traces,
                                             const std::filesystem::path& run_directory,
                                             const std::vector<Timeline>& timelines,
                                             const std::map<std::string, std::set<std::string>>& senders_to,
                                             const RunRecord& record);

/// A table for people.
std::string switch_text(const std::vector<SwitchPortResult>& ports);

inline constexpr const char* active_senders_method =
    "rx counters of the ports of all hosts that send to this port's host by the plan, in bins of 1 ms; a "
    "sender is active when it moves at least 5 % of the line rate in a bin and in both bins beside it; p50 "
    "over "
    "the bins in which at least one is active; bins in a gap of the sampling are left out";

} // namespace generator
