#include "generator/switch_sampling.hpp"

#include "collectors/netlink_counters.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <net/if.h>
#include <sched.h>
#include <system_error>
#include <thread>
#include <unistd.h>

namespace generator {
namespace {

using collectors::NetlinkCounters;
using collectors::QueueReader;

/// Finer would take too much CPU from the ranks, which run on the same machine. From 1 ms on the threads
/// sleep.
constexpr std::chrono::nanoseconds finest_interval = std::chrono::milliseconds(1);

struct Port {
    std::string name;
    std::unique_ptr<NetlinkCounters> counters;
    std::unique_ptr<QueueReader> queue;
    std::string queue_kind;
};

/// "p0", "p1" ... of the calling thread's namespace, in order of their numbers.
std::vector<std::string> port_names() {
    std::vector<std::string> names;
    struct if_nameindex* const all = ::if_nameindex();
    for (const struct if_nameindex* each = all; each != nullptr && each->if_index != 0; ++each) {
        const std::string name = each->if_name;
        if (name.size() > 1 && name[0] == 'p' && name.find_first_not_of("0123456789", 1) == std::string::npos)
            names.push_back(name);
    }
    if (all != nullptr)
        ::if_freenameindex(all);
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
}

/// Opened in a thread that enters the namespace and ends: no other thread leaves its own.
std::vector<Port> open_ports(const std::string& network_namespace) {
    std::vector<Port> ports;
    std::exception_ptr failure;
    std::jthread([&] {
        try {
            enter(network_namespace);
            for (const std::string& name : port_names()) {
                Port port{name, std::make_unique<NetlinkCounters>(name), std::make_unique<QueueReader>(name),
                          ""};
                collectors::QueueStatistics statistics;
                if (const int error = port.queue->read(statistics); error != 0)
                    throw std::system_error(
                        error, std::generic_category(),
                        fmt::format("read the queue of {} in {}", name, network_namespace));
                port.queue_kind = statistics.kind;
                ports.push_back(std::move(port));
            }
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
    for (Port& port : open_ports(place.network_namespace)) {
        Recording recording;
        recording.trace.port = port.name;
        recording.trace.host = place.host_prefix + port.name.substr(1);
        recording.trace.file = fmt::format("nic/{}.{}.csv", place.network_namespace, port.name);
        recording.trace.queue_file = collectors::queue_path(recording.trace.file);
        collectors::TraceInfo info;
        info.host = place.network_namespace;
        info.interface = port.name;
        info.driver = "virtual";
        info.byte_unit =
            "device bytes without FCS; a GSO super-packet counts one header (about 4.4 % below the "
            "wire at MTU 1500)";
        info.side =
            fmt::format("switch port to {0}: tx_bytes went to {0}, counted after this port's queue ({1}); "
                        "rx_bytes came from {0}, after the queue of {0}",
                        recording.trace.host, port.queue_kind);
        collectors::SamplerOptions options;
        options.interval = std::max(interval, finest_interval);
        options.overwrite = overwrite;
        recording.queue = std::make_unique<collectors::QueueLane>(std::move(port.queue), port.name,
                                                                  run_directory / recording.trace.queue_file,
                                                                  switch_queue_interval, overwrite);
        recording.sampler = std::make_unique<collectors::Sampler>(
            std::move(port.counters), run_directory / recording.trace.file, std::move(info), options);
        recordings_.push_back(std::move(recording));
    }
}

std::vector<SwitchPortTrace> SwitchSampling::stop(const std::string& reason,
                                                  std::vector<std::string>& errors) {
    std::vector<SwitchPortTrace> traces;
    for (Recording& recording : recordings_) {
        try {
            recording.trace.cpu_share = recording.sampler->stop(reason).cpu_share;
            recording.trace.cpu_share += recording.queue->stop().cpu_share;
        } catch (const std::exception& error) {
            errors.push_back(error.what());
        }
        traces.push_back(std::move(recording.trace));
    }
    recordings_.clear();
    return traces;
}

} // namespace generator
