#include "collectors/online_backlog.hpp"
#include "collectors/online_curve.hpp"
#include "collectors/segments.hpp"

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "catch.hpp"

using namespace collectors;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

namespace {

const std::vector<nanoseconds> some_windows{1ns, 70ns, 100ns, 333ns, 1000ns, 7777ns, 100'000ns, 3'000'000ns};

/// Bursts and pauses, reads of any width, gaps, several readings at one instant, counters that start anew.
std::vector<Reading> random_readings(std::mt19937_64& random, std::size_t count) {
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
    };
    const bool exact = below(4) == 0;
    std::vector<Reading> readings;
    std::int64_t begin = 0;
    std::uint64_t bytes = 1000;
    bool busy = false;
    for (std::size_t i = 0; i < count; ++i) {
        if (below(40) == 0)
            busy = !busy;
        bytes += busy ? static_cast<std::uint64_t>(below(2000)) : 0;
        const bool anew = below(300) == 0;
        if (anew)
            bytes = below(2) == 0 ? 0 : bytes + 5;
        const std::int64_t width = exact ? 0 : below(10) == 0 ? below(300) : below(20);
        readings.push_back({begin, begin + width, bytes, anew});
        begin += width + (below(50) == 0 ? below(5000) : exact && below(10) == 0 ? 0 : 80 + below(20));
    }
    return readings;
}

/// Constant rate, where any window is nearly the largest: on an exact grid or read late, with a width or
/// without, through pauses and counters that start anew; or as a sum has them: they overlap, and some begin
/// at one instant.
std::vector<Reading> steady_readings(std::mt19937_64& random, std::size_t count) {
    const auto below = [&](std::int64_t limit) {
        return std::uniform_int_distribution<std::int64_t>(0, limit - 1)(random);
    };
    const std::int64_t widest = below(3) == 0 ? 0 : below(2) == 0 ? 5 : 80;
    const std::int64_t latest = below(3) == 0 ? 0 : below(99 - widest);
    const std::int64_t nanoseconds_per_byte = 1 + below(9);
    const bool interrupted = below(2) == 0;
    const bool overlapping = below(4) == 0;
    std::vector<Reading> readings;
    std::int64_t pauses = 0;
    std::int64_t start = 0; // of the counter
    for (std::size_t i = 0; i < count; ++i) {
        pauses += interrupted && below(500) == 0 ? below(100'000) : 0;
        const std::int64_t traffic = static_cast<std::int64_t>(i) * 100 + below(latest + 1);
        const std::int64_t begin = traffic + pauses;
        const bool anew = interrupted && below(700) == 0;
        start = anew ? traffic : start;
        const auto bytes = static_cast<std::uint64_t>((traffic - start) / nanoseconds_per_byte);
        if (overlapping)
            readings.push_back({begin / 200 * 200, begin / 200 * 200 + 400, bytes, anew});
        else
            readings.push_back({begin, begin + below(widest + 1), bytes, anew});
    }
    return readings;
}

/// The estimate as the curve computes it, to the last bit, by looking for the corners anew for each window.
double estimate_by_corners(std::span<const Reading> segment, std::int64_t window) {
    const auto middle = [&](std::size_t i) { return segment[i].begin_ns + segment[i].end_ns; }; // doubled
    const auto rise = [&](std::size_t from, std::size_t to) {
        return static_cast<double>(segment[to].bytes - segment[from].bytes);
    };
    const auto slope_to = [&](std::size_t i) {
        const std::int64_t elapsed = middle(i) - middle(i - 1);
        return elapsed > 0 ? rise(i - 1, i) / static_cast<double>(elapsed) : 0;
    };
    const std::int64_t length = 2 * window;
    double most = 0;
    for (std::size_t j = 0; j < segment.size(); ++j) { // windows that end at j
        const std::int64_t start = middle(j) - length;
        std::size_t corner = 0;
        while (middle(corner) < start)
            ++corner;
        most = std::max(most, rise(corner, j));
        if (corner > 0 && middle(corner) != start)
            most = std::max(most, rise(corner - 1, j) -
                                      static_cast<double>(start - middle(corner - 1)) * slope_to(corner));
    }
    for (std::size_t i = 0; i < segment.size(); ++i) { // windows that begin at i
        std::size_t next = i;
        while (next < segment.size() && middle(next) <= middle(i) + length)
            ++next;
        if (next == segment.size())
            most = std::max(most, rise(i, next - 1));
        else
            most = std::max(most, rise(i, next) - static_cast<double>(middle(next) - middle(i) - length) *
                                                      slope_to(next));
    }
    return most;
}

/// The definitions of burstiness_curve, literally, over all pairs of readings of one segment.
Bounds by_definition(std::span<const Reading> segment, std::int64_t window) {
    const std::size_t size = segment.size();
    const auto rise = [&](std::size_t from, std::size_t to) {
        return static_cast<double>(segment[to].bytes - segment[from].bytes);
    };
    Bounds most;
    for (std::size_t i = 0; i < size; ++i)
        for (std::size_t j = i; j < size && segment[j].end_ns - segment[i].begin_ns <= window; ++j)
            most.lower = std::max(most.lower, rise(i, j));
    for (std::size_t i = 0; i + 1 < size; ++i) {
        std::size_t k = i;
        while (k < size && segment[k].begin_ns < segment[i + 1].end_ns + window)
            ++k;
        if (k < size)
            most.upper = std::max(most.upper, rise(i, k));
        else if (i == 0 || segment[i].end_ns + window <= segment.back().end_ns)
            most.upper = std::max(most.upper, rise(i, size - 1));
    }
    const auto at = [&](double instant, bool before_jumps) {
        for (std::size_t k = 0; k < size; ++k) {
            const double time = midpoint_ns(segment[k]);
            if (before_jumps ? time < instant : time <= instant)
                continue;
            if (k == 0 || time == instant)
                return rise(0, k);
            const double share =
                (instant - midpoint_ns(segment[k - 1])) / (time - midpoint_ns(segment[k - 1]));
            return rise(0, k - 1) + share * rise(k - 1, k);
        }
        return rise(0, size - 1);
    };
    for (std::size_t i = 0; i < size; ++i) {
        const double time = midpoint_ns(segment[i]);
        most.estimate = std::max(most.estimate, rise(0, i) - at(time - static_cast<double>(window), true));
        most.estimate = std::max(most.estimate, at(time + static_cast<double>(window), false) - rise(0, i));
    }
    return most;
}

void require_equal(const BurstinessCurve& left, const BurstinessCurve& right) {
    REQUIRE(left.resolved_from == right.resolved_from);
    REQUIRE(left.span == right.span);
    REQUIRE(left.total_bytes == right.total_bytes);
    REQUIRE(left.mean_bytes_per_second == right.mean_bytes_per_second);
    for (std::size_t i = 0; i < left.points.size(); ++i) {
        REQUIRE(left.points[i].bytes.lower == right.points[i].bytes.lower);
        REQUIRE(left.points[i].bytes.estimate == right.points[i].bytes.estimate);
        REQUIRE(left.points[i].bytes.upper == right.points[i].bytes.upper);
        REQUIRE(left.points[i].resolved == right.points[i].resolved);
    }
}

Bounds most_by_definition(const std::vector<Reading>& readings, std::int64_t window) {
    Bounds most;
    for (const auto& segment : segments(readings)) {
        const Bounds bounds = by_definition(segment, window);
        most.lower = std::max(most.lower, bounds.lower);
        most.estimate = std::max(most.estimate, bounds.estimate);
        most.upper = std::max(most.upper, bounds.upper);
    }
    return most;
}

} // namespace

TEST_CASE("the curve is what its definition says, for any readings", "[online]") {
    std::mt19937_64 random(11);
    for (int round = 0; round < 60; ++round) {
        const std::vector<Reading> readings = random_readings(random, 400);
        const BurstinessCurve curve = burstiness_curve(readings, some_windows);
        for (const BurstinessPoint& point : curve.points) {
            const Bounds most = most_by_definition(readings, point.window.count());
            INFO("round " << round << ", window " << point.window.count());
            REQUIRE(point.bytes.lower == most.lower);
            REQUIRE(point.bytes.upper == most.upper);
            REQUIRE(point.bytes.estimate ==
                    Approx(std::clamp(most.estimate, most.lower, most.upper)).margin(1e-6));
        }
    }
}

TEST_CASE("no window of steady traffic is overlooked, to the last bit", "[online]") {
    std::mt19937_64 random(13);
    for (int round = 0; round < 200; ++round) {
        const std::vector<Reading> readings =
            round % 4 == 0 ? random_readings(random, 700) : steady_readings(random, 700);
        const BurstinessCurve curve = burstiness_curve(readings, some_windows);
        for (const BurstinessPoint& point : curve.points) {
            double estimate = 0;
            for (const auto& segment : segments(readings))
                estimate = std::max(estimate, estimate_by_corners(segment, point.window.count()));
            const Bounds most = most_by_definition(readings, point.window.count());
            INFO("round " << round << ", window " << point.window.count());
            REQUIRE(point.bytes.lower == most.lower);
            REQUIRE(point.bytes.upper == most.upper);
            REQUIRE(point.bytes.estimate == std::clamp(estimate, most.lower, most.upper));
        }
    }
}

TEST_CASE("readings that arrive in pieces give exactly the numbers of the whole", "[online]") {
    std::mt19937_64 random(12);
    const std::vector<BitRate> rates{{1'000'000'000}, {40'000'000'000}, {90'000'000'000}};
    for (int round = 0; round < 20; ++round) {
        const std::vector<Reading> readings = random_readings(random, 20'000);
        OnlineCurve curve(some_windows);
        OnlineBacklog backlog(rates);
        std::span<const Reading> rest = readings;
        while (!rest.empty()) {
            const std::size_t longest = round % 2 == 0 ? 3 : 5000;
            const std::size_t size =
                std::min(rest.size(), std::uniform_int_distribution<std::size_t>(1, longest)(random));
            curve.add(rest.first(size));
            backlog.add(rest.first(size));
            rest = rest.subspan(size);
            if (round == 0 && rest.size() % 1000 == 0) // asking in between changes nothing, and is right then
                require_equal(
                    curve.curve(),
                    burstiness_curve(std::span(readings).first(readings.size() - rest.size()), some_windows));
        }
        require_equal(curve.curve(), burstiness_curve(readings, some_windows));
        for (std::size_t i = 0; i < rates.size(); ++i) {
            REQUIRE(backlog.backlog(i).lower == max_backlog(readings, rates[i]).lower);
            REQUIRE(backlog.backlog(i).estimate == max_backlog(readings, rates[i]).estimate);
        }
    }
}

TEST_CASE("what nobody counted is no part of the mean", "[online]") {
    // 1 byte/us for 2 s, nothing known for 3 s, a counter that started anew, 1 byte/us for 2 s.
    OnlineCurve curve(std::vector<nanoseconds>{1s});
    std::vector<Reading> readings;
    for (std::int64_t ms = 0; ms <= 2000; ++ms)
        readings.push_back({ms * 1'000'000, ms * 1'000'000 + 1000,
                            5'000'000 + static_cast<std::uint64_t>(ms) * 1000, false});
    for (std::int64_t ms = 0; ms <= 2000; ++ms)
        readings.push_back({5'000'000'000 + ms * 1'000'000, 5'000'000'000 + ms * 1'000'000 + 1000,
                            static_cast<std::uint64_t>(ms) * 1000, ms == 0});
    curve.add(readings);
    CHECK(curve.curve().mean_bytes_per_second == Approx(1e6).epsilon(1e-9));
    CHECK(curve.curve().span.count() == Approx(7e9).epsilon(1e-6));
    CHECK(peak_to_mean(curve.curve(), curve.curve().points[0]).lower <= 1);
}

TEST_CASE("a window longer than any trace is unresolved, not an overflow", "[online]") {
    OnlineCurve curve(std::vector<nanoseconds>{5'000'000'000s}); // 158 years
    const std::vector<Reading> readings{
        {0, 10, 0, false}, {1'000'000, 1'000'010, 5, false}, {2'000'000, 2'000'010, 9, false}};
    curve.add(readings);
    CHECK_FALSE(curve.curve().points[0].resolved);
}

TEST_CASE("memory follows the longest window, not the length of the trace", "[online]") {
    const std::vector<nanoseconds> windows{1ms, 100ms};
    OnlineCurve curve(windows);
    std::size_t most = 0;
    for (std::int64_t i = 0; i < 500'000; ++i) { // 50 s, each 100 us: 1000 readings in the longest window
        const Reading reading{i * 100'000, i * 100'000 + 2000, static_cast<std::uint64_t>(i) * 1500, false};
        curve.add(std::span(&reading, 1));
        most = std::max(most, curve.held());
    }
    CHECK(most <= 1000 + 4096 + 1024);
    CHECK(curve.curve().span == 49'999'900us);
}
