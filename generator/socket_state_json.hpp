#pragma once

#include "generator/socket_state.hpp"

#include <nlohmann/json_fwd.hpp>

namespace generator {

/// On its way from a rank to rank 0.
nlohmann::json to_json(const SocketState& state);
SocketState socket_state_from(const nlohmann::json& json);

} // namespace generator
