#include "generator/switch_sampling.hpp"

#include "collectors/interfaces.hpp"
#include "collectors/source_choice.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mount.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace generator {
namespace {

using collectors::QueueReader;

/// Finer would take too much CPU from the ranks, which run on the same machine. From 1 ms on the threads
/// sleep.
constexpr std::chrono::nanoseconds finest_interval = std::chrono::milliseconds(1);

/// The ports of a switch, opened.
struct Ports {
    std::vector<std::string> names;
    std::vector<collectors::ChosenSource> counters; ///< one for each name
    std::unique_ptr<QueueReader> queues;            ///< one for all
    std::vector<std::string> queue_kinds;
};

/// "p0", "p1" ... of the calling thread's namespace, in order of their numbers.
std::vector<std::string> port_names() {
    std::vector<std::string> names;
    for (const std::string& name : collectors::interface_names())
        if (name.size() > 1 && name[0] == 'p' && name.find_first_not_of("0123456789", 1) == std::string::npos)
            names.push_back(name);
    std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
        return a.size() != b.size() ? a.size() < b.size() : a < b;
    });
    return names;
}

void enter(const std::string& network_namespace) {
    const std::string path = "/run/netns/" + network_namespace;
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int error = descriptor < 0 ? errno : ::setns(descriptor, CLONE_NEWNET) != 0 ? errno : 0;
    if (descriptor >= 0)
        ::close(descriptor);
    if (error != 0)
        throw std::system_error(error, std::generic_category(),
                                "enter the switch's network namespace " + path);
    // A /sys that shows this namespace, for this thread alone; what was opened in it outlives the thread.
    // Where that is not allowed, the choice of the source falls on another.
    if (::unshare(CLONE_NEWNS) == 0 && ::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) == 0)
        ::mount("sysfs", "/sys", "sysfs", 0, nullptr);
}

Ports open_ports_here(const std::string& network_namespace) {
    Ports ports;
    ports.names = port_names();
    for (const std::string& name : ports.names)
        ports.counters.push_back(collectors::choose_source(name));
    ports.queues = std::make_unique<QueueReader>(ports.names);
    std::vector<std::optional<collectors::QueueStatistics>> statistics(ports.names.size());
    const int error = ports.queues->read(statistics);
    for (std::size_t i = 0; i < statistics.size(); ++i) {
        if (!statistics[i])
            throw std::system_error(
                error != 0 ? error : ENODEV, std::generic_category(),
                fmt::format("read the queue of {} in {}", ports.names[i], network_namespace));
        ports.queue_kinds.push_back(statistics[i]->kind);
    }
    return ports;
}

/// Opened in a thread that enters the namespace and ends: no other thread leaves its own.
Ports open_ports(const std::string& network_namespace) {
    Ports ports;
    std::exception_ptr failure;
    std::jthread([&] {
        try {
            enter(network_namespace);
            ports = open_ports_here(network_namespace);
        } catch (...) {
            failure = std::current_exception();
        }
    }).join();
    if (failure)
        std::rethrow_exception(failure);
    return ports;
}

} // namespace

std::optional<SwitchPlace> testbed_switch() {
    const char* const network_namespace = std::getenv("GRADBURST_TESTBED_SWITCH");
    const char* const name = std::getenv("GRADBURST_TESTBED_NAME");
    if (network_namespace == nullptr || *network_namespace == '\0' || name == nullptr)
        return std::nullopt;
    return SwitchPlace{network_namespace, name};
}

SwitchSampling::SwitchSampling(const SwitchPlace& place, const std::filesystem::path& run_directory,
                               std::chrono::nanoseconds interval, bool overwrite) {
    std::filesystem::create_directories(run_directory / "nic");
    Ports ports = open_ports(place.network_namespace);
    std::vector<collectors::SamplerSource> sources;
    std::vector<std::filesystem::path> queue_files;
    for (std::size_t i = 0; i < ports.names.size(); ++i) {
        const std::string& port = ports.names[i];
        SwitchPortTrace trace;
        trace.port = port;
        trace.host = place.host_prefix + port.substr(1);
        trace.file = fmt::format("nic/{}.{}.csv", place.network_namespace, port);
        trace.queue_file = collectors::queue_path(trace.file);
        collectors::TraceInfo info;
        info.host = place.network_namespace;
        info.interface = port;
        info.driver = "virtual";
        info.byte_unit =
            "device bytes without FCS; a GSO super-packet counts one header (about 4.4 % below the "
            "wire at MTU 1500)";
        info.side =
            fmt::format("switch port to {0}: tx_bytes went to {0}, counted after this port's queue ({1}); "
                        "rx_bytes came from {0}, after the queue of {0}",
                        trace.host, ports.queue_kinds[i]);
        queue_files.push_back(run_directory / trace.queue_file);
        info.source_reason = ports.counters[i].reason;
        sources.push_back({std::move(ports.counters[i].source), run_directory / trace.file, std::move(info)});
        traces_.push_back(std::move(trace));
    }
    if (traces_.empty())
        return;
    queues_ =
        collectors::start_queue_lane(std::move(ports.queues), queue_files, switch_queue_interval, overwrite);
    collectors::SamplerOptions options;
    options.interval = std::max(interval, finest_interval);
    options.overwrite = overwrite;
    sampler_ = std::make_unique<collectors::Sampler>(std::move(sources), options);
}

std::vector<SwitchPortTrace> SwitchSampling::stop(const std::string& reason,
                                                  std::vector<std::string>& errors) {
    if (!sampler_)
        return {};
    const collectors::SamplerReport counters = sampler_->stop(reason);
    const collectors::LaneReport queues = queues_->stop();
    const auto share_of_one = 1 / static_cast<double>(traces_.size());
    for (std::size_t i = 0; i < traces_.size(); ++i) {
        traces_[i].cpu_share = (counters.cpu_share + queues.cpu_share) * share_of_one;
        for (const std::string& error : {counters.sources[i].error, queues.files[i].error})
            if (!error.empty())
                errors.push_back(error);
    }
    sampler_.reset();
    queues_.reset();
    return std::move(traces_);
}

} // namespace generator
