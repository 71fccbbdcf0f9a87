#pragma once

#include "generator/tcp_info.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

/// A connection of one rank as a bucket left it.
struct TcpRecord {
    std::uint32_t iteration = 0;
    std::uint32_t bucket = 0;
    int peer = 0;           ///< the rank that it sends to
    std::uint32_t lane = 0; ///< of the job's connections to that rank
    /// Levels: at the end of the bucket. Counters: from the last reading before the bucket to the last one
    /// before the connection's next bucket. Read at the end of each bucket, late in an idle gap of 10 ms or
    /// more behind it, and at the end of the run. What is not acknowledged by then counts as the next
    /// bucket's; of all buckets together nothing is missing.
    TcpInfo info;

    bool operator==(const TcpRecord&) const = default;
};

/// So many are kept of a rank: 27 MB. ResNet-50 in DDP's buckets over one ring comes to that in four hours.
inline constexpr std::size_t most_tcp_records = 1u << 18;

/// What one rank's sending connections went through. Also of buckets that did not end.
struct TcpLog {
    int rank = 0;
    std::optional<std::uint32_t> left_out_from; ///< the first iteration for which there was no room
    std::vector<TcpRecord> records;

    bool operator==(const TcpLog&) const = default;
};

/// The lines of one rank in tcp.csv, one per record; what the kernel does not tell is empty. So they travel
/// to rank 0, which has no time to format those of all ranks when a run is stopped.
std::string tcp_lines(const TcpLog& log);
/// Throws std::invalid_argument.
TcpLog parse_tcp_lines(std::string_view lines);

/// tcp.csv: a header, and the lines of all ranks.
std::string tcp_csv(const std::vector<std::string_view>& lines_of_ranks);

} // namespace generator
