#include "generator/socket_state_json.hpp"

#include <nlohmann/json.hpp>

namespace generator {

nlohmann::json to_json(const SocketState& state) {
    return {{"congestion_control", state.congestion_control},
            {"dscp", state.dscp},
            {"pacing_bits_per_second", state.pacing_rate ? state.pacing_rate->bits_per_second : 0},
            {"send_buffer_bytes", state.send_buffer_bytes},
            {"receive_buffer_bytes", state.receive_buffer_bytes},
            {"no_delay", state.no_delay}};
}

SocketState socket_state_from(const nlohmann::json& json) {
    SocketState state;
    state.congestion_control = json.at("congestion_control");
    state.dscp = json.at("dscp");
    if (const std::uint64_t rate = json.at("pacing_bits_per_second"); rate > 0)
        state.pacing_rate = BitRate{rate};
    state.send_buffer_bytes = json.at("send_buffer_bytes");
    state.receive_buffer_bytes = json.at("receive_buffer_bytes");
    state.no_delay = json.at("no_delay");
    return state;
}

} // namespace generator
