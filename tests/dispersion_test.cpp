#include "collectors/dispersion.hpp"
#include "collectors/period.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <vector>

#include "catch.hpp"

using namespace collectors;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

std::vector<DispersionPoint> dispersion(const std::vector<Reading>& readings,
                                        std::vector<nanoseconds> windows) {
    OnlineDispersion online(windows);
    online.add(readings);
    return online.points();
}

/// `bytes` at each 1 ms, read within 2 us.
std::vector<Reading> each_millisecond(const std::vector<std::uint64_t>& bytes) {
    std::vector<Reading> readings;
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        const auto begin = static_cast<std::int64_t>(i) * 1'000'000;
        readings.push_back({begin, begin + 2000, bytes[i], false});
    }
    return readings;
}

/// Bursts of `length` at 1 byte per ns each `period`, for `span`, read each 500 us.
std::vector<Reading> bursts(nanoseconds period, nanoseconds length, nanoseconds span) {
    std::vector<Reading> readings;
    for (std::int64_t t = 0; t <= span.count(); t += 500'000) {
        const std::int64_t bytes =
            t / period.count() * length.count() + std::min<std::int64_t>(t % period.count(), length.count());
        readings.push_back({t, t + 2000, static_cast<std::uint64_t>(bytes), false});
    }
    return readings;
}

std::optional<Period> period_of(const std::vector<Reading>& readings, nanoseconds cell = 2ms,
                                std::size_t most_cells = 65'536) {
    ActivitySeries series(cell, most_cells);
    series.add(readings);
    return find_period(series.bytes(), series.cell());
}

} // namespace

