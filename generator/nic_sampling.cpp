#include "generator/nic_sampling.hpp"

#include "collectors/interfaces.hpp"
#include "collectors/queue_statistics.hpp"
#include "collectors/sysfs_counters.hpp"

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
    for (const std::string& name : used) {
        const collectors::NetworkInterface device = collectors::describe_interface(name);
        NicTrace trace{.host = own.host,
                       .interface = name,
                       .file = fmt::format("nic/{}.{}.csv", own.host, name),
                       .report = {}};
        collectors::TraceInfo info;
        info.host = own.host;
        info.interface = name;
        info.driver = device.driver;
        info.byte_unit = collectors::byte_unit(device);
        info.side = collectors::counter_side(name);
        collectors::SamplerOptions options;
        options.interval = interval;
        options.overwrite = overwrite;
        auto sampler =
            std::make_unique<collectors::Sampler>(std::make_unique<collectors::SysfsCounters>(name),
                                                  run_directory / trace.file, std::move(info), options);
        recordings_.push_back({std::move(trace), std::move(sampler)});
    }
}

std::vector<NicTrace> NicSampling::stop(const std::string& reason, std::vector<std::string>& errors) {
    std::vector<NicTrace> traces;
    for (Recording& recording : recordings_) {
        try {
            recording.trace.report = recording.sampler->stop(reason);
        } catch (const std::exception& error) {
            errors.push_back(error.what());
        }
        traces.push_back(std::move(recording.trace));
    }
    recordings_.clear();
    return traces;
}

} // namespace generator
