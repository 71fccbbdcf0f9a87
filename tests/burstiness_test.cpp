#include "collectors/burstiness.hpp"
#include "collectors/bursts.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "catch.hpp"

using namespace collectors;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

Bounds bytes_in(const std::vector<Reading>& readings, nanoseconds window) {
    return burstiness_curve(readings, std::vector{window}).points.front().bytes;
}

/// A recording whose truth is known: A rises in a straight line between `corners`, and each reading held the
/// value at a hidden instant within its window.
struct KnownTraffic {
    std::vector<double> corner_ns;
    std::vector<double> corner_bytes;
    std::vector<double> instants;
    std::vector<Reading> readings;

    double at(double instant) const {
        const auto after = std::upper_bound(corner_ns.begin(), corner_ns.end(), instant) - corner_ns.begin();
        if (after == 0)
            return corner_bytes.front();
        if (after == std::ssize(corner_ns))
            return corner_bytes.back();
        const auto k = static_cast<std::size_t>(after);
        const double share = (instant - corner_ns[k - 1]) / (corner_ns[k] - corner_ns[k - 1]);
        return corner_bytes[k - 1] + share * (corner_bytes[k] - corner_bytes[k - 1]);
    }

    /// The true E by brute force. The supremum has an end at a corner or at an end of the recorded time.
    double most_bytes(double window) const {
        const double first = instants.front();
        const double last = instants.back();
        std::vector<double> starts{first, last - window};
        for (const double corner : corner_ns) {
            starts.push_back(corner);
            starts.push_back(corner - window);
        }
        double most = 0;
        for (double start : starts) {
            start = std::max(first, start);
            const double end = std::min(last, start + window);
            if (start <= last)
                most = std::max(most, at(end) - at(start));
        }
        return most;
    }

    /// The true B_max by Lindley's recursion over the corners and the ends of the recorded time.
    double largest_queue(double bytes_per_ns) const {
        std::vector<double> places{instants.front(), instants.back()};
        for (const double corner : corner_ns)
            if (corner > instants.front() && corner < instants.back())
                places.push_back(corner);
        std::sort(places.begin(), places.end());
        double queue = 0;
        double largest = 0;
        for (std::size_t i = 1; i < places.size(); ++i) {
            const double sent = bytes_per_ns * (places[i] - places[i - 1]);
            queue = std::max(0.0, queue + at(places[i]) - at(places[i - 1]) - sent);
            largest = std::max(largest, queue);
        }
        return largest;
    }
};

/// Bursts and pauses of random length, read at random distances with random widths. All bytes are whole: A is
/// rounded where it is read, so the truth is known to one byte.
KnownTraffic random_traffic(std::mt19937_64& random) {
    const auto between = [&](double low, double high) {
        return std::uniform_real_distribution<double>(low, high)(random);
    };
    KnownTraffic traffic;
    double time = 0;
    double bytes = 0;
    for (int i = 0; i < 30; ++i) {
        traffic.corner_ns.push_back(time);
        traffic.corner_bytes.push_back(bytes);
        time += between(10, 5000);
        bytes += i % 2 == 0 ? between(0, 1e6) : 0;
    }
    std::int64_t begin = static_cast<std::int64_t>(between(0, 500));
    while (static_cast<double>(begin) < time) {
        const auto width =
            static_cast<std::int64_t>(between(0, 1) < 0.1 ? between(0, 4000) : between(0, 200));
        const double instant = static_cast<double>(begin) + between(0, 1) * static_cast<double>(width);
        traffic.instants.push_back(instant);
        traffic.readings.push_back(
            {begin, begin + width, static_cast<std::uint64_t>(traffic.at(instant)), false});
        begin += width + static_cast<std::int64_t>(between(0, 1) < 0.05 ? between(0, 8000) : between(1, 900));
    }
    return traffic;
}

} // namespace

