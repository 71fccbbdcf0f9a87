#include "collectors/trace_quality.hpp"

#include "collectors/refresh_period.hpp"

#include "catch.hpp"

using namespace collectors;
using namespace std::chrono_literals;

namespace {

/// Samples each millisecond for `count` ms, 1800 + 1700 ns wide, of whatever `bytes_at` counts.
template <typename BytesAt>
Trace regular_trace(std::int64_t count, BytesAt bytes_at) {
    Trace trace;
    trace.info.interval = 1ms;
    trace.info.source = "fake";
    trace.info.complete = true;
    for (std::int64_t i = 0; i < count; ++i)
        trace.samples.push_back({i * 1'000'000, 1800, 1700, bytes_at(i), 0, 0});
    return trace;
}

std::uint64_t whole(std::int64_t value) {
    return static_cast<std::uint64_t>(value);
}

} // namespace

TEST_CASE("a counter that falls without a flag started anew", "[quality]") {
    Trace trace;
    for (std::int64_t i = 0; i < 10; ++i) {
        const auto bytes = static_cast<std::uint64_t>(i < 5 ? 100 * i : i);
        trace.samples.push_back({i * 1'000'000, 10, 10, 7, bytes, 0});
    }
    CHECK(trace_quality(trace).restarts == 1);
}

TEST_CASE("a gap is more than two intervals", "[quality]") {
    Trace trace = regular_trace(10, whole);
    trace.samples[8].t_ns += 2'000'000; // 7 -> 8: 3 ms
    trace.samples[9].t_ns += 3'000'000; // 8 -> 9: 2 ms, not more than two
    trace.info.missed = 3;
    const TraceQuality quality = trace_quality(trace);
    CHECK(quality.samples == 10);
    CHECK(quality.span == 12ms);
    CHECK(quality.gaps.count == 1);
    CHECK(quality.gaps.longest == 3ms);
    CHECK(quality.gaps.total == 3ms);
    CHECK(quality.achieved_interval.p50 == 1ms);
    CHECK(quality.achieved_interval.max == 3ms);
    CHECK(quality.read_width.max == 3500ns);
    CHECK(quality.missed_share() == Approx(3.0 / 13));
}

TEST_CASE("lateness counts from the tick that was due", "[quality]") {
    Trace trace = regular_trace(5, whole);
    trace.samples[1].t_ns += 100'000;   // 1.1 ms: 0.1 ms late
    trace.samples[2].t_ns += 1'300'000; // 3.3 ms, but tick 2 was due: 1.3 ms late
    trace.samples[2].flags = missed_ticks;
    trace.samples[3].t_ns += 1'000'000; // 4.0 ms: on time
    trace.samples[4].t_ns += 500'000;   // 4.5 ms: the last one, before the next tick: not late
    const TraceQuality quality = trace_quality(trace);
    CHECK(quality.lateness.max == 1300us);
    CHECK(quality.lateness.p50 == 0us); // 0, 0.1, 1.3, 0: the second of four
}

TEST_CASE("an unfinished trace counts its missed ticks from the flags", "[quality]") {
    Trace trace = regular_trace(10, whole);
    trace.info.complete = false;
    for (std::size_t i = 5; i < 10; ++i)
        trace.samples[i].t_ns += 2'000'000; // ticks 5 and 6 are absent
    trace.samples[5].flags = missed_ticks;
    CHECK(trace_quality(trace).missed == 2);
    trace.samples[5].flags = failed_reads;
    CHECK(trace_quality(trace).missed == 0);
    CHECK(trace_quality(trace).failed == 2);
}

