#pragma once

#include "collectors/commands.hpp"
#include "collectors/interfaces.hpp"
#include "collectors/lane.hpp"
#include "collectors/prometheus_server.hpp"
#include "collectors/sampler.hpp"

#include <filesystem>
#include <memory>
#include <vector>

/// What `record` needs before it can wait. All of it throws UsageError for what the user can put right.
namespace collectors {

/// What is recorded: an interface and its trace.
struct Target {
    NetworkInterface interface;
    std::filesystem::path trace_path;
};

/// The interfaces that were asked for; says on standard error what is odd about them.
std::vector<Target> targets_of(const RecordSettings& settings);

/// Checked before anything is created.
SamplerOptions options_of(const RecordSettings& settings);

/// One interface after the other, in the order of the targets; nullptr if nobody wants it.
std::unique_ptr<PrometheusServer> start_server(const RecordSettings& settings,
                                               const std::vector<Target>& targets);

/// `server` may be nullptr.
std::unique_ptr<Sampler> start_sampler(const RecordSettings& settings, const std::vector<Target>& targets,
                                       const PrometheusServer* server);

/// nullptr if nobody wants it.
std::unique_ptr<Lane> start_queues(const RecordSettings& settings, const std::vector<Target>& targets);

/// nullptr if nobody wants it. Where an interface is no network interface, there is nothing to explain it.
std::unique_ptr<Lane> start_slow(const RecordSettings& settings, const std::vector<Target>& targets);

} // namespace collectors
