#include "generator/agreement.hpp"

#include "generator/free_space.hpp"
#include "generator/link.hpp"
#include "generator/profile_ranks.hpp"

#include <algorithm>
#include <cstdlib>
#include <fmt/format.h>
#include <map>
#include <numeric>
#include <set>

namespace generator {
namespace {

/// The host of each rank, numbered in the order of their first ranks.
std::vector<int> host_numbers(const std::vector<HostFacts>& ranks) {
    std::vector<std::string> names;
    std::vector<int> numbers;
    for (const HostFacts& facts : ranks) {
        const auto known = std::find(names.begin(), names.end(), facts.addresses.network);
        numbers.push_back(static_cast<int>(known - names.begin()));
        if (known == names.end())
            names.push_back(facts.addresses.network);
    }
    return numbers;
}

/// Name, size and text of each.
std::string packed(const std::map<std::string, std::string>& texts) {
    std::string all;
    for (const auto& [name, text] : texts)
        all += fmt::format("{} {} {}{}", name.size(), text.size(), name, text);
    return all;
}

std::map<std::string, std::string> unpacked(const std::string& all) {
    std::map<std::string, std::string> texts;
    for (std::size_t at = 0; at < all.size();) {
        char* end = nullptr;
        const std::size_t name = std::strtoull(all.c_str() + at, &end, 10);
        const std::size_t text = std::strtoull(end, &end, 10);
        at = static_cast<std::size_t>(end + 1 - all.c_str());
        texts[all.substr(at, name)] = all.substr(at + name, text);
        at += name + text;
    }
    return texts;
}

/// Rank 0 reads the files; all parse the same text.
ProfileSource agree_on_source(const std::string& profile, ControlPlane& control) {
    ProfileSource source = control.together(
        [&] { return control.rank() == 0 ? load_profile(profile, profile_folders()) : ProfileSource{}; });
    source.name = control.broadcast(source.name);
    source.text = control.broadcast(source.text);
    source.model_text = control.broadcast(source.model_text);
    source.cdf_texts = unpacked(control.broadcast(packed(source.cdf_texts)));
    return source;
}

std::optional<Sweep> agree_on_sweep(const std::string& asked, const std::vector<JobSpec>& specs,
                                    ControlPlane& control) {
    const std::string text = control.broadcast(asked);
    if (text.empty())
        return std::nullopt;
    return control.together([&] {
        Sweep sweep;
        sweep.range = parse_sweep(text);
        sweep.roles = sweep_roles(sweep.range, specs);
        sweep.period = specs[sweep.roles.shifted].start.period;
        return sweep;
    });
}

/// A launch without a jobs file is one of a single job with all ranks.
std::vector<JobSpec> agree_on_jobs(LaunchAgreement& launch, const CommandLine& command,
                                   ControlPlane& control) {
    if (command.jobs.empty())
        return {{"", control.broadcast(command.profile), command.overrides, {}, {}}};
    JobsSource source =
        control.together([&] { return control.rank() == 0 ? load_jobs(command.jobs) : JobsSource{}; });
    source.name = control.broadcast(source.name);
    source.text = control.broadcast(source.text);
    launch.jobs_text = source.text;
    std::vector<JobSpec> specs = control.together([&] { return parse_jobs(source); });
    launch.sweep = agree_on_sweep(command.sweep, specs, control);
    for (JobSpec& spec : specs)
        spec.overrides = joined_overrides(spec.overrides, command.overrides);
    return specs;
}

/// All compare what they made of the profiles.
std::vector<std::string> agree_on_profiles(LaunchAgreement& launch, const std::vector<JobSpec>& specs,
                                           ControlPlane& control) {
    std::vector<std::string> files;
    std::string hashes;
    for (const JobSpec& spec : specs) {
        const ProfileSource source = agree_on_source(spec.profile, control);
        Agreement job;
        job.record.job = spec.name;
        job.record.profile = control.together([&] { return parse_profile(source, spec.overrides); });
        job.start = spec.start;
        // What the hash leaves out may differ between ranks that were started with different options.
        RunSettings& run = job.record.profile.run;
        run.dry_run = control.broadcast(run.dry_run ? "yes" : "no") == "yes";
        run.overwrite = control.broadcast(run.overwrite ? "yes" : "no") == "yes";
        hashes += (hashes.empty() ? "" : "+") + profile_hash(job.record.profile);
        files.push_back(source.name);
        launch.jobs.push_back(std::move(job));
    }
    const HostFacts own = control.together([&] { return local_facts(hashes); });
    for (const std::string& facts : control.all_gather(serialize(own)))
        launch.ranks.push_back(parse_facts(facts));
    control.together([&] { require_same_program(launch.ranks); });
    return files;
}

void assign(LaunchAgreement& launch, const std::vector<JobSpec>& specs, const std::string& file,
            ControlPlane& control) {
    std::vector<std::vector<int>> members(1, std::vector<int>(launch.ranks.size()));
    std::iota(members[0].begin(), members[0].end(), 0);
    if (!file.empty())
        members = control.together([&] { return assign_ranks(specs, host_numbers(launch.ranks), file); });
    for (std::size_t i = 0; i < launch.jobs.size(); ++i) {
        launch.jobs[i].members = members[i];
        for (const int rank : members[i]) {
            launch.jobs[i].record.ranks.push_back(launch.ranks[static_cast<std::size_t>(rank)]);
            if (rank == control.rank())
                launch.own_job = i;
        }
    }
}

void check_jobs(LaunchAgreement& launch, const std::vector<std::string>& files, ControlPlane& control) {
    control.together([&] {
        for (std::size_t i = 0; i < launch.jobs.size(); ++i) {
            const RunRecord& record = launch.jobs[i].record;
            check_for_ranks(record.profile, static_cast<int>(record.ranks.size()), host_numbers(record.ranks),
                            files[i]);
            if (launch.sweep && !record.profile.background.empty())
                throw UserError(
                    fmt::format("{}: /background: not in a sweep, whose steps must differ in the offset "
                                "alone; remove it, or run a launch for each offset",
                                files[i]));
        }
    });
    for (Agreement& job : launch.jobs) {
        RunRecord& record = job.record;
        record.warnings = cpu_warnings(launch.ranks);
        if (std::string_view(GRADBURST_BUILD_TYPE) != "Release")
            record.warnings.push_back("NOT A RELEASE BUILD (" GRADBURST_BUILD_TYPE
                                      "): its timing means little");
        if (record.ranks.size() == 1)
            record.warnings.push_back(
                "ONE RANK HAS NOBODY TO SEND TO: only the timing runs; start several with mpirun -n 4");
    }
}

/// Each rank by the interfaces of its job.
void agree_on_addresses(LaunchAgreement& launch, ControlPlane& control) {
    const InterfaceAddress chosen = control.together([&] {
        const Agreement& job = launch.jobs[*launch.own_job];
        std::vector<HostAddresses> hosts;
        for (const HostFacts& facts : job.record.ranks)
            hosts.push_back(facts.addresses);
        const auto self = std::find(job.members.begin(), job.members.end(), control.rank());
        return choose_address(hosts, static_cast<std::size_t>(self - job.members.begin()),
                              job.record.profile.network.interfaces);
    });
    const std::vector<std::string> all = control.all_gather(chosen.interface + " " + chosen.address);
    for (const std::string& text : all)
        launch.sampled.push_back(text.substr(0, text.find(' ')));
    for (Agreement& job : launch.jobs)
        for (const int member : job.members) {
            const std::string& text = all[static_cast<std::size_t>(member)];
            const std::size_t space = text.find(' ');
            job.record.endpoints.push_back({static_cast<int>(job.record.endpoints.size()),
                                            launch.ranks[static_cast<std::size_t>(member)].addresses.host,
                                            text.substr(0, space), text.substr(space + 1), 0});
        }
}

/// Each rank listens on a port of its own.
void require_enough_ports(const LaunchAgreement& launch, ControlPlane& control) {
    const PortRange& ports = launch.jobs[*launch.own_job].record.profile.network.ports;
    const int available = ports.last - ports.first + 1;
    control.together([&] {
        const HostAddresses& own = launch.ranks[static_cast<std::size_t>(control.rank())].addresses;
        std::ptrdiff_t needed = 0;
        for (const Agreement& job : launch.jobs)
            if (job.record.profile.network.ports == ports)
                needed += std::count_if(
                    job.record.ranks.begin(), job.record.ranks.end(),
                    [&](const HostFacts& other) { return other.addresses.network == own.network; });
        if (ports.first > 0 && available < needed)
            throw UserError(fmt::format("ports {}-{}: {} are not enough for the {} ranks on {}", ports.first,
                                        ports.last, available, needed, own.host));
    });
}

/// The slowest link of all ranks of a job; unknown when any of them is.
void agree_on_line_rate(RunRecord& record, const std::vector<std::uint64_t>& speeds) {
    const std::uint64_t slowest = *std::min_element(speeds.begin(), speeds.end());
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

void agree_on_line_rates(LaunchAgreement& launch, ControlPlane& control) {
    const std::optional<BitRate> own =
        link_of(launch.sampled[static_cast<std::size_t>(control.rank())]).speed;
    const std::vector<std::string> speeds =
        control.all_gather(std::to_string(own ? own->bits_per_second : 0));
    for (Agreement& job : launch.jobs) {
        std::vector<std::uint64_t> of_job;
        for (const int member : job.members)
            of_job.push_back(std::strtoull(speeds[static_cast<std::size_t>(member)].c_str(), nullptr, 10));
        agree_on_line_rate(job.record, of_job);
    }
}

Needs needs_of(const Agreement& job) {
    const RunRecord& record = job.record;
    std::map<std::string, int> ranks_on; // by network: ranks in one namespace are one host
    std::set<std::pair<std::string, std::string>> interfaces;
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
        ++ranks_on[record.ranks[rank].addresses.network];
        interfaces.insert({record.ranks[rank].addresses.network, record.endpoints[rank].interface});
    }
    Placement placement{.world_size = static_cast<int>(record.ranks.size()),
                        .interfaces = static_cast<int>(interfaces.size()),
                        .line_rate = record.line_rate};
    for (const auto& [network, ranks] : ranks_on)
        placement.ranks_per_host = std::max(placement.ranks_per_host, ranks);
    return estimate_needs(record.profile, job.workload, placement);
}

/// The host with the least room: where --verify and timelines may not fit. Disk is rank 0's, who keeps
/// everything. Jobs are taken as if all had their fullest host in common.
void agree_on_space(LaunchAgreement& launch, ControlPlane& control) {
    Needs together;
    FreeSpace free;
    for (Agreement& job : launch.jobs) {
        job.needs = needs_of(job);
        for (auto [sum, part] :
             {std::pair{&together.memory, job.needs.memory}, std::pair{&together.disk, job.needs.disk}}) {
            sum->least += part.least;
            sum->likely += part.likely;
        }
        together.iterations = std::max(together.iterations, job.needs.iterations);
    }
    const std::uint64_t steps = launch.sweep ? launch.jobs.size() + launch.sweep->range.count : 1;
    together.disk.least *= steps;
    together.disk.likely *= steps;
    for (const HostFacts& facts : launch.ranks)
        if (facts.free_memory_bytes)
            free.memory_bytes =
                std::min(free.memory_bytes.value_or(*facts.free_memory_bytes), *facts.free_memory_bytes);
    control.together([&] {
        if (control.rank() != 0)
            return;
        free.disk_bytes = free_disk(launch.settings().out.empty() ? "." : launch.settings().out);
        const std::string error = space_error(together, free);
        if (!error.empty() && !launch.settings().dry_run)
            throw UserError(error);
        for (const std::string& warning : space_warnings(together, free))
            for (Agreement& job : launch.jobs)
                job.record.warnings.push_back(warning);
    });
    for (Agreement& job : launch.jobs)
        job.free = free;
}

} // namespace

LaunchAgreement agree(const CommandLine& command, ControlPlane& control) {
    LaunchAgreement launch;
    control.together([&] { require_expected_world_size(control.world_size()); });
    const std::vector<JobSpec> specs = agree_on_jobs(launch, command, control);
    const std::vector<std::string> files = agree_on_profiles(launch, specs, control);
    assign(launch, specs, command.jobs, control);
    check_jobs(launch, files, control);
    agree_on_addresses(launch, control);
    agree_on_line_rates(launch, control);
    if (!launch.settings().dry_run)
        require_enough_ports(launch, control);
    for (Agreement& job : launch.jobs) {
        job.record.command = command.whole;
        job.record.mpi_library = MpiSession::library_version();
        job.workload = make_workload(job.record.profile, job.record.byte_scale);
        job.workload.hosts = host_numbers(job.record.ranks);
    }
    agree_on_space(launch, control);
    return launch;
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
