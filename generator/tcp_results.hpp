#pragma once

#include "generator/run_statistics.hpp"
#include "generator/tcp_log.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace generator {

/// What the ranks' own connections went through in the whole run, warm-up included, as far as their logs had
/// room. Empty where the kernel does not tell.
struct TcpResult {
    /// The bucket and connection that was hit hardest.
    struct Worst {
        std::int64_t segments = 0;
        int rank = 0;
        int peer = 0;
        std::uint32_t iteration = 0;
        std::uint32_t bucket = 0;
    };

    std::uint64_t records = 0;
    std::optional<std::uint32_t> left_out_from; ///< the first iteration that is not in it of all ranks
    std::optional<std::int64_t> retransmitted_segments;
    std::int64_t retransmitted_in_warmup = 0; ///< of these
    std::optional<Worst> worst;               ///< if there were any
    std::optional<std::int64_t> delivered_segments;
    std::optional<std::int64_t> ecn_marked_segments;
    std::optional<std::int64_t> acked_bytes;
    std::optional<Distribution> rtt_seconds;   ///< over all records
    std::optional<Distribution> cwnd_segments; ///< over all records
    std::optional<double> min_rtt_seconds;
    std::optional<double> receiver_limited_share;    ///< of the time with data to send
    std::optional<double> send_buffer_limited_share; ///< of the time with data to send
};

/// nullopt if there is no record.
std::optional<TcpResult> tcp_result(const std::vector<TcpLog>& logs, std::uint32_t warmup);

/// Two lines for people.
std::string tcp_text(const std::optional<TcpResult>& result, bool asked_for);

/// For run.json: what was read when, and what part of the run it covers.
std::string tcp_method(const TcpResult& result);

} // namespace generator
