#include "generator/tcp_log.hpp"

#include <array>
#include <charconv>
#include <iterator>
#include <stdexcept>

#include <fmt/compile.h>

namespace generator {
namespace {

constexpr std::size_t usual_line = 110; // bytes

/// In the order of the columns.
constexpr std::array<std::int64_t TcpInfo::*, 11> info_columns{
    &TcpInfo::rtt_us,
    &TcpInfo::min_rtt_us,
    &TcpInfo::cwnd_segments,
    &TcpInfo::delivery_rate_bytes_per_second,
    &TcpInfo::retransmitted_segments,
    &TcpInfo::delivered_segments,
    &TcpInfo::ecn_marked_segments,
    &TcpInfo::acked_bytes,
    &TcpInfo::busy_us,
    &TcpInfo::receiver_limited_us,
    &TcpInfo::send_buffer_limited_us,
};

/// Reads the next number; numbers are separated by one space.
std::int64_t take_number(std::string_view& text) {
    std::int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{})
        throw std::invalid_argument("tcp log: a number is missing");
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (!text.empty())
        text.remove_prefix(1);
    return value;
}

} // namespace

std::string tcp_csv(const std::vector<TcpLog>& logs) {
    std::size_t lines = 2;
    for (const TcpLog& log : logs)
        lines += log.records.size();
    std::string csv = "rank,iteration,bucket,peer,lane,rtt_us,min_rtt_us,cwnd_segments,"
                      "delivery_rate_bytes_per_second,retransmitted_segments,delivered_segments,"
                      "ecn_marked_segments,acked_bytes,busy_us,receiver_limited_us,send_buffer_limited_us\n";
    csv.reserve(lines * usual_line);
    const auto out = std::back_inserter(csv);
    for (const TcpLog& log : logs)
        for (const TcpRecord& r : log.records) {
            fmt::format_to(out, FMT_COMPILE("{},{},{},{},{}"), log.rank, r.iteration, r.bucket, r.peer,
                           r.lane);
            for (const auto column : info_columns)
                if (const std::int64_t value = r.info.*column; value >= 0)
                    fmt::format_to(out, FMT_COMPILE(",{}"), value);
                else
                    csv += ',';
            csv += '\n';
        }
    return csv;
}

std::string serialize(const TcpLog& log) {
    std::string text;
    text.reserve((log.records.size() + 1) * usual_line);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, FMT_COMPILE("{} {} {}"), log.rank,
                   log.left_out_from ? std::int64_t{*log.left_out_from} : -1, log.records.size());
    for (const TcpRecord& r : log.records) {
        fmt::format_to(out, FMT_COMPILE(" {} {} {} {}"), r.iteration, r.bucket, r.peer, r.lane);
        for (const auto column : info_columns)
            fmt::format_to(out, FMT_COMPILE(" {}"), r.info.*column);
    }
    return text;
}

TcpLog parse_tcp_log(std::string_view text) {
    TcpLog log;
    log.rank = static_cast<int>(take_number(text));
    if (const std::int64_t iteration = take_number(text); iteration >= 0)
        log.left_out_from = static_cast<std::uint32_t>(iteration);
    const std::int64_t records = take_number(text);
    for (std::int64_t i = 0; i < records; ++i) {
        TcpRecord r;
        r.iteration = static_cast<std::uint32_t>(take_number(text));
        r.bucket = static_cast<std::uint32_t>(take_number(text));
        r.peer = static_cast<int>(take_number(text));
        r.lane = static_cast<std::uint32_t>(take_number(text));
        for (const auto column : info_columns)
            r.info.*column = take_number(text);
        log.records.push_back(r);
    }
    return log;
}

} // namespace generator
