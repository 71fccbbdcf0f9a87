#include "generator/nic_sampling.hpp"

#include "collectors/interfaces.hpp"
#include "collectors/queue_statistics.hpp"
#include "collectors/slow_lane.hpp"
#include "collectors/source_choice.hpp"

#include <fmt/format.h>
#include <set>

namespace generator {

NicSampling::NicSampling(int rank, const std::vector<HostFacts>& ranks,
                         const std::vector<std::string>& interfaces,
                         const std::filesystem::path& run_directory, std::chrono::nanoseconds interval,
                         bool overwrite) {
    const HostAddresses& own = ranks.at(static_cast<std::size_t>(rank)).addresses;
    std::set<std::string> used;
    for (std::size_t other = 0; other < ranks.size(); ++other) {
        if (ranks[other].addresses.network != own.network)
            continue;
        if (other < static_cast<std::size_t>(rank))
            return; // a lower rank of this network namespace samples
        used.insert(interfaces[other]);
    }
    std::filesystem::create_directories(run_directory / "nic");
    std::vector<collectors::SamplerSource> sources;
    for (const std::string& name : used) {
        const collectors::NetworkInterface device = collectors::describe_interface(name);
        NicTrace trace;
        trace.host = own.host;
        trace.interface = name;
        trace.file = fmt::format("nic/{}.{}.csv", own.host, name);
        collectors::TraceInfo info;
        info.host = own.host;
        info.interface = name;
        info.driver = device.driver;
        info.time_keeping = collectors::time_keeping(name);
        info.byte_unit = collectors::byte_unit(device);
        info.side = collectors::counter_side(name);
        collectors::ChosenSource chosen = collectors::choose_source(name);
        info.source_reason = chosen.reason;
        sources.push_back({std::move(chosen.source), run_directory / trace.file, std::move(info)});
        recording_.traces.push_back(std::move(trace));
    }
    collectors::SamplerOptions options;
    options.interval = interval;
    options.overwrite = overwrite;
    sampler_ = std::make_unique<collectors::Sampler>(std::move(sources), options);
    start_slow_lane({used.begin(), used.end()}, run_directory, overwrite);
}

/// It only explains the traces: without it the run is worth no less.
void NicSampling::start_slow_lane(const std::vector<std::string>& names,
                                  const std::filesystem::path& run_directory, bool overwrite) {
    std::vector<std::filesystem::path> paths;
    for (const NicTrace& trace : recording_.traces)
        paths.push_back(run_directory / collectors::slow_path(trace.file));
    try {
        slow_lane_ = collectors::start_slow_lane(names, paths, overwrite);
        for (NicTrace& trace : recording_.traces)
            trace.slow_file = collectors::slow_path(trace.file);
    } catch (const std::exception& error) {
        recording_.warnings.push_back(
            fmt::format("NO DROPS, NO RETRANSMITS OF {}: {}", recording_.traces.front().host, error.what()));
    }
}

void NicSampling::stop_slow_lane() {
    if (!slow_lane_)
        return;
    const collectors::LaneReport report = slow_lane_->stop();
    for (std::size_t i = 0; i < recording_.traces.size(); ++i) {
        recording_.traces[i].cpu_share += report.cpu_share / static_cast<double>(recording_.traces.size());
        if (!report.files[i].error.empty())
            recording_.warnings.push_back(fmt::format("DROPS AND RETRANSMITS OF {} {} ARE INCOMPLETE: {}",
                                                      recording_.traces[i].host,
                                                      recording_.traces[i].interface, report.files[i].error));
    }
    slow_lane_.reset();
}

NicRecording NicSampling::stop(const std::string& reason) {
    if (!sampler_)
        return {};
    const collectors::SamplerReport report = sampler_->stop(reason);
    for (std::size_t i = 0; i < recording_.traces.size(); ++i) {
        recording_.traces[i].cpu_share = report.cpu_share_of_one();
        if (!report.sources[i].error.empty())
            recording_.errors.push_back(report.sources[i].error);
        if (const std::string loss = report.sources[i].loss(); !loss.empty())
            recording_.warnings.push_back(fmt::format(
                "LOST COUNTERS OF {} {}: {} of sampling; what passed since, and what was dropped, "
                "is not known",
                recording_.traces[i].host, recording_.traces[i].interface, loss));
    }
    sampler_.reset();
    stop_slow_lane();
    return std::move(recording_);
}

} // namespace generator
