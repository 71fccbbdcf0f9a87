#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace generator {

using WallTime = std::chrono::time_point<std::chrono::system_clock, std::chrono::nanoseconds>;

/// RFC 3339 ("2026-12-02T23:59:00Z", "2026-12-03T00:59:00.5+01:00") or seconds since 1970 ("1796255940.5").
/// Throws UserError.
WallTime parse_wall_time(const std::string& text);

/// "2026-12-02T23:59:00.500Z"
std::string wall_time_text(WallTime time);

/// What a run says of a start that lies so far ahead: "in 12.3 s". Throws UserError for one in the past, by
/// how much.
std::string time_ahead_text(WallTime start, WallTime now);

/// How far the wall clock of a host is ahead of rank 0's.
struct WallClock {
    std::string host;
    std::chrono::nanoseconds ahead{0};
    std::chrono::nanoseconds uncertainty{0};
};

/// A start by the wall clock, so that separate launches meet.
struct StartAt {
    WallTime time;
    std::string discipline;        ///< of rank 0's clock, as its kernel says
    std::vector<WallClock> clocks; ///< of the other hosts; compared shortly before the start
    std::optional<WallTime>
        began; ///< when that instant came, by rank 0's clock afterwards: shows if it was set
};

/// What rank 0 says of the clocks before the start.
std::string start_at_text(const StartAt& start);
/// The same for run.json and launch.json.
std::string start_at_json(const StartAt& start);

/// What the kernel says of this host's wall clock: "synchronised, at most 1.2 ms off", or that it is not.
std::string clock_discipline();

} // namespace generator
