#pragma once

#include "generator/profile.hpp"

#include <string>
#include <vector>

namespace generator {

/// Checks what can only be checked when the number of ranks is known: ranks that the profile names exist,
/// each group can do its collectives (the server is a rank; hierarchical has several hosts with equally many
/// ranks), and no rank of an explicit schedule waits for ever. `hosts`: of each rank; empty: each on a host
/// of its own. Throws ProfileError with `file` (`ProfileSource::name`), JSON path and rule.
void check_for_ranks(const Profile& profile, int world_size, const std::vector<int>& hosts,
                     const std::string& file);

} // namespace generator
