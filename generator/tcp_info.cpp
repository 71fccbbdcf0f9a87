#include "generator/tcp_info.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include <linux/sockios.h>
#include <linux/tcp.h> // glibc's netinet/tcp.h ends at tcpi_total_retrans
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

namespace generator {
namespace {

/// A counter, and whether the kernel keeps it in 32 bits.
struct TcpCounter {
    std::int64_t TcpInfo::*value;
    bool wraps;
};

constexpr std::array<TcpCounter, 7> tcp_counters{{
    {&TcpInfo::retransmitted_segments, true},
    {&TcpInfo::delivered_segments, true},
    {&TcpInfo::ecn_marked_segments, true},
    {&TcpInfo::acked_bytes, false},
    {&TcpInfo::busy_us, false},
    {&TcpInfo::receiver_limited_us, false},
    {&TcpInfo::send_buffer_limited_us, false},
}};

constexpr std::uint32_t no_rtt_yet = ~std::uint32_t{0}; // what tcpi_min_rtt holds before the first

} // namespace

TcpInfo decode_tcp_info(std::span<const std::byte> filled_in) noexcept {
    tcp_info kernel{};
    std::memcpy(&kernel, filled_in.data(), std::min(filled_in.size(), sizeof kernel));
    const auto known = [&](std::size_t offset, auto field) {
        return offset + sizeof field <= filled_in.size() ? static_cast<std::int64_t>(field)
                                                         : std::int64_t{-1};
    };
    TcpInfo info;
    info.rtt_us = known(offsetof(tcp_info, tcpi_rtt), kernel.tcpi_rtt);
    if (kernel.tcpi_min_rtt != no_rtt_yet)
        info.min_rtt_us = known(offsetof(tcp_info, tcpi_min_rtt), kernel.tcpi_min_rtt);
    info.cwnd_segments = known(offsetof(tcp_info, tcpi_snd_cwnd), kernel.tcpi_snd_cwnd);
    info.delivery_rate_bytes_per_second =
        known(offsetof(tcp_info, tcpi_delivery_rate), kernel.tcpi_delivery_rate);
    info.retransmitted_segments = known(offsetof(tcp_info, tcpi_total_retrans), kernel.tcpi_total_retrans);
    info.delivered_segments = known(offsetof(tcp_info, tcpi_delivered), kernel.tcpi_delivered);
    info.ecn_marked_segments = known(offsetof(tcp_info, tcpi_delivered_ce), kernel.tcpi_delivered_ce);
    info.acked_bytes = known(offsetof(tcp_info, tcpi_bytes_acked), kernel.tcpi_bytes_acked);
    info.busy_us = known(offsetof(tcp_info, tcpi_busy_time), kernel.tcpi_busy_time);
    info.receiver_limited_us = known(offsetof(tcp_info, tcpi_rwnd_limited), kernel.tcpi_rwnd_limited);
    info.send_buffer_limited_us = known(offsetof(tcp_info, tcpi_sndbuf_limited), kernel.tcpi_sndbuf_limited);
    return info;
}

TcpInfo read_tcp_info(int descriptor) noexcept {
    std::array<std::byte, sizeof(tcp_info)> kernel;
    auto length = static_cast<socklen_t>(kernel.size());
    if (::getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, kernel.data(), &length) != 0)
        length = 0;
    return decode_tcp_info(std::span(kernel).first(length));
}

bool all_acknowledged(int descriptor) noexcept {
    int waiting_bytes = 0; // sent or not
    return ::ioctl(descriptor, SIOCOUTQ, &waiting_bytes) != 0 || waiting_bytes == 0;
}

TcpInfo tcp_difference(const TcpInfo& now, const TcpInfo& before) noexcept {
    TcpInfo difference = now;
    for (const auto& [value, wraps] : tcp_counters) {
        std::int64_t rise = now.*value - before.*value;
        if (wraps)
            rise = static_cast<std::int32_t>(static_cast<std::uint32_t>(rise)); // 2^31 segments are 3 TB
        const bool known = now.*value >= 0 && before.*value >= 0;
        difference.*value = known ? std::max<std::int64_t>(rise, -1) : -1; // none falls while it is open
    }
    return difference;
}

void add_tcp_counters(TcpInfo& sum, const TcpInfo& more) noexcept {
    for (const auto& [value, wraps] : tcp_counters)
        if (sum.*value >= 0 && more.*value >= 0)
            sum.*value += more.*value;
}

} // namespace generator
