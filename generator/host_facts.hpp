#pragma once

#include "generator/addresses.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace generator {

/// What a rank tells the others about itself before anything is agreed.
struct HostFacts {
    std::string version;      ///< of gradburst
    std::string build_type;   ///< "Release", or with sanitizers
    std::string profile_hash; ///< of the profile as this rank parsed it
    HostAddresses addresses;
    std::string kernel; ///< "Linux 6.1.0"
    int cpus_online = 0;
    int cpus_allowed = 0;                           ///< by this rank's affinity
    std::optional<std::uint64_t> free_memory_bytes; ///< see free_memory()
};

HostFacts local_facts(const std::string& profile_hash);

/// JSON, to travel between ranks. `parse_facts` throws std::runtime_error.
std::string serialize(const HostFacts& facts);
HostFacts parse_facts(const std::string& text);

/// Throws std::runtime_error naming the ranks when versions or profiles differ.
void require_same_program(const std::vector<HostFacts>& ranks);

/// Warnings about CPUs: fewer than ranks, or ranks bound so that their threads share one.
std::vector<std::string> cpu_warnings(const std::vector<HostFacts>& ranks);

} // namespace generator
