#include "generator/host_facts.hpp"

#include "collectors/interfaces.hpp"
#include "generator/free_space.hpp"

#include <fmt/format.h>
#include <map>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <set>
#include <stdexcept>
#include <sys/utsname.h>
#include <unistd.h>

namespace generator {
namespace {

int allowed_cpus() {
    cpu_set_t set;
    CPU_ZERO(&set);
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 0;
}

} // namespace

HostFacts local_facts(const std::string& profile_hash) {
    utsname kernel{};
    uname(&kernel);
    return {.version = GRADBURST_VERSION,
            .build_type = GRADBURST_BUILD_TYPE,
            .profile_hash = profile_hash,
            .addresses = {collectors::host_name(), network_identity(), local_addresses()},
            .kernel = fmt::format("{} {}", kernel.sysname, kernel.release),
            .cpus_online = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)),
            .cpus_allowed = allowed_cpus(),
            .free_memory_bytes = free_memory()};
}

std::string serialize(const HostFacts& facts) {
    nlohmann::json addresses = nlohmann::json::array();
    for (const InterfaceAddress& each : facts.addresses.addresses) {
        nlohmann::json entry;
        entry["interface"] = each.interface;
        entry["address"] = each.address;
        entry["prefix_length"] = each.prefix_length;
        entry["loopback"] = each.loopback;
        addresses.push_back(std::move(entry));
    }
    nlohmann::json json;
    json["version"] = facts.version;
    json["build_type"] = facts.build_type;
    json["profile_hash"] = facts.profile_hash;
    json["host"] = facts.addresses.host;
    json["network"] = facts.addresses.network;
    json["addresses"] = std::move(addresses);
    json["kernel"] = facts.kernel;
    json["cpus_online"] = facts.cpus_online;
    json["cpus_allowed"] = facts.cpus_allowed;
    if (facts.free_memory_bytes)
        json["free_memory_bytes"] = *facts.free_memory_bytes;
    return json.dump();
}

HostFacts parse_facts(const std::string& text) {
    const nlohmann::json json = nlohmann::json::parse(text);
    HostFacts facts{.version = json.at("version"),
                    .build_type = json.at("build_type"),
                    .profile_hash = json.at("profile_hash"),
                    .addresses = {json.at("host"), json.at("network"), {}},
                    .kernel = json.at("kernel"),
                    .cpus_online = json.at("cpus_online"),
                    .cpus_allowed = json.at("cpus_allowed")};
    if (json.contains("free_memory_bytes"))
        facts.free_memory_bytes = json["free_memory_bytes"];
    for (const nlohmann::json& each : json.at("addresses"))
        facts.addresses.addresses.push_back(
            {each.at("interface"), each.at("address"), each.at("prefix_length"), each.at("loopback")});
    return facts;
}

void require_same_program(const std::vector<HostFacts>& ranks) {
    for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
        const auto differ = [&](const char* what, const std::string& first, const std::string& other,
                                const char* remedy) {
            if (first != other)
                throw std::runtime_error(fmt::format("rank 0 on {} has {} {}, rank {} on {} has {}: {}",
                                                     ranks[0].addresses.host, what, first, rank,
                                                     ranks[rank].addresses.host, other, remedy));
        };
        constexpr const char* install = "install the same gradburst on all hosts";
        differ("version", ranks[0].version, ranks[rank].version, install);
        differ("build type", ranks[0].build_type, ranks[rank].build_type, install);
        differ("profile hash", ranks[0].profile_hash, ranks[rank].profile_hash,
               "start all ranks with the same options");
    }
}

std::vector<std::string> cpu_warnings(const std::vector<HostFacts>& ranks) {
    std::map<std::string, int> ranks_on;
    for (const HostFacts& facts : ranks)
        ++ranks_on[facts.addresses.host];
    std::vector<std::string> warnings;
    std::set<std::string> warned;
    for (const HostFacts& facts : ranks) {
        const std::string& host = facts.addresses.host;
        if (!warned.insert(host).second)
            continue;
        const int on_host = ranks_on[host];
        if (facts.cpus_allowed < 2 && facts.cpus_online > 1)
            warnings.push_back(
                fmt::format("RANKS ON {} ARE BOUND TO ONE CPU EACH: rank and sampler share it; use "
                            "mpirun --bind-to none",
                            host));
        else if (on_host > facts.cpus_online)
            warnings.push_back(
                fmt::format("{} RANKS SHARE {} CPUS ON {}: bursts of ranks that wait for a CPU are "
                            "late or slow",
                            on_host, facts.cpus_online, host));
    }
    return warnings;
}

} // namespace generator
