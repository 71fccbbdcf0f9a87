#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace generator {

/// Memory that programs can still get on this host, swap included: MemAvailable + SwapFree of /proc/meminfo,
/// or what the limits of this process' control group (version 2) leave. nullopt: not known.
std::optional<std::uint64_t> free_memory();

/// Bytes that may be written at `path`, which need not exist yet. nullopt: not known.
std::optional<std::uint64_t> free_disk(const std::filesystem::path& path);

} // namespace generator
