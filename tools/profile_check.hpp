#pragma once

#include "generator/profile.hpp"

#include <string>
#include <vector>

namespace tools {

/// Every mistake in a profile, as parse_profile words it ("mine.json: /run/seed: must be ..."); empty when
/// there is none. The parser stops at its first mistake, so it is asked again without what it complained
/// about; a complaint that only comes from leaving things out is not passed on. After a mistake that concerns
/// the file as a whole (not JSON, a wrong tensor list) nothing more is looked for.
std::vector<std::string> mistakes(const generator::ProfileSource& source);

} // namespace tools
