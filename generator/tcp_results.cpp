#include "generator/tcp_results.hpp"

#include "collectors/units.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace generator {
namespace {

void add_known(std::optional<std::int64_t>& sum, std::int64_t value) {
    if (value >= 0)
        sum = sum.value_or(0) + value;
}

std::optional<double> share(const std::optional<std::int64_t>& part,
                            const std::optional<std::int64_t>& whole) {
    if (!part || whole.value_or(0) <= 0)
        return std::nullopt;
    return static_cast<double>(*part) / static_cast<double>(*whole);
}

std::string time_text(double seconds) {
    return collectors::format_duration(std::chrono::nanoseconds(std::llround(seconds * 1e9)));
}

std::string share_text(const std::optional<double>& share) {
    return share ? fmt::format("{:.1f} %", 100 * *share) : "unknown";
}

std::string retransmits_text(const TcpResult& result) {
    if (!result.retransmitted_segments)
        return "retransmits unknown";
    std::string text = fmt::format("retransmits {}", *result.retransmitted_segments);
    if (result.worst) {
        text += " (";
        if (result.retransmitted_in_warmup > 0)
            text += fmt::format("{} in warm-up; ", result.retransmitted_in_warmup);
        text += fmt::format("most: {} from rank {} to {} in iteration {}, bucket {})", result.worst->segments,
                            result.worst->rank, result.worst->peer, result.worst->iteration,
                            result.worst->bucket);
    }
    return text;
}

/// "the whole run, warm-up included"
std::string covered_text(const TcpResult& result) {
    if (!result.left_out_from)
        return "the whole run, warm-up included";
    return fmt::format(
        "iterations 0 to {} of all ranks, warm-up included, and later ones of those ranks whose "
        "log had room",
        std::int64_t{*result.left_out_from} - 1);
}

} // namespace

std::string tcp_method(const TcpResult& result) {
    return fmt::format("TCP_INFO of the connections on which the ranks send, read at the end of each bucket, "
                       "late in an idle gap of 10 ms or more behind it, and at the end of the run; counters "
                       "cover {}; percentiles are over buckets and connections; shares are of the time in "
                       "which a connection had data to send, which the kernel counts in its clock ticks",
                       covered_text(result));
}

std::optional<TcpResult> tcp_result(const std::vector<TcpLog>& logs, std::uint32_t warmup) {
    TcpResult result;
    std::optional<std::int64_t> busy, receiver_limited, send_buffer_limited;
    std::vector<double> rtts, windows;
    for (const TcpLog& log : logs) {
        if (log.left_out_from)
            result.left_out_from =
                std::min(result.left_out_from.value_or(*log.left_out_from), *log.left_out_from);
        for (const TcpRecord& record : log.records) {
            const TcpInfo& info = record.info;
            ++result.records;
            add_known(result.retransmitted_segments, info.retransmitted_segments);
            add_known(result.delivered_segments, info.delivered_segments);
            add_known(result.ecn_marked_segments, info.ecn_marked_segments);
            add_known(result.acked_bytes, info.acked_bytes);
            add_known(busy, info.busy_us);
            add_known(receiver_limited, info.receiver_limited_us);
            add_known(send_buffer_limited, info.send_buffer_limited_us);
            if (record.iteration < warmup)
                result.retransmitted_in_warmup += std::max<std::int64_t>(0, info.retransmitted_segments);
            if (info.retransmitted_segments > (result.worst ? result.worst->segments : 0))
                result.worst = {info.retransmitted_segments, log.rank, record.peer, record.iteration,
                                record.bucket};
            if (info.rtt_us >= 0)
                rtts.push_back(1e-6 * static_cast<double>(info.rtt_us));
            if (info.cwnd_segments >= 0)
                windows.push_back(static_cast<double>(info.cwnd_segments));
            if (info.min_rtt_us >= 0)
                result.min_rtt_seconds = std::min(result.min_rtt_seconds.value_or(1e300),
                                                  1e-6 * static_cast<double>(info.min_rtt_us));
        }
    }
    if (result.records == 0)
        return std::nullopt;
    result.rtt_seconds = distribution(std::move(rtts));
    result.cwnd_segments = distribution(std::move(windows));
    result.receiver_limited_share = share(receiver_limited, busy);
    result.send_buffer_limited_share = share(send_buffer_limited, busy);
    return result;
}

std::string tcp_text(const std::optional<TcpResult>& result, bool asked_for) {
    if (!result)
        return fmt::format("tcp              not measured{}\n",
                           asked_for ? "" : " (sampling.tcp_info of the profile is off)");
    std::string text = fmt::format("tcp              {}", retransmits_text(*result));
    if (result->ecn_marked_segments)
        text += fmt::format(", ECN marks {}", *result->ecn_marked_segments);
    text += "\n                 ";
    if (result->rtt_seconds)
        text += fmt::format("rtt p50 {} p99 {}, ", time_text(result->rtt_seconds->p50),
                            time_text(result->rtt_seconds->p99));
    if (result->cwnd_segments)
        text += fmt::format("cwnd p50 {:.0f} segments, ", result->cwnd_segments->p50);
    text += fmt::format("limited by receiver {}, by send buffer {} of the time\n",
                        share_text(result->receiver_limited_share),
                        share_text(result->send_buffer_limited_share));
    if (result->left_out_from)
        text += fmt::format("                 of {}\n", covered_text(*result));
    return text;
}

} // namespace generator
