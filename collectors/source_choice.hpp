#pragma once

#include "collectors/counter_source.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

/// Which source reads an interface.
namespace collectors {

enum class SourceKind { sysfs, procfs, rtnetlink, rdma, ebpf };

std::string_view to_text(SourceKind kind);
/// Throws std::invalid_argument that lists the kinds.
SourceKind parse_source_kind(const std::string& text);

/// Where the kernel shows what; replaced in tests and in containers that see the host's at another place.
struct SourceFolders {
    std::filesystem::path interfaces = "/sys/class/net";
    std::filesystem::path device_list = "/proc/thread-self/net/dev";
    std::filesystem::path rdma = "/sys/class/infiniband";
};

/// Nothing can be read, or not in the way that was asked for.
struct NoSource : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct ChosenSource {
    std::unique_ptr<CounterSource> source;
    std::string reason; ///< for the sidecar: why this one
};

/// Opens the eBPF source of an interface; empty where a program is without it.
using OpenEbpf = std::function<std::unique_ptr<CounterSource>(const std::string& interface)>;

/// Opens the counters of an interface of the calling thread's network namespace. An RDMA port (DEVICE/PORT)
/// has one source. Otherwise, in this order, the first that works: sysfs (cheap, no lock), procfs (no lock),
/// rtnetlink (waits for whoever changes interfaces). `forced` allows one only; ebpf, which puts programs in
/// the way of the packets and counts on another side of the queue, is never taken otherwise. Throws NoSource.
ChosenSource choose_source(const std::string& interface, std::optional<SourceKind> forced = std::nullopt,
                           const SourceFolders& folders = {}, const OpenEbpf& ebpf = {});

} // namespace collectors
