#include "generator/socket_state.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace generator {
namespace {

std::string buffer_text(std::uint64_t bytes) {
    return collectors::format_bytes(static_cast<double>(bytes));
}

std::string rate_text(const BitRate& rate) {
    return collectors::format_bit_rate(static_cast<double>(rate.bits_per_second));
}

} // namespace

void add_use(std::vector<SocketUse>& uses, int rank, SocketState state, const SocketSettings& asked) {
    if (state.congestion_control.empty())
        return;
    if (!asked.send_buffer_bytes) // grows as the kernel sees fit
        state.send_buffer_bytes = 0;
    if (!asked.receive_buffer_bytes)
        state.receive_buffer_bytes = 0;
    const auto same =
        std::find_if(uses.begin(), uses.end(), [&](const SocketUse& each) { return each.state == state; });
    if (same == uses.end())
        uses.push_back({state, {rank}});
    else if (same->ranks.back() != rank) // of one of its connections
        same->ranks.push_back(rank);
}

std::string congestion_controls(const std::vector<SocketUse>& uses) {
    std::vector<std::string> names;
    for (const SocketUse& use : uses)
        if (std::find(names.begin(), names.end(), use.state.congestion_control) == names.end())
            names.push_back(use.state.congestion_control);
    return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> socket_warnings(const std::vector<SocketUse>& uses, const SocketSettings& asked) {
    std::vector<std::string> warnings;
    for (const SocketUse& use : uses) {
        const auto differs = [&](std::string_view what, const std::string& wanted, const std::string& found,
                                 std::string_view why) {
            warnings.push_back(fmt::format("{} NOT AS ASKED on rank {}: {} instead of {}{}", what,
                                           fmt::join(use.ranks, ", "), found, wanted, why));
        };
        if (asked.dscp && use.state.dscp != *asked.dscp)
            differs("DSCP", std::to_string(*asked.dscp), std::to_string(use.state.dscp), "");
        if (asked.pacing_rate && (!use.state.pacing_rate || use.state.pacing_rate->bits_per_second / 8 !=
                                                                asked.pacing_rate->bits_per_second / 8))
            differs("PACING RATE", rate_text(*asked.pacing_rate),
                    use.state.pacing_rate ? rate_text(*use.state.pacing_rate) : "none", "");
        if (asked.send_buffer_bytes && use.state.send_buffer_bytes / 2 < *asked.send_buffer_bytes)
            differs("SEND BUFFER", buffer_text(*asked.send_buffer_bytes),
                    buffer_text(use.state.send_buffer_bytes / 2), " (net.core.wmem_max of the host)");
        if (asked.receive_buffer_bytes && use.state.receive_buffer_bytes / 2 < *asked.receive_buffer_bytes)
            differs("RECEIVE BUFFER", buffer_text(*asked.receive_buffer_bytes),
                    buffer_text(use.state.receive_buffer_bytes / 2), " (net.core.rmem_max of the host)");
        if (asked.no_delay != use.state.no_delay)
            differs("TCP_NODELAY", asked.no_delay ? "on" : "off", use.state.no_delay ? "on" : "off", "");
    }
    if (congestion_controls(uses).find(',') != std::string::npos)
        warnings.push_back(fmt::format("HOSTS DIFFER IN CONGESTION CONTROL: {}; choose one with "
                                       "--congestion-control",
                                       congestion_controls(uses)));
    return warnings;
}

std::string socket_text(const std::vector<SocketUse>& uses, const SocketSettings& asked) {
    std::vector<std::string> parts;
    for (const SocketUse& use : uses) {
        if (asked.dscp)
            parts.push_back(fmt::format("DSCP {}", use.state.dscp));
        if (asked.pacing_rate)
            parts.push_back(use.state.pacing_rate ? "paced at " + rate_text(*use.state.pacing_rate)
                                                  : "not paced");
        if (asked.send_buffer_bytes)
            parts.push_back("send buffer " + buffer_text(use.state.send_buffer_bytes / 2));
        if (asked.receive_buffer_bytes)
            parts.push_back("receive buffer " + buffer_text(use.state.receive_buffer_bytes / 2));
        if (!asked.no_delay)
            parts.push_back(use.state.no_delay ? "TCP_NODELAY on" : "TCP_NODELAY off");
        break; // the others are in run.json, and in a warning if they differ
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

} // namespace generator
