#pragma once

#include "generator/profile.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// What the kernel says of a rank's data connections. Buffers are counted as the kernel does, which doubles
/// what is asked for: half of them is for its own bookkeeping.
struct SocketState {
    std::string
        congestion_control; ///< of the sending side, as all but the receive buffer; empty: no connection
    std::uint32_t dscp = 0;
    std::optional<BitRate> pacing_rate; ///< empty: not limited
    std::uint64_t send_buffer_bytes = 0;
    std::uint64_t receive_buffer_bytes = 0; ///< of the receiving side
    bool no_delay = false;

    bool operator==(const SocketState&) const = default;
};

/// Ranks whose connections are in the same state.
struct SocketUse {
    SocketState state;
    std::vector<int> ranks;
};

/// Adds a rank to those that have the same, apart from buffers that the kernel sizes by itself; all
/// connections of a rank one after another.
void add_use(std::vector<SocketUse>& uses, int rank, SocketState state, const SocketSettings& asked);

/// "bbr", or "bbr, cubic" where hosts differ; empty without connections.
std::string congestion_controls(const std::vector<SocketUse>& uses);

/// What was asked for and is not so; one line each.
std::vector<std::string> socket_warnings(const std::vector<SocketUse>& uses, const SocketSettings& asked);

/// "DSCP 46, paced at 1 Gbit/s, send buffer 425.9 kB ...": what was asked for, as it is.
std::string socket_text(const std::vector<SocketUse>& uses, const SocketSettings& asked);

} // namespace generator