TEST_CASE("a sample flagged missed stands for one missed tick at least", "[quality]") {
    Trace trace = regular_trace(10, whole);
    trace.info = {}; // a further file alone: without a sidecar nobody knows the interval
    trace.samples[0].flags = missed_ticks;
    trace.samples[5].flags = missed_ticks;
    trace.samples[7].flags = failed_reads | missed_ticks;
    const TraceQuality quality = trace_quality(trace);
    CHECK_FALSE(quality.ticks_known);
    CHECK(quality.missed == 3);
    CHECK(quality.failed == 1);
    trace.info.interval = 1ms;
    CHECK(trace_quality(trace).ticks_known);
    CHECK(trace_quality(trace).missed == 3);
    trace.info = {};
    trace.info.source = "prediction"; // follows no grid: no tick can be missed
    CHECK(trace_quality(trace).ticks_known);
}

TEST_CASE("the quality of a part counts its own missed ticks, not those of the whole", "[quality]") {
    Trace trace = regular_trace(10, whole);
    trace.info.missed = 77;
    OnlineQuality part(trace.info);
    part.add(std::span(trace.samples).subspan(2, 3));
    CHECK(part.quality(false).samples == 3);
    CHECK(part.quality(false).missed == 0);
    CHECK(readings(trace, Direction::rx, 2ms, 5ms).size() == 3); // 2, 3, 4; the one at 5 ms ends later
}

TEST_CASE("samples that arrive in pieces give the quality of the whole", "[quality]") {
    Trace trace = regular_trace(1000, [](std::int64_t i) { return whole(i / 50 * 6'250'000); });
    trace.samples[500].t_ns += 300'000;
    OnlineQuality pieces(trace.info);
    for (std::size_t i = 0; i < 1000; i += 8)
        pieces.add(std::span(trace.samples).subspan(i, 8));
    CHECK(pieces.quality(true).lateness.max == 300us);
    CHECK(pieces.quality(true).lateness.max == trace_quality(trace).lateness.max);
    CHECK(pieces.quality(true).rx_refresh_period == 50ms);
}

TEST_CASE("an empty trace has no quality, and no crash", "[quality]") {
    const TraceQuality quality = trace_quality(Trace{});
    CHECK(quality.samples == 0);
    CHECK(quality.missed_share() == 0);
}

TEST_CASE("a counter that moves every 50 ms is found out", "[refresh]") {
    const auto stepping = regular_trace(1000, [](std::int64_t i) { return whole(i / 50 * 6'250'000); });
    CHECK(trace_quality(stepping).rx_refresh_period == 50ms);
    CHECK_FALSE(trace_quality(stepping).tx_refresh_period); // nothing flowed
}

TEST_CASE("a refresh that found nothing new leaves a hole of whole periods", "[refresh]") {
    const auto stepping = regular_trace(2000, [](std::int64_t i) {
        const std::int64_t refreshes = i / 50;
        return whole((refreshes - refreshes / 5) * 100'000); // each fifth refresh brings nothing
    });
    CHECK(trace_quality(stepping).rx_refresh_period == 50ms);
}

TEST_CASE("traffic as fast as it is sampled shows no refresh period", "[refresh]") {
    CHECK_FALSE(trace_quality(regular_trace(1000, [](std::int64_t i) {
                    return whole(i * 125'000);
                })).rx_refresh_period);
    const auto bursts = regular_trace(1000, [](std::int64_t i) {
        return whole((i / 100 * 10 + std::min<std::int64_t>(i % 100, 10)) *
                     125'000); // 10 ms bursts each 100 ms
    });
    CHECK_FALSE(trace_quality(bursts).rx_refresh_period);
}

TEST_CASE("single small packets on an idle link are no refresh period", "[refresh]") {
    CHECK_FALSE(trace_quality(regular_trace(1000, [](std::int64_t i) {
                    return whole(i / 100 * 60);
                })).rx_refresh_period);
}

TEST_CASE("a device counted by the kernel itself is never slow", "[refresh]") {
    auto stepping = regular_trace(1000, [](std::int64_t i) { return whole(i / 50 * 6'250'000); });
    stepping.info.driver = "virtual";
    CHECK_FALSE(trace_quality(stepping).rx_refresh_period);
}