TEST_CASE("four exact readings give the curve that a hand computes", "[burstiness]") {
    // A: 0 at 0, 10 at 10, 10 at 20, 40 at 30. The steepest line is 3 bytes per ns from 20 to 30.
    const std::vector<Reading> readings{
        {0, 0, 0, false}, {10, 10, 10, false}, {20, 20, 10, false}, {30, 30, 40, false}};
    const BurstinessCurve curve = burstiness_curve(readings, std::vector{5ns, 10ns, 15ns, 30ns, 31ns});
    CHECK(curve.total_bytes == 40);
    CHECK(curve.span == 30ns);
    CHECK(curve.mean_bytes_per_second == Approx(40 / 30e-9));
    // 5 ns: no pair of readings is that close; the line gives 3 x 5 = 15; [20, 30] may hold all 30 in a
    // moment, and a window that starts between 10 and 20 may reach beyond 20: A(30) - A(10) = 30.
    CHECK(curve.points[0].bytes.lower == 0);
    CHECK(curve.points[0].bytes.estimate == Approx(15));
    CHECK(curve.points[0].bytes.upper == 30);
    // 10 ns: A(30) - A(20) = 30.
    CHECK(curve.points[1].bytes.lower == 30);
    CHECK(curve.points[1].bytes.estimate == Approx(30));
    // 15 ns: certain 30. On the line from 15 to 30: 40 - 10 = 30. Starting before 10 and ending after 20: at
    // most 40.
    CHECK(curve.points[2].bytes.lower == 30);
    CHECK(curve.points[2].bytes.estimate == Approx(30));
    CHECK(curve.points[2].bytes.upper == 40);
    CHECK(curve.points[3].bytes.lower == 40);
    CHECK(curve.points[3].bytes.upper == 40);
    CHECK(curve.points[3].resolved);
    CHECK_FALSE(curve.points[4].resolved); // longer than the trace
    // PtM(10 ns) = 30 / (10 x 40 / 30) = 2.25
    CHECK(peak_to_mean(curve, curve.points[1]).estimate == Approx(2.25));
}

TEST_CASE("the width of the reads moves both bounds", "[burstiness]") {
    // Read i lies in [10 i, 10 i + 2]; 100 bytes arrive between reads 1 and 2.
    const std::vector<Reading> readings{
        {0, 2, 0, false}, {10, 12, 0, false}, {20, 22, 100, false}, {30, 32, 100, false}};
    CHECK(bytes_in(readings, 11ns).lower == 0); // e_2 - b_1 = 12 > 11
    CHECK(bytes_in(readings, 12ns).lower == 100);
    CHECK(bytes_in(readings, 1ns).upper == 100);
    CHECK(bytes_in(readings, 1ns).estimate == Approx(10)); // midpoints 11 and 21
}

TEST_CASE("lower <= truth <= upper for any traffic, width and spacing", "[burstiness]") {
    std::mt19937_64 random(20240329);
    for (int round = 0; round < 400; ++round) {
        const KnownTraffic traffic = random_traffic(random);
        REQUIRE(traffic.readings.size() > 3);
        for (const auto window : {1ns, 50ns, 500ns, 1777ns, 5000ns, 20'000ns, 60'000ns, 1'000'000ns}) {
            const Bounds bounds = bytes_in(traffic.readings, window);
            const double truth = traffic.most_bytes(static_cast<double>(window.count()));
            INFO("round " << round << " window " << window.count());
            REQUIRE(bounds.lower <= truth + 1);
            REQUIRE(bounds.upper >= truth - 1);
            REQUIRE(bounds.lower <= bounds.estimate);
            REQUIRE(bounds.estimate <= bounds.upper);
        }
        for (const double bytes_per_ns : {0.01, 1.0, 20.0, 100.0, 300.0, 2000.0}) {
            const BitRate rate{static_cast<std::uint64_t>(8e9 * bytes_per_ns)};
            const Bounds bounds = max_backlog(traffic.readings, rate);
            const double truth = traffic.largest_queue(bytes_per_ns);
            INFO("round " << round << " rate " << bytes_per_ns);
            REQUIRE(bounds.lower <= truth + 1);
            REQUIRE(bounds.upper >= truth - 1);
            REQUIRE(bounds.lower <= bounds.estimate);
            REQUIRE(bounds.estimate <= bounds.upper);
        }
    }
}

