#pragma once

#include "collectors/units.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace generator {

/// The link behind a rank's interface, as far as the host knows it.
struct Link {
    std::optional<collectors::BitRate>
        speed; ///< of a physical link that is up; a veth's "10 Gbit/s" is fiction
    std::uint64_t mtu = 1500;
};

/// Reads sysfs. An interface that is not there gives the defaults.
Link link_of(const std::string& interface);

} // namespace generator
