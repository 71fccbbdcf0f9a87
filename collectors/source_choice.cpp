#include "collectors/source_choice.hpp"

#include "collectors/netlink_counters.hpp"
#include "collectors/procfs_counters.hpp"
#include "collectors/rdma_counters.hpp"
#include "collectors/sysfs_counters.hpp"

#include <array>
#include <exception>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collectors {

namespace {

constexpr std::array all_kinds{SourceKind::sysfs, SourceKind::procfs, SourceKind::rtnetlink, SourceKind::rdma,
                               SourceKind::ebpf};

std::unique_ptr<CounterSource> open_source(const std::string& interface, SourceKind kind,
                                           const SourceFolders& folders, const OpenEbpf& ebpf) {
    switch (kind) {
    case SourceKind::sysfs:
        if (const std::string objection = sysfs_objection(folders.interfaces, interface); !objection.empty())
            throw NoSource(objection);
        return std::make_unique<SysfsCounters>(interface, folders.interfaces);
    case SourceKind::procfs:
        return std::make_unique<ProcfsCounters>(interface, folders.device_list);
    case SourceKind::rtnetlink:
        return std::make_unique<NetlinkCounters>(interface);
    case SourceKind::ebpf:
        if (!ebpf)
            throw NoSource("only gradburst-collect has it");
        return ebpf(interface);
    case SourceKind::rdma:
        break;
    }
    if (!is_rdma_port(interface))
        throw NoSource(
            fmt::format("{} is no RDMA port: those are named DEVICE/PORT, e.g. mlx5_0/1", interface));
    return std::make_unique<RdmaCounters>(interface, folders.rdma);
}

} // namespace

std::string_view to_text(SourceKind kind) {
    constexpr std::array<std::string_view, 5> names{"sysfs", "procfs", "rtnetlink", "rdma", "ebpf"};
    return names[static_cast<std::size_t>(kind)];
}

SourceKind parse_source_kind(const std::string& text) {
    std::vector<std::string_view> names;
    for (const SourceKind kind : all_kinds) {
        if (text == to_text(kind))
            return kind;
        names.push_back(to_text(kind));
    }
    throw std::invalid_argument(fmt::format("'{}' is none of {}", text, fmt::join(names, ", ")));
}

ChosenSource choose_source(const std::string& interface, std::optional<SourceKind> forced,
                           const SourceFolders& folders, const OpenEbpf& ebpf) {
    const std::span<const SourceKind> in_order(all_kinds.data(), 3);
    std::vector<SourceKind> candidates(in_order.begin(), in_order.end());
    if (forced)
        candidates = {*forced};
    else if (is_rdma_port(interface))
        candidates = {SourceKind::rdma};
    std::vector<std::string> refusals;
    for (const SourceKind kind : candidates) {
        try {
            ChosenSource chosen{open_source(interface, kind, folders, ebpf), ""};
            chosen.reason = forced                     ? "asked for"
                            : !refusals.empty()        ? fmt::format("{}", fmt::join(refusals, "; "))
                            : kind == SourceKind::rdma ? "an RDMA port"
                                                       : "the first choice";
            return chosen;
        } catch (const std::exception& error) {
            refusals.push_back(fmt::format("not {}: {}", to_text(kind), error.what()));
        }
    }
    throw NoSource(fmt::format("no source for the counters of {}: {}", interface, fmt::join(refusals, "; ")));
}

} // namespace collectors
