#include "generator/launch_start.hpp"

#include "collectors/units.hpp"
#include "generator/start_at.hpp"

#include <set>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace generator {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::nanoseconds;

/// On this host's steady clock.
Clock::time_point steady_time(const LaunchLinks& links, WallTime time) {
    const nanoseconds ahead = time - WallTime(std::chrono::system_clock::now());
    if (links.leads() && ahead < nanoseconds{0})
        throw std::runtime_error(fmt::format("--start-at {}: passed {} before all ranks were ready",
                                             wall_time_text(time), collectors::format_duration(-ahead)));
    return Clock::now() + ahead;
}

/// Of each host, on rank 0; all ranks call it.
std::vector<WallClock> compared_wall_clocks(LaunchLinks& links, const std::vector<HostFacts>& ranks,
                                            const std::vector<ClockAlignment>& clocks) {
    const nanoseconds wall_ahead_of_steady = WallTime(std::chrono::system_clock::now()).time_since_epoch() -
                                             nanoseconds(Clock::now().time_since_epoch());
    const std::vector<std::string> aheads =
        links.control.all_gather(std::to_string(wall_ahead_of_steady.count()));
    std::vector<WallClock> compared;
    std::set<std::string> seen{ranks[0].addresses.host};
    for (std::size_t rank = 1; links.leads() && rank < aheads.size(); ++rank) {
        const std::string& host = ranks[rank].addresses.host;
        const ClockOffset steady = clocks[rank].start.value_or(ClockOffset{});
        if (seen.insert(host).second)
            compared.push_back({host,
                                nanoseconds(std::stoll(aheads[rank])) - wall_ahead_of_steady - steady.offset,
                                steady.error});
    }
    return compared;
}

} // namespace

Clock::time_point agree_on_launch_start(LaunchLinks& links, LaunchRecord& record,
                                        const std::vector<HostFacts>& ranks, nanoseconds delay) {
    const std::vector<ClockAlignment> clocks = links.clocks->by_rank();
    std::optional<Clock::time_point> of_rank_0;
    if (record.start_at) {
        record.start_at->clocks = compared_wall_clocks(links, ranks, clocks);
        of_rank_0 = links.control.together([&] { return steady_time(links, record.start_at->time); });
    }
    const Clock::time_point start = links.control.agree_on_start(clocks, of_rank_0, delay);
    record.start_monotonic_ns = nanoseconds(start.time_since_epoch()).count();
    return start;
}

} // namespace generator
