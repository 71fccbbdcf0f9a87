#pragma once

#include "generator/socket_state.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace generator {

/// How much one end of a flow has moved. Times are on its host's clock, from the job's start.
struct FlowEnd {
    std::uint32_t flow = 0;
    std::uint64_t bytes = 0;
    std::uint64_t messages = 0;         ///< whole ones
    std::vector<std::int64_t> times_ns; ///< of the first messages: sending began, or the last byte was read
    std::string error;                  ///< why the connection was lost; empty: it was not
    SocketState sockets;                ///< as the kernel says; of the own end
};

/// The background traffic of one rank; travels to rank 0.
struct BackgroundReport {
    std::int64_t ended_ns = 0; ///< when this rank stopped sending, on its clock from the job's start
    std::vector<FlowEnd> sent;
    std::vector<FlowEnd> received;
};

std::string serialize(const BackgroundReport& report);
BackgroundReport parse_background_report(const std::string& text);

/// Times are kept of so many messages of all flows of a job; each flow has an equal share.
constexpr std::size_t most_message_times = 500'000;

} // namespace generator
