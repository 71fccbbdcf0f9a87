#include "collectors/live_metrics.hpp"

#include <algorithm>
#include <vector>

#include "catch.hpp"

using namespace collectors;
using namespace std::chrono_literals;

namespace {

TraceInfo example_info() {
    TraceInfo info;
    info.host = "node-a";
    info.interface = "eth0";
    info.driver = "virtual";
    info.interval = 1ms;
    return info;
}

/// 1 ms apart; tx: 1000 bytes in each ms, rx: 10 ms of 5000 bytes in each 100 ms. Starts at tick `from`.
std::vector<Sample> ticks(std::int64_t from, std::int64_t to) {
    std::vector<Sample> samples;
    for (std::int64_t tick = from; tick < to; ++tick) {
        const std::int64_t in_bursts = tick / 100 * 10 + std::min<std::int64_t>(tick % 100, 10);
        samples.push_back({tick * 1'000'000, 1000, 1000, 7 + static_cast<std::uint64_t>(in_bursts) * 5000,
                           9 + static_cast<std::uint64_t>(tick) * 1000, 0});
    }
    return samples;
}

const LiveDirection& tx(const LiveSnapshot& snapshot) {
    return snapshot.directions[0];
}
const LiveDirection& rx(const LiveSnapshot& snapshot) {
    return snapshot.directions[1];
}

} // namespace

TEST_CASE("rates are those of the last second, totals those since the start", "[live]") {
    LiveMetrics live(example_info());
    CHECK_FALSE(tx(live.snapshot()).bytes_per_second);
    for (std::int64_t tick = 0; tick < 2500; tick += 100) // as the sampler hands them over
        live.add(ticks(tick, tick + 100));
    const LiveSnapshot snapshot = live.snapshot();
    CHECK(snapshot.host == "node-a");
    CHECK(tx(snapshot).direction == Direction::tx);
    CHECK(tx(snapshot).bytes == 2'499'000);
    CHECK(rx(snapshot).bytes == 25 * 50'000);
    CHECK(tx(snapshot).bytes_per_second.value() == Approx(1e6));
    CHECK(snapshot.quality.samples == 2500);
}

TEST_CASE("the curve is that of the last whole window, however the samples come", "[live]") {
    const std::vector<Sample> samples = ticks(0, 25'000);
    LiveMetrics live(example_info());
    std::span<const Sample> rest = samples;
    for (; rest.size() > 777; rest = rest.subspan(777)) {
        live.add(rest.first(777));
        if (samples.size() - rest.size() + 777 < 10'000)
            CHECK_FALSE(rx(live.snapshot()).curve); // no number before the first window is whole
    }
    live.add(rest);
    const BurstinessCurve curve = rx(live.snapshot()).curve.value();
    // Readings 10,000 to 19,999.
    OnlineCurve expected(standard_windows());
    for (const Sample& sample : std::span(samples).subspan(10'000, 10'000)) {
        const Reading reading = reading_of(sample, Direction::rx);
        expected.add(std::span(&reading, 1));
    }
    CHECK(curve.total_bytes == expected.curve().total_bytes);
    for (std::size_t i = 0; i < curve.points.size(); ++i)
        CHECK(curve.points[i].bytes.estimate == expected.curve().points[i].bytes.estimate);
    CHECK(peak_to_mean(curve, curve.points[3]).estimate == Approx(10).epsilon(0.01)); // at 10 ms
}

TEST_CASE("a pause longer than a window leaves the window before it", "[live]") {
    LiveMetrics live(example_info());
    live.add(ticks(0, 5000));
    std::vector<Sample> later = ticks(47'000, 48'000);
    later.front().flags = missed_ticks;
    live.add(later);
    CHECK(tx(live.snapshot()).curve.value().span == 4999ms);
    CHECK(live.snapshot().quality.missed == 42'000);
    CHECK(tx(live.snapshot()).bytes == 47'999'000);
}