TEST_CASE("variation per window is what a hand computes", "[dispersion]") {
    // 1 ms windows: 100, 0, 200, 100. Mean 100, squares 0 + 10,000 + 10,000 + 0, variance 20,000 / 3.
    // 2 ms windows: 100, 300. Mean 200, variance (10,000 + 10,000) / 1.
    const auto points = dispersion(each_millisecond({0, 100, 100, 300, 400}), {1ms, 2ms, 8ms});
    CHECK(points[0].count == 4);
    CHECK(points[0].mean_bytes == Approx(100));
    CHECK(points[0].coefficient_of_variation == Approx(std::sqrt(20'000.0 / 3) / 100));
    CHECK(points[0].index_of_dispersion_bytes == Approx(20'000.0 / 3 / 100));
    CHECK(points[1].count == 2);
    CHECK(points[1].coefficient_of_variation == Approx(std::sqrt(20'000.0) / 200));
    CHECK(points[1].index_of_dispersion_bytes == Approx(100));
    CHECK(points[2].count == 0);
    CHECK_FALSE(points[0].shown()); // fewer than 10 windows
}

TEST_CASE("packets of one size at random have that size as index of dispersion at every scale",
          "[dispersion]") {
    std::mt19937_64 random(3);
    std::poisson_distribution<int> packets(2.0);
    std::vector<std::uint64_t> bytes{0};
    for (int i = 0; i < 200'000; ++i)
        bytes.push_back(bytes.back() + 1500 * static_cast<std::uint64_t>(packets(random)));
    for (const DispersionPoint& point : dispersion(each_millisecond(bytes), {1ms, 10ms, 100ms})) {
        CHECK(point.shown());
        CHECK(point.index_of_dispersion_bytes == Approx(1500).epsilon(0.1));
    }
}

TEST_CASE("a window whose ends nobody saw is left out", "[dispersion]") {
    std::vector<Reading> readings = each_millisecond({0, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1000});
    readings.erase(readings.begin() + 3, readings.begin() + 6); // nothing read from 2 to 6 ms
    // Ends at 3, 4 and 5 ms are unknown: the windows from 2 to 6 ms.
    CHECK(dispersion(readings, {1ms})[0].count == 6);
    // At 4 ms: the readings around it are 4 ms apart, two windows.
    CHECK(dispersion(readings, {2ms})[0].count == 3);
    readings = each_millisecond({0, 100, 200, 5, 105, 205}); // the counter started anew between 2 and 3 ms
    const DispersionPoint point = dispersion(readings, {1ms})[0];
    CHECK(point.count == 4); // all but the one from 2 to 3 ms
    CHECK(point.mean_bytes == Approx(100));
}

TEST_CASE("the period of bursts is found to a fraction of a cell", "[period]") {
    const auto period = period_of(bursts(100ms, 10ms, 5s));
    REQUIRE(period);
    CHECK(static_cast<double>(period->length.count()) == Approx(100e6).epsilon(0.002));
    CHECK(period->autocorrelation > 0.9);
    // 10.35 cells of 2 ms: no whole number of cells.
    CHECK(static_cast<double>(period_of(bursts(20'700us, 1ms, 5s)).value().length.count()) ==
          Approx(20.7e6).epsilon(0.005));
    // Traffic most of the time has a period too.
    CHECK(static_cast<double>(period_of(bursts(100ms, 90ms, 5s)).value().length.count()) ==
          Approx(100e6).epsilon(0.002));
}

TEST_CASE("cells are merged when there are too many, and the period stays", "[period]") {
    ActivitySeries series(2ms, 256);
    series.add(bursts(500ms, 50ms, 20s)); // 10,000 cells of 2 ms
    CHECK(series.cell() == 128ms);        // 20 s hold 156 of them
    CHECK(series.bytes().size() == 156);
    CHECK(static_cast<double>(period_of(bursts(500ms, 50ms, 20s), 2ms, 1024).value().length.count()) ==
          Approx(500e6).epsilon(0.01));
}

TEST_CASE("a hole of years costs no time", "[period]") {
    std::vector<Reading> readings;
    for (std::int64_t t = 0; t < 1000; ++t)
        readings.push_back({t * 1'000'000, t * 1'000'000 + 10, static_cast<std::uint64_t>(t), false});
    readings.push_back({1'000'000'000'000'000'000, 1'000'000'000'000'000'010, 2000, false}); // 32 years
    ActivitySeries series(100us);
    series.add(readings);
    CHECK(series.bytes().size() <= 65'536);
    OnlineDispersion dispersion(std::vector<nanoseconds>{1ms}, 1ms);
    dispersion.add(readings);
    CHECK(dispersion.points()[0].count == 999); // those before the hole
    OnlineDispersion of_lines(std::vector<nanoseconds>{1ms});
    of_lines.add(std::vector<Reading>{{0, 0, 0, false}, {1LL << 60, 1LL << 60, 1, false}});
    CHECK(of_lines.points()[0].count == 0);
}

TEST_CASE("no period is invented", "[period]") {
    CHECK_FALSE(period_of({}));
    CHECK_FALSE(period_of(bursts(100ms, 100ms, 5s)));   // constant
    CHECK_FALSE(period_of(bursts(100ms, 10ms, 250ms))); // less than three periods
    std::mt19937_64 random(4);
    std::vector<std::uint64_t> bytes{0};
    for (int i = 0; i < 20'000; ++i)
        bytes.push_back(bytes.back() + random() % 3000);
    CHECK_FALSE(period_of(each_millisecond(bytes)));
}

namespace {

/// A packet of 64 bytes at each of these milliseconds, in so many of them.
std::optional<Period> period_of_packets(const std::vector<int>& at, int milliseconds) {
    std::vector<std::uint64_t> bytes{0};
    for (int t = 0; t < milliseconds; ++t)
        bytes.push_back(bytes.back() + 64 * static_cast<std::uint64_t>(std::count(at.begin(), at.end(), t)));
    return period_of(each_millisecond(bytes));
}

} // namespace

TEST_CASE("what happened once or twice is no period", "[period]") {
    CHECK_FALSE(period_of_packets({1000, 1180, 4200}, 6000));         // one distance of 180 ms
    CHECK_FALSE(period_of_packets({1000, 2000, 3000}, 6000));         // two of 1 s
    CHECK_FALSE(period_of_packets({1000, 2000, 3000, 4000}, 13'000)); // three
    CHECK(period_of_packets({500, 1500, 2500, 3500, 4500}, 6000));    // four
    CHECK_FALSE(period_of(bursts(100ms, 10ms, 390ms)));
    CHECK(period_of(bursts(100ms, 10ms, 600ms)));
}

TEST_CASE("a distance within pairs that come at random is no period", "[period]") {
    std::mt19937_64 random(5);
    std::vector<int> at;
    for (int t = 500; t < 58'000; t += 1000 + static_cast<int>(random() % 4000)) {
        at.push_back(t);
        at.push_back(t + 180);
    }
    CHECK_FALSE(period_of_packets(at, 60'000));
    // With an answer each time, pairs that come each 3 s have the period of 3 s.
    at.clear();
    for (int t = 500; t < 58'000; t += 3000) {
        at.push_back(t);
        at.push_back(t + 180);
    }
    REQUIRE(period_of_packets(at, 60'000));
    CHECK(static_cast<double>(period_of_packets(at, 60'000)->length.count()) == Approx(3e9).epsilon(0.002));
}

TEST_CASE("a period that jitters stays one, also if the job took a part of the trace", "[period]") {
    std::mt19937_64 random(6);
    std::normal_distribution<double> jitter(0, 4);
    std::vector<int> at;
    double t = 20'000;
    for (int i = 0; i < 60; ++i, t += 200 + jitter(random))
        for (int width = 0; width < 40; ++width)
            at.push_back(static_cast<int>(t) + width);
    const auto period = period_of_packets(at, 60'000);
    REQUIRE(period);
    CHECK(static_cast<double>(period->length.count()) == Approx(200e6).epsilon(0.03));
}

TEST_CASE("a train of buckets within each iteration has the iteration's period", "[period]") {
    // 200 ms: buckets of 4 ms at 100, 120, 150, 155 and 180 ms.
    std::vector<Reading> readings;
    std::uint64_t bytes = 0;
    for (std::int64_t t = 0; t < 10'000; ++t) {
        const std::int64_t phase = t % 200;
        for (const std::int64_t start : {100, 120, 150, 155, 180})
            bytes += phase >= start && phase < start + 4 ? 1'000'000U : 0U;
        readings.push_back({t * 1'000'000, t * 1'000'000 + 2000, bytes, false});
    }
    CHECK(static_cast<double>(period_of(readings, 4ms).value().length.count()) ==
          Approx(200e6).epsilon(0.002));
}
