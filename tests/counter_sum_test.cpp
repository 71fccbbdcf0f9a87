#include "collectors/burstiness.hpp"
#include "collectors/counter_sum.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "catch.hpp"

using namespace collectors;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

Trace trace_of(const std::vector<std::pair<std::int64_t, std::uint64_t>>& readings,
               std::uint32_t width = 10) {
    Trace trace;
    trace.info.host = "node-a";
    trace.info.interface = "eth0";
    trace.info.complete = true;
    for (const auto& [t, bytes] : readings)
        trace.samples.push_back({t, 0, width, 0, bytes, 0});
    return trace;
}

} // namespace

TEST_CASE("a sum adds the nearest readings, in the window that holds both", "[sum]") {
    const Trace first = trace_of({{0, 100}, {1000, 200}, {2000, 300}});
    const Trace second = trace_of({{5, 7}, {1030, 17}, {1995, 27}});
    const std::vector<SumPart> parts{{&first}, {&second}};
    const Trace sum = sum_of(parts, Direction::tx);
    // In common are the midpoints from 10 to 2000: the first reading of the one and the last of the other
    // drop out. The pace is that of the first trace, [1000, 1010] and nothing else: [1000, 1040], 200 + 17.
    REQUIRE(sum.samples.size() == 1);
    CHECK(sum.samples[0].t_ns == 1000);
    CHECK(sum.samples[0].tx_width_ns == 40);
    CHECK(sum.samples[0].tx_bytes == 217);
    CHECK(sum.info.interface == "node-a:eth0 + node-a:eth0");
}

