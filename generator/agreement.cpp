#include "generator/agreement.hpp"

#include "generator/free_space.hpp"
#include "generator/link.hpp"
#include "generator/profile_ranks.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <set>

namespace generator {
namespace {

/// The host of each rank, numbered in the order of their first ranks.
std::vector<int> host_numbers(const RunRecord& record) {
    std::vector<std::string> names;
    std::vector<int> numbers;
    for (const HostFacts& facts : record.ranks) {
        const auto known = std::find(names.begin(), names.end(), facts.addresses.network);
        numbers.push_back(static_cast<int>(known - names.begin()));
        if (known == names.end())
            names.push_back(facts.addresses.network);
    }
    return numbers;
}

/// Rank 0 reads the profile; all parse the same text and compare what they made of it.
void agree_on_profile(RunRecord& record, const CommandLine& command, ControlPlane& control) {
    ProfileSource source = control.together([&] {
        require_expected_world_size(control.world_size());
        return control.rank() == 0 ? load_profile(command.profile, profile_folders()) : ProfileSource{};
    });
    source.name = control.broadcast(source.name);
    source.text = control.broadcast(source.text);
    source.model_text = control.broadcast(source.model_text);
    record.profile = control.together([&] { return parse_profile(source, command.overrides); });
    // What the hash leaves out may differ between ranks that were started with different options.
    RunSettings& run = record.profile.run;
    run.dry_run = control.broadcast(run.dry_run ? "yes" : "no") == "yes";
    run.overwrite = control.broadcast(run.overwrite ? "yes" : "no") == "yes";
    const HostFacts own = control.together([&] { return local_facts(profile_hash(record.profile)); });
    for (const std::string& facts : control.all_gather(serialize(own)))
        record.ranks.push_back(parse_facts(facts));
    control.together([&] {
        require_same_program(record.ranks);
        check_for_ranks(record.profile, control.world_size(), host_numbers(record), source.name);
    });
    record.warnings = cpu_warnings(record.ranks);
    if (std::string_view(GRADBURST_BUILD_TYPE) != "Release")
        record.warnings.push_back("NOT A RELEASE BUILD (" GRADBURST_BUILD_TYPE "): its timing means little");
    if (control.world_size() == 1)
        record.warnings.push_back(
            "ONE RANK HAS NOBODY TO SEND TO: only the timing runs; start several with mpirun -n 4");
}

void agree_on_addresses(RunRecord& record, ControlPlane& control) {
    const InterfaceAddress chosen = control.together([&] {
        std::vector<HostAddresses> hosts;
        for (const HostFacts& facts : record.ranks)
            hosts.push_back(facts.addresses);
        return choose_address(hosts, static_cast<std::size_t>(control.rank()),
                              record.profile.network.interfaces);
    });
    for (const std::string& text : control.all_gather(chosen.interface + " " + chosen.address)) {
        const std::size_t space = text.find(' ');
        const int number = static_cast<int>(record.endpoints.size());
        record.endpoints.push_back({number, record.ranks[static_cast<std::size_t>(number)].addresses.host,
                                    text.substr(0, space), text.substr(space + 1), 0});
    }
}

/// Each rank listens on a port of its own.
void require_enough_ports(const RunRecord& record, ControlPlane& control) {
    const PortRange& ports = record.profile.network.ports;
    const int available = ports.last - ports.first + 1;
    control.together([&] {
        const std::string& own = record.ranks[static_cast<std::size_t>(control.rank())].addresses.network;
        const auto needed =
            std::count_if(record.ranks.begin(), record.ranks.end(),
                          [&](const HostFacts& other) { return other.addresses.network == own; });
        if (ports.first > 0 && available < needed)
            throw UserError(fmt::format(
                "ports {}-{}: {} are not enough for the {} ranks on {}", ports.first, ports.last, available,
                needed, record.ranks[static_cast<std::size_t>(control.rank())].addresses.host));
    });
}

/// The slowest link of all ranks; unknown when any of them is.
void agree_on_line_rate(RunRecord& record, ControlPlane& control) {
    const std::optional<BitRate> own =
        link_of(record.endpoints[static_cast<std::size_t>(control.rank())].interface).speed;
    std::uint64_t slowest = ~std::uint64_t{0};
    for (const std::string& speed : control.all_gather(std::to_string(own ? own->bits_per_second : 0)))
        slowest = std::min<std::uint64_t>(slowest, std::strtoull(speed.c_str(), nullptr, 10));
    record.line_rate_origin = "--line-rate or profile";
    record.line_rate = record.profile.network.line_rate;
    if (!record.line_rate && slowest > 0) {
        record.line_rate = BitRate{slowest};
        record.line_rate_origin = "slowest interface";
    }
    if (!record.line_rate) {
        record.line_rate_origin = fmt::format("{} does not tell", record.endpoints[0].interface);
        record.warnings.push_back(
            record.profile.scale.reference_rate
                ? "LINE RATE UNKNOWN: bytes are not scaled and nothing is predicted; give --line-rate"
                : "LINE RATE UNKNOWN: nothing is predicted; give --line-rate");
    }
    record.byte_scale = byte_scale(record.profile.scale, record.line_rate);
}

/// The host with the least room: where --verify and timelines may not fit. Disk is rank 0's, who keeps
/// everything.
void agree_on_space(Agreement& agreement, ControlPlane& control) {
    RunRecord& record = agreement.record;
    std::map<std::string, int> ranks_on; // by network: ranks in one namespace are one host
    std::set<std::pair<std::string, std::string>> interfaces;
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
        ++ranks_on[record.ranks[rank].addresses.network];
        interfaces.insert({record.ranks[rank].addresses.network, record.endpoints[rank].interface});
    }
    Placement placement{.world_size = control.world_size(),
                        .interfaces = static_cast<int>(interfaces.size()),
                        .line_rate = record.line_rate};
    for (const auto& [network, ranks] : ranks_on)
        placement.ranks_per_host = std::max(placement.ranks_per_host, ranks);
    agreement.needs = estimate_needs(record.profile, agreement.workload, placement);
    for (const HostFacts& facts : record.ranks)
        if (facts.free_memory_bytes)
            agreement.free.memory_bytes = std::min(
                agreement.free.memory_bytes.value_or(*facts.free_memory_bytes), *facts.free_memory_bytes);
    control.together([&] {
        if (control.rank() != 0)
            return;
        agreement.free.disk_bytes = free_disk(record.profile.run.out.empty() ? "." : record.profile.run.out);
        const std::string error = space_error(agreement.needs, agreement.free);
        if (!error.empty() && !record.profile.run.dry_run)
            throw UserError(error);
        for (const std::string& warning : space_warnings(agreement.needs, agreement.free))
            record.warnings.push_back(warning);
    });
}

} // namespace

Agreement agree(const CommandLine& command, ControlPlane& control) {
    Agreement agreement;
    RunRecord& record = agreement.record;
    agree_on_profile(record, command, control);
    agree_on_addresses(record, control);
    agree_on_line_rate(record, control);
    if (!record.profile.run.dry_run)
        require_enough_ports(record, control);
    record.command = command.whole;
    record.mpi_library = MpiSession::library_version();
    agreement.workload = make_workload(record.profile, record.byte_scale);
    agreement.workload.hosts = host_numbers(record);
    agree_on_space(agreement, control);
    return agreement;
}

void require_expected_world_size(int world_size) {
    if (world_size != 1)
        return;
    // The nearest launcher decides: mpirun -n 1 inside an allocation of four tasks means one.
    for (const char* variable : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS"}) {
        const char* const value = std::getenv(variable);
        if (value == nullptr)
            continue;
        if (std::atoi(value) <= 1)
            return;
        throw UserError(
            fmt::format("this rank is alone, but {} says {}: the launcher and gradburst use different "
                        "MPI libraries, or it was started without one. Try mpirun -n {}, or srun "
                        "--mpi=pmix",
                        variable, value, value));
    }
}

} // namespace generator
