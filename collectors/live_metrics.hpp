#pragma once

#include "collectors/online_curve.hpp"
#include "collectors/trace_quality.hpp"

#include <array>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>

namespace collectors {

/// One direction of an interface, as of now.
struct LiveDirection {
    Direction direction = Direction::tx;
    std::uint64_t bytes = 0;                ///< since the recording began
    std::optional<double> bytes_per_second; ///< over the last second, once there are samples
    std::optional<BurstinessCurve> curve;   ///< of the last whole window
};

struct LiveSnapshot {
    std::string host;
    std::string interface;
    TraceQuality quality; ///< since the recording began
    std::array<LiveDirection, 2> directions;
};

/// What a recording has seen so far, while it goes on, in bounded memory. One thread adds samples, others
/// ask. Burstiness is that of the last whole window of 10 s: windows follow one another, so each sample
/// counts once.
class LiveMetrics {
public:
    static constexpr std::chrono::seconds window{10};

    /// `info` needs host, interface, driver and interval.
    explicit LiveMetrics(const TraceInfo& info);

    void add(std::span<const Sample> samples);
    LiveSnapshot snapshot() const;

private:
    struct Flow {
        explicit Flow(Direction of_direction);

        Direction direction;
        OnlineCurve all;     ///< no windows: the total over all segments
        OnlineCurve current; ///< of the window that goes on
        std::optional<BurstinessCurve> last;
    };
    /// Totals from which the rate over the last second comes.
    struct Mark {
        std::int64_t t_ns = 0;
        std::array<std::uint64_t, 2> bytes{};
    };

    void close_window(std::int64_t next_ns);
    void keep_mark(std::int64_t t_ns);

    TraceInfo info_;
    mutable std::mutex mutex_; ///< over all that follows
    OnlineQuality quality_;
    std::array<Flow, 2> flows_;
    std::int64_t window_begin_ns_ = 0;
    std::deque<Mark> marks_; ///< at least 100 ms apart, over the last second
};

} // namespace collectors
