#pragma once

#include "collectors/trace.hpp"

#include <filesystem>

namespace collectors {

/// Writes the sidecar aside, syncs it and renames it into place, so that a reader never sees half of it.
/// Throws std::system_error that names the file.
void write_sidecar(const std::filesystem::path& path, const std::filesystem::path& trace_path,
                   const TraceInfo& info);

/// Throws std::runtime_error, naming the file and the JSON path, if it is not a sidecar.
TraceInfo read_sidecar(const std::filesystem::path& path);

} // namespace collectors
