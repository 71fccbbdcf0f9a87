#include "generator/nic_sampling.hpp"

#include "collectors/interfaces.hpp"
#include "collectors/queue_statistics.hpp"
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
        traces_.push_back({own.host, name, fmt::format("nic/{}.{}.csv", own.host, name)});
        collectors::TraceInfo info;
        info.host = own.host;
        info.interface = name;
        info.driver = device.driver;
        info.byte_unit = collectors::byte_unit(device);
        info.side = collectors::counter_side(name);
        collectors::ChosenSource chosen = collectors::choose_source(name);
        info.source_reason = chosen.reason;
        sources.push_back({std::move(chosen.source), run_directory / traces_.back().file, std::move(info)});
    }
    collectors::SamplerOptions options;
    options.interval = interval;
    options.overwrite = overwrite;
    sampler_ = std::make_unique<collectors::Sampler>(std::move(sources), options);
}

std::vector<NicTrace> NicSampling::stop(const std::string& reason, std::vector<std::string>& errors) {
    if (!sampler_)
        return {};
    const collectors::SamplerReport report = sampler_->stop(reason);
    for (std::size_t i = 0; i < traces_.size(); ++i) {
        traces_[i].cpu_share = report.cpu_share_of_one();
        if (!report.sources[i].error.empty())
            errors.push_back(report.sources[i].error);
    }
    sampler_.reset();
    return std::move(traces_);
}

} // namespace generator