TEST_CASE("dense reads close in on the truth", "[burstiness]") {
    // 1 ms bursts of 1 byte per ns every 10 ms, read every 10 us within 1 us.
    std::vector<Reading> readings;
    for (std::int64_t t = 0; t < 100'000'000; t += 10'000) {
        const std::int64_t in_burst = std::min<std::int64_t>(t % 10'000'000, 1'000'000);
        readings.push_back(
            {t, t + 1000, static_cast<std::uint64_t>(t / 10'000'000 * 1'000'000 + in_burst), false});
    }
    const Bounds half = bytes_in(readings, 500us); // truth 500,000; each bound is at most two reads away
    CHECK(half.lower >= 480'000);
    CHECK(half.lower <= 500'000);
    CHECK(half.estimate == Approx(500'000).epsilon(0.01));
    CHECK(half.upper >= 500'000);
    CHECK(half.upper <= 522'000);
}

TEST_CASE("no difference spans a counter that started anew", "[burstiness]") {
    const std::vector<Reading> readings{{0, 1, 1000, false},
                                        {10, 11, 1005, false},
                                        {20, 21, 7, true},
                                        {30, 31, 9, false},
                                        {40, 41, 9000, true}};
    const BurstinessCurve curve = burstiness_curve(readings, std::vector{40ns});
    CHECK(curve.total_bytes == 7); // 5 + 2
    CHECK(curve.points[0].bytes.lower == 5);
    CHECK(curve.points[0].bytes.upper == 5);
    CHECK(max_backlog(readings, BitRate{1}).upper < 6);
}

TEST_CASE("a counter that falls without a flag is a segment as well", "[burstiness]") {
    const std::vector<Reading> readings{{0, 1, 1000, false}, {10, 11, 1005, false}, {20, 21, 7, false}};
    const BurstinessCurve curve = burstiness_curve(readings, std::vector{20ns});
    CHECK(curve.total_bytes == 5);
    CHECK(curve.points[0].bytes.upper == 5);
}

TEST_CASE("a stall with late samples makes no peak", "[burstiness]") {
    // Steady 1 byte per ns, read each 100 us within 2 us; the sampler stalls for 3 ms once, then is late by
    // up to 90 us.
    std::vector<Reading> readings;
    std::mt19937_64 random(7);
    std::uniform_int_distribution<std::int64_t> lateness(0, 90'000);
    for (std::int64_t tick = 0; tick < 2000; ++tick) {
        if (tick > 1000 && tick < 1030)
            continue;
        const std::int64_t t = tick * 100'000 + lateness(random);
        readings.push_back({t, t + 2000, static_cast<std::uint64_t>(t + 1000), false});
    }
    const BurstinessCurve curve = burstiness_curve(readings, std::vector<nanoseconds>{1ms, 2ms});
    for (const BurstinessPoint& point : curve.points) {
        const Bounds ratio = peak_to_mean(curve, point);
        CHECK(ratio.lower <= 1.001);
        CHECK(ratio.estimate == Approx(1.0).epsilon(0.01));
    }
}

TEST_CASE("constant rate has a peak to mean of 1 and no backlog", "[burstiness]") {
    std::vector<Reading> readings;
    for (std::int64_t t = 0; t < 1'000'000'000; t += 500'000)
        readings.push_back({t, t, static_cast<std::uint64_t>(t / 8), false}); // 1 Gbit/s
    const BurstinessCurve curve = burstiness_curve(readings, std::vector<nanoseconds>{5ms, 50ms});
    CHECK(peak_to_mean(curve, curve.points[0]).estimate == Approx(1.0));
    CHECK(peak_to_mean(curve, curve.points[1]).estimate == Approx(1.0));
    CHECK(max_backlog(readings, BitRate{1'000'000'000}).estimate == Approx(0).margin(1));
}

TEST_CASE("a prediction is exact: PtM = T / max(tau, L) for a burst of length L each T", "[burstiness]") {
    // L = 10 ms at 1 Gbit/s each 600 ms, only corners are given: the 60:1 of arXiv 2401.00329 at 5 ms.
    std::vector<Reading> readings;
    std::uint64_t bytes = 0;
    const auto corner = [&](nanoseconds t) { readings.push_back({t.count(), t.count(), bytes, false}); };
    for (int iteration = 0; iteration < 10; ++iteration) {
        corner(iteration * 600ms);
        bytes += 1'250'000;
        corner(iteration * 600ms + 10ms);
    }
    corner(6000ms);
    const std::vector<nanoseconds> windows{1us, 1ms, 5ms, 10ms, 50ms, 100ms};
    const std::vector<double> ratios{60, 60, 60, 60, 12, 6};
    const BurstinessCurve curve = burstiness_curve(readings, windows);
    CHECK(curve.resolved_from == 0ns);
    for (std::size_t i = 0; i < windows.size(); ++i) {
        CHECK(curve.points[i].resolved);
        CHECK(peak_to_mean(curve, curve.points[i]).estimate == Approx(ratios[i]));
    }
}

TEST_CASE("a prediction may jump", "[burstiness]") {
    // 1000 bytes at once at t = 100 and t = 300.
    const std::vector<Reading> readings{{0, 0, 0, false},        {100, 100, 0, false},
                                        {100, 100, 1000, false}, {300, 300, 1000, false},
                                        {300, 300, 2000, false}, {400, 400, 2000, false}};
    CHECK(bytes_in(readings, 1ns).estimate == Approx(1000));
    CHECK(bytes_in(readings, 199ns).estimate == Approx(1000));
    CHECK(bytes_in(readings, 201ns).estimate == Approx(2000)); // both jumps
}

TEST_CASE("ten readings resolve a window, and a slow counter moves that up", "[burstiness]") {
    std::vector<Reading> readings;
    for (std::int64_t i = 0; i < 1000; ++i)
        readings.push_back({i * 500'020, i * 500'020 + 4000, static_cast<std::uint64_t>(i), false});
    const std::vector<nanoseconds> windows{4ms, 5ms, 600ms};
    const BurstinessCurve curve = burstiness_curve(readings, windows);
    CHECK(curve.resolved_from == 5ms); // 500.02 us counts as 500 us
    CHECK_FALSE(curve.points[0].resolved);
    CHECK(curve.points[1].resolved);
    CHECK_FALSE(curve.points[2].resolved);
    CHECK(burstiness_curve(readings, windows, 100ms).resolved_from == 200ms);
    CHECK(burstiness_curve(readings, windows, 1ms).resolved_from == 5ms);
}

TEST_CASE("nothing recorded gives no number, not NaN", "[burstiness]") {
    for (const std::vector<Reading>& readings : {std::vector<Reading>{},
                                                 {{5, 6, 70, false}},
                                                 {{0, 1, 70, false}, {1'000'000, 1'000'001, 70, false}}}) {
        const BurstinessCurve curve = burstiness_curve(readings, standard_windows());
        CHECK(curve.mean_bytes_per_second == 0);
        for (const BurstinessPoint& point : curve.points) {
            CHECK(point.bytes.upper == 0);
            CHECK(peak_to_mean(curve, point).estimate == 0);
        }
        CHECK(max_backlog(readings, BitRate{8}).estimate == 0);
        CHECK(find_bursts(readings, BitRate{8}, 1ms).empty());
    }
}
