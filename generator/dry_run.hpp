#pragma once

#include "generator/agreement.hpp"

#include <string>

namespace generator {

/// What --dry-run prints: the effective settings, the bytes of each rank, what the run takes of the hosts.
std::string dry_run_text(const Agreement& agreement);

/// The same as JSON, format "gradburst-dry-run/1", with the effective profile.
std::string dry_run_json(const Agreement& agreement);

} // namespace generator