TEST_CASE("a known offset moves a trace, and its uncertainty widens every window", "[sum]") {
    const Trace first = trace_of({{0, 1}, {1000, 2}, {2000, 3}});
    const Trace second = trace_of({{500'000, 10}, {501'000, 20}, {502'000, 30}});
    const std::vector<SumPart> parts{{&first}, {&second, -500'000ns, 3ns}};
    const Trace sum = sum_of(parts, Direction::tx);
    REQUIRE(sum.samples.size() == 3);
    CHECK(sum.samples[1].t_ns == 997);
    CHECK(sum.samples[1].tx_width_ns == 16);
    CHECK(sum.samples[1].tx_bytes == 22);
    const std::vector<SumPart> apart{{&first}, {&second}};
    CHECK_THROWS_AS(sum_of(apart, Direction::tx), std::invalid_argument);
}

TEST_CASE("an offset that drifts moves each reading by its place between the first and the last", "[sum]") {
    const Trace first = trace_of({{0, 0}, {1000, 10}, {2000, 20}, {3000, 30}, {4000, 40}}, 0);
    // Its clock loses: at its 0, 1000, 2000, 3000 the first trace's shows 500, 1600, 2700, 3800.
    const Trace second = trace_of({{0, 1}, {1000, 2}, {2000, 3}, {3000, 4}}, 0);
    const std::vector<SumPart> parts{{&first}, {&second, 500ns, 0ns, 300ns}};
    const Trace sum = sum_of(parts, Direction::tx);
    // In common is [500, 3800]: of the first trace 1000, 2000, 3000. It gives the pace, and nearest are 500
    // (600 away from it is 1600), 1600 and 2700.
    REQUIRE(sum.samples.size() == 3);
    CHECK(sum.samples[0].t_ns == 500);
    CHECK(sum.samples[0].tx_bytes == 10 + 1);
    CHECK(sum.samples[1].t_ns == 1600);
    CHECK(sum.samples[1].tx_width_ns == 400);
    CHECK(sum.samples[1].tx_bytes == 20 + 2);
    CHECK(sum.samples[2].t_ns == 2700);
    CHECK(sum.samples[2].tx_bytes == 30 + 3);
}

TEST_CASE("an offset that is not known at all gives no sum", "[sum]") {
    const Trace first = trace_of({{0, 1}, {1000, 2}, {2000, 3}});
    const Trace second = trace_of({{0, 10}, {1000, 20}, {2000, 30}});
    const std::vector<SumPart> parts{{&first}, {&second, 0ns, 10s}};
    CHECK_THROWS_AS(sum_of(parts, Direction::tx), std::invalid_argument);
}

TEST_CASE("the same missed ticks of two interfaces count once in their sum", "[sum]") {
    Trace first = trace_of({});
    first.info.interval = 1us;
    first.info.source = "sysfs";
    Trace second = first;
    for (std::int64_t i = 0; i < 1000; ++i) {
        if (i % 10 == 9)
            continue; // one thread reads both: the tick is missed for both
        const std::uint32_t flags = i % 10 == 0 && i > 0 ? std::uint32_t{missed_ticks} : 0U;
        first.samples.push_back({i * 1000, 0, 10, 0, static_cast<std::uint64_t>(i), flags});
        second.samples.push_back({i * 1000 + 20, 0, 10, 0, static_cast<std::uint64_t>(i), flags});
    }
    first.info.missed = second.info.missed = 100;
    const std::vector<SumPart> parts{{&first}, {&second}};
    const InterfaceSummary summary = summarize_sum(parts, Direction::tx, {});
    CHECK(summary.quality.missed_share() == Approx(0.1).epsilon(0.02));
}

TEST_CASE("a sum is as good as the worst of its traces, whichever gives the pace", "[sum]") {
    // The first has fewer samples and misses none; the second is read twice as often, misses a fifth of its
    // ticks in a hole of 200 us.
    Trace slow = trace_of({});
    slow.info.interval = 2us;
    for (std::int64_t i = 0; i < 500; ++i)
        slow.samples.push_back({i * 2000, 0, 10, 0, static_cast<std::uint64_t>(i), 0});
    Trace fast = trace_of({});
    fast.info.host = "node-b";
    fast.info.interval = 1us;
    for (std::int64_t i = 0; i < 1000; ++i)
        if (i < 400 || i >= 600)
            fast.samples.push_back({i * 1000, 0, 10, 0, static_cast<std::uint64_t>(i),
                                    i == 600 ? std::uint32_t{missed_ticks} : 0U});
    fast.info.missed = 200;
    for (const auto complete : {true, false}) {
        fast.info.complete = complete;
        const std::vector<SumPart> parts{{&slow}, {&fast}};
        const InterfaceSummary summary = summarize_sum(parts, Direction::tx, {});
        CHECK(summary.quality.samples > 490);
        CHECK(summary.quality.missed_share() == Approx(0.2).epsilon(0.02));
        CHECK(summary.quality.lateness.max == 200us); // tick 400 was due
        CHECK(summary.quality.gaps.count == 1);
        CHECK(summary.quality.gaps.longest == 201us);
        CHECK(std::any_of(summary.warnings.begin(), summary.warnings.end(), [](const std::string& warning) {
            return warning.starts_with("MISSED TICKS: 20.");
        }));
    }
}

TEST_CASE("a sum with a trace that was cut is not whole", "[sum]") {
    const Trace first = trace_of({{0, 1}, {1000, 2}, {2000, 3}});
    Trace second = first;
    second.info.samples = 3;
    const std::vector<SumPart> parts{{&first}, {&second}};
    CHECK_FALSE(summarize_sum(parts, Direction::tx, {}).whole);
    second.info.samples = 6;
    const InterfaceSummary summary = summarize_sum(parts, Direction::tx, {});
    CHECK(summary.whole == false);
    CHECK_FALSE(summary.info.complete);
    REQUIRE_FALSE(summary.warnings.empty());
    CHECK(summary.warnings[0].starts_with("TRACE IS NOT WHOLE"));
}

TEST_CASE("a counter that started anew starts the sum anew", "[sum]") {
    const Trace first = trace_of({{0, 100}, {1000, 200}, {2000, 300}, {3000, 400}});
    const Trace second = trace_of({{0, 5000}, {1000, 5010}, {2000, 0}, {3000, 10}});
    const std::vector<SumPart> parts{{&first}, {&second}};
    const Trace sum = sum_of(parts, Direction::tx);
    REQUIRE(sum.samples.size() == 4);
    CHECK(sum.samples[1].flags == 0);
    CHECK(sum.samples[2].flags == new_segment);
    CHECK(burstiness_curve(readings(sum, Direction::tx), std::vector<nanoseconds>{1ms}).total_bytes ==
          110 + 110);
}

TEST_CASE("bounds of a sum hold for the true sum, whatever the readings and the clock's error", "[sum]") {
    // Two lines of 1 and 2 bytes per ns that send in turns; the second host's clock is wrong by up to 40 ns.
    std::mt19937_64 random(21);
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
    };
    const auto first_at = [](std::int64_t t) {
        return t / 2000 * 1000 + std::min<std::int64_t>(t % 2000, 1000);
    };
    const auto second_at = [](std::int64_t t) {
        return 2 * (t / 2000 * 1000 + std::max<std::int64_t>(t % 2000 - 1000, 0));
    };
    for (int round = 0; round < 100; ++round) {
        const std::int64_t error = below(81) - 40;
        const auto record = [&](auto value_at, std::int64_t clock_error) {
            Trace trace;
            for (std::int64_t t = below(50); t < 60'000;) {
                const std::int64_t width = below(30);
                const auto value = static_cast<std::uint64_t>(value_at(t + below(width + 1)));
                trace.samples.push_back({t + clock_error, 0, static_cast<std::uint32_t>(width), 0, value, 0});
                t += width + 50 + below(100) + (below(40) == 0 ? 1500 : 0);
            }
            return trace;
        };
        const Trace first = record(first_at, 0);
        const Trace second = record(second_at, error);
        const std::vector<SumPart> parts{{&first}, {&second, 0ns, 40ns}};
        const auto sum = readings(sum_of(parts, Direction::tx), Direction::tx);
        for (const std::int64_t window : {200, 1000, 1700, 5000}) {
            const Bounds bounds = burstiness_curve(sum, std::vector{nanoseconds(window)}).points[0].bytes;
            // In windows inside the recorded time; the traffic repeats each 2000 ns, so that all phases are
            // there.
            std::int64_t most = 0;
            for (std::int64_t t = 4000; t < 6000; ++t)
                most =
                    std::max(most, first_at(t + window) + second_at(t + window) - first_at(t) - second_at(t));
            REQUIRE(bounds.lower <= static_cast<double>(most));
            REQUIRE(bounds.upper >= static_cast<double>(most));
        }
    }
}
