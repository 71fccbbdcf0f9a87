#include "collectors/record_setup.hpp"

#include "collectors/ebpf_counters.hpp"
#include "collectors/interface_selection.hpp"
#include "collectors/printable.hpp"
#include "collectors/queue_lane.hpp"
#include "collectors/rdma_counters.hpp"
#include "collectors/route_socket.hpp"
#include "collectors/sampling_thread.hpp"
#include "collectors/slow_lane.hpp"
#include "collectors/wrapping_counters.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collectors {

namespace {

/// Above, sysfs takes less than a tenth of the interval.
constexpr std::chrono::microseconds ebpf_pays_up_to{50};

/// A wrong path is found before anything is recorded: the user's mistake, not a failure later on.
template <typename Start>
auto checking_paths(Start start) {
    try {
        return start();
    } catch (const std::system_error& error) {
        const char* hint = error.code() == std::errc::file_exists
                               ? "; choose another --out, or --overwrite to replace it"
                               : "; check --out";
        throw UsageError(error.what() + std::string(hint));
    }
}

/// All files of one recording of an interface that the user may have already.
std::vector<std::filesystem::path> files_of(const RecordSettings& settings, const Target& target) {
    std::vector<std::filesystem::path> files{target.trace_path, part_path(target.trace_path, 1)};
    if (settings.queue)
        files.push_back(queue_path(target.trace_path));
    if (settings.slow_lane && !is_rdma_port(target.interface.name))
        files.push_back(slow_path(target.trace_path));
    return files;
}

/// A sidecar is written aside and renamed: a file that may be written in a folder that may not is not enough.
void check_folder(const std::filesystem::path& trace_path) {
    const std::filesystem::path parent = trace_path.parent_path();
    const std::filesystem::path folder = parent.empty() ? "." : parent;
    if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) != 0)
        throw UsageError(
            fmt::format("write into folder {}: {}; check --out", folder.string(), std::strerror(errno)));
}

/// Before anything is created or replaced: an interface "eth0.slow" beside "eth0", files that are there.
void check_files(const RecordSettings& settings, const std::vector<Target>& targets) {
    std::set<std::filesystem::path> all;
    for (const Target& target : targets) {
        check_folder(target.trace_path);
        for (const std::filesystem::path& file : files_of(settings, target)) {
            if (!all.insert(file).second)
                throw UsageError(fmt::format("two of the files would be {}; record {} with another --out",
                                             file.string(), target.interface.name));
            if (std::filesystem::is_directory(file))
                throw UsageError(fmt::format("create {}: Is a directory; check --out", file.string()));
            if (!settings.overwrite && std::filesystem::exists(file))
                throw UsageError(
                    fmt::format("create {}: File exists; choose another --out, or --overwrite to replace it",
                                file.string()));
        }
    }
}

/// What was asked for is not left out.
void check_queues(const InterfaceSelection& selection) {
    std::vector<std::string> names;
    for (const NetworkInterface& interface : selection.interfaces) {
        if (is_rdma_port(interface.name))
            throw UsageError("--queue: " + interface.name +
                             " is an RDMA port, without a queue of the kernel");
        names.push_back(interface.name);
    }
    try {
        const QueueReader reader(names);
    } catch (const std::system_error& error) {
        throw UsageError(fmt::format("--queue: {}", error.what()));
    }
}

/// Where the speed of the link is not known, half a round of the counter decides alone.
std::unique_ptr<CounterSource> wrapping(std::unique_ptr<CounterSource> source,
                                        const NetworkInterface& interface) {
    constexpr double fastest_bits_per_second = 1.6e12;
    const double bits_per_second =
        interface.speed ? static_cast<double>(interface.speed->bits_per_second) : fastest_bits_per_second;
    return std::make_unique<WrappingCounters>(
        std::move(source), is_rdma_port(interface.name) ? rdma_word_bytes : 1, bits_per_second / 8);
}

} // namespace

std::vector<Target> targets_of(const RecordSettings& settings) {
    const InterfaceSelection selection = select_interfaces(settings.interfaces, settings.folders);
    std::vector<Target> targets;
    for (const NetworkInterface& interface : selection.interfaces)
        targets.push_back({interface, trace_path_of(settings.trace_path, interface.name, selection.single)});
    check_files(settings, targets);
    if (settings.queue)
        check_queues(selection);
    for (const NetworkInterface& interface : selection.interfaces)
        if (interface.state == "down")
            print_safely(stderr, "WARNING: {} IS DOWN: there will be no traffic to see\n", interface.name);
    for (const std::string& sentence : shared_traffic(selection.interfaces))
        print_safely(stderr, "WARNING: {}\n", sentence);
    return targets;
}

