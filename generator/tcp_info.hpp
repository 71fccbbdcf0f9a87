#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace generator {

/// What the kernel tells of a connection's sending side (TCP_INFO of tcp(7)); -1: this kernel does not tell.
struct TcpInfo {
    // levels
    std::int64_t rtt_us = -1;     ///< smoothed
    std::int64_t min_rtt_us = -1; ///< of the last minutes
    std::int64_t cwnd_segments = -1;
    std::int64_t delivery_rate_bytes_per_second = -1; ///< the kernel's latest estimate
    // counters, since the connection was opened
    std::int64_t retransmitted_segments = -1;
    std::int64_t delivered_segments = -1;
    std::int64_t ecn_marked_segments = -1; ///< of the delivered ones, by what the receiver says
    std::int64_t acked_bytes = -1;
    std::int64_t busy_us = -1;                ///< with data to send
    std::int64_t receiver_limited_us = -1;    ///< of these: the receiver had no room
    std::int64_t send_buffer_limited_us = -1; ///< of these: the send buffer was too small

    bool operator==(const TcpInfo&) const = default;
};

/// A `struct tcp_info` of linux/tcp.h of which the kernel has filled in so many bytes: older ones know fewer
/// fields.
TcpInfo decode_tcp_info(std::span<const std::byte> filled_in) noexcept;

/// Reads it: one system call. All is -1 when the descriptor is none of TCP.
TcpInfo read_tcp_info(int descriptor) noexcept;

/// Everything that was sent on it is acknowledged; also when the descriptor is none of TCP.
bool all_acknowledged(int descriptor) noexcept;

/// `now` with its counters as what they rose by since `before`; one that fell is unknown.
TcpInfo tcp_difference(const TcpInfo& now, const TcpInfo& before) noexcept;

/// Adds the counters of `more`; the levels stay.
void add_tcp_counters(TcpInfo& sum, const TcpInfo& more) noexcept;

} // namespace generator
