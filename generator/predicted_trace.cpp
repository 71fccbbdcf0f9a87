#include "generator/prediction.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

namespace generator {
namespace {

/// At `time` the rates of both directions change by so much (bytes per second).
struct RateChange {
    double time = 0;
    double tx = 0;
    double rx = 0;
};

struct Window {
    double begin = 0;
    double end = 0;
};

/// Of the measured iterations.
Window measured_window(const Prediction& prediction, std::span<const int> ranks) {
    Window window{prediction.iterations.back().front().end, 0};
    for (const int rank : ranks) {
        const auto index = static_cast<std::size_t>(rank);
        window.begin = std::min(window.begin, prediction.iterations[prediction.warmup].at(index).start);
        window.end = std::max(window.end, prediction.iterations.back().at(index).end);
    }
    return window;
}

/// How often one end of a connection is on the NIC that `ranks` share: for each of them that did what the
/// executed rank `here` did, unless its peer, who did what `there` did in the same block, shares it too.
double crossings(int executed_ranks, std::span<const int> ranks, int here, std::optional<int> there) {
    const auto crosses = [&](int rank) {
        return rank % executed_ranks == here &&
               !(there && std::find(ranks.begin(), ranks.end(), rank - here + *there) != ranks.end());
    };
    return static_cast<double>(std::count_if(ranks.begin(), ranks.end(), crosses));
}

std::vector<RateChange> rate_changes(const Prediction& prediction, std::span<const int> ranks, bool loopback,
                                     Window window) {
    std::vector<RateChange> changes;
    for (const ConnectionFlow& connection : prediction.connections) {
        const auto crosses = [&](int here, int there) {
            return crossings(prediction.executed_ranks, ranks, here,
                             connection.between_blocks || loopback ? std::nullopt : std::optional(there));
        };
        const double sends = crosses(connection.from, connection.to);
        const double receives = crosses(connection.to, connection.from);
        if (sends == 0 && receives == 0)
            continue;
        for (const Flow& flow : connection.flows) {
            const double begin = std::max(flow.begin, window.begin);
            const double end = std::min(flow.end, window.end);
            if (begin >= end)
                continue;
            const double tx = sends * flow.rate();
            const double rx = receives * flow.rate();
            changes.push_back({begin, tx, rx});
            changes.push_back({end, -tx, -rx});
        }
    }
    std::sort(changes.begin(), changes.end(),
              [](const RateChange& a, const RateChange& b) { return a.time < b.time; });
    return changes;
}

std::int64_t trace_time(double time, Window window) {
    return std::llround((time - window.begin) * 1e9);
}

/// Bytes of both directions while time goes on; a corner wherever a rate changes.
class Drawing {
public:
    explicit Drawing(Window window) : window_(window), time_(window.begin) { add_corner(); }

    void go_to(double time) {
        tx_ += std::max(0.0, tx_rate_) * (time - time_);
        rx_ += std::max(0.0, rx_rate_) * (time - time_);
        time_ = time;
    }
    void change(const RateChange& change) {
        tx_rate_ += change.tx;
        rx_rate_ += change.rx;
    }
    /// Unless the line goes straight on.
    void add_corner_if_bent() {
        if (std::abs(tx_rate_ - drawn_tx_rate_) > negligible_rate ||
            std::abs(rx_rate_ - drawn_rx_rate_) > negligible_rate)
            add_corner();
    }
    /// Two corners in one nanosecond are one.
    void add_corner() {
        collectors::Sample corner;
        corner.t_ns = trace_time(time_, window_);
        if (samples_.empty() || samples_.back().t_ns < corner.t_ns)
            samples_.push_back(corner);
        samples_.back().tx_bytes = static_cast<std::uint64_t>(std::llround(tx_));
        samples_.back().rx_bytes = static_cast<std::uint64_t>(std::llround(rx_));
        drawn_tx_rate_ = tx_rate_;
        drawn_rx_rate_ = rx_rate_;
    }
    std::vector<collectors::Sample> take() { return std::move(samples_); }

private:
    static constexpr double negligible_rate = 1; ///< bytes per second; left by rounding of sums

    Window window_;
    double time_;
    double tx_ = 0, rx_ = 0;
    double tx_rate_ = 0, rx_rate_ = 0;
    double drawn_tx_rate_ = 0, drawn_rx_rate_ = 0; ///< since the last corner
    std::vector<collectors::Sample> samples_;
};

} // namespace

collectors::Trace predicted_trace(const Prediction& prediction, std::span<const int> ranks, bool loopback) {
    const Window window = measured_window(prediction, ranks);
    const std::vector<RateChange> changes = rate_changes(prediction, ranks, loopback, window);
    Drawing drawing(window);
    for (std::size_t i = 0; i < changes.size();) {
        const std::int64_t instant = trace_time(changes[i].time, window);
        drawing.go_to(changes[i].time);
        for (; i < changes.size() && trace_time(changes[i].time, window) == instant; ++i) {
            drawing.go_to(changes[i].time);
            drawing.change(changes[i]);
        }
        drawing.add_corner_if_bent();
    }
    drawing.go_to(window.end);
    drawing.add_corner();

    collectors::Trace trace;
    trace.info.source = "prediction";
    trace.info.byte_unit = "payload";
    trace.info.complete = true;
    trace.info.reason = "end of the last iteration";
    trace.info.version = GRADBURST_VERSION;
    trace.info.build_type = GRADBURST_BUILD_TYPE;
    trace.samples = drawing.take();
    return trace;
}

} // namespace generator