SamplerOptions options_of(const RecordSettings& settings) {
    SamplerOptions options;
    options.interval = settings.interval;
    options.overwrite = settings.overwrite;
    options.fifo = settings.fifo;
    options.cpu = settings.cpu;
    options.max_samples = settings.max_samples;
    options.rotate = settings.rotate;
    try {
        check_options(options);
    } catch (const std::invalid_argument& error) {
        throw UsageError(fmt::format("--interval: {}", error.what()));
    }
    const std::vector<int> allowed = allowed_cpus();
    if (options.cpu && std::find(allowed.begin(), allowed.end(), *options.cpu) == allowed.end())
        throw UsageError(fmt::format("--cpu: {} is none of the CPUs on which this process may run ({})",
                                     *options.cpu, fmt::join(allowed, ", ")));
    return options;
}

std::unique_ptr<PrometheusServer> start_server(const RecordSettings& settings,
                                               const std::vector<Target>& targets) {
    if (!settings.prometheus)
        return nullptr;
    std::vector<TraceInfo> infos;
    for (const Target& target : targets) {
        infos.emplace_back();
        infos.back().host = host_name();
        infos.back().interface = target.interface.name;
        infos.back().driver = target.interface.driver;
        infos.back().interval = settings.interval;
    }
    auto server = std::make_unique<PrometheusServer>(*settings.prometheus, infos);
    print_safely(stderr, "metrics at {}\n", server->url());
    return server;
}

std::unique_ptr<Sampler> start_sampler(const RecordSettings& settings, const std::vector<Target>& targets,
                                       const PrometheusServer* server) {
    std::vector<SamplerSource> sources;
    for (const Target& target : targets) {
        ChosenSource chosen =
            choose_source(target.interface.name, settings.source, settings.folders, open_ebpf_counters);
        TraceInfo info;
        info.host = host_name();
        info.interface = target.interface.name;
        info.byte_unit = chosen.source->byte_unit();
        if (info.byte_unit.empty())
            info.byte_unit = byte_unit(target.interface);
        info.driver = target.interface.driver;
        info.time_keeping = time_keeping(target.interface.name);
        info.side = chosen.source->side();
        if (info.side.empty() && !is_rdma_port(target.interface.name))
            info.side = counter_side(target.interface.name);
        info.source_reason = chosen.reason;
        if (!settings.source && settings.interval <= ebpf_pays_up_to && !is_rdma_port(target.interface.name))
            info.source_reason +=
                "; ebpf, which reads faster, counts elsewhere and is taken only when asked for";
        if (settings.counters_wrap) {
            info.byte_unit += "; counters of 32 bits, wraps undone";
            chosen.source = wrapping(std::move(chosen.source), target.interface);
        }
        sources.push_back({std::move(chosen.source), target.trace_path, std::move(info)});
        if (server != nullptr)
            sources.back().observer = server->observer(sources.size() - 1);
    }
    return checking_paths(
        [&] { return std::make_unique<Sampler>(std::move(sources), options_of(settings)); });
}

std::unique_ptr<Lane> start_queues(const RecordSettings& settings, const std::vector<Target>& targets) {
    if (!settings.queue)
        return nullptr;
    std::vector<std::string> names;
    std::vector<std::filesystem::path> paths;
    for (const Target& target : targets) {
        names.push_back(target.interface.name);
        paths.push_back(queue_path(target.trace_path));
    }
    auto reader = std::make_unique<QueueReader>(names);
    return checking_paths([&] {
        return start_queue_lane(std::move(reader), paths, settings.queue_interval, settings.overwrite);
    });
}

std::unique_ptr<Lane> start_slow(const RecordSettings& settings, const std::vector<Target>& targets) {
    std::vector<std::string> names;
    std::vector<std::filesystem::path> paths;
    for (const Target& target : targets) {
        if (is_rdma_port(target.interface.name))
            continue;
        names.push_back(target.interface.name);
        paths.push_back(slow_path(target.trace_path));
    }
    if (!settings.slow_lane || names.empty())
        return nullptr;
    try {
        const RouteSocket probe;
    } catch (const std::system_error& error) { // a sandbox: nobody asked for this lane
        print_safely(stderr, "WARNING: NO SLOW LANE: {}\n", error.what());
        return nullptr;
    }
    return checking_paths([&] { return start_slow_lane(names, paths, settings.overwrite); });
}

} // namespace collectors
