#include "tools/draw_statistics.hpp"
#include "tools/superposition.hpp"

#include "tests/catch.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

using tools::CyclicTraffic;
using tools::Draws;
using tools::Superposition;

namespace {

/// `length` cells at `rate` bytes per cell, from cell `begin` on, in a period of so many cells.
CyclicTraffic square_burst(std::size_t period, std::size_t begin, std::size_t length, double rate) {
    CyclicTraffic traffic{std::vector<double>(period), {}};
    std::fill_n(traffic.bytes.begin() + static_cast<std::ptrdiff_t>(begin), length, rate);
    traffic.bursts = {{static_cast<double>(begin), static_cast<double>(begin + length)}};
    return traffic;
}

Superposition jobs_like(const CyclicTraffic& traffic, std::size_t jobs) {
    return {std::vector<const CyclicTraffic*>(jobs, &traffic), traffic.bytes.size(), {}, std::nullopt};
}

std::size_t overlaps_in(const Draws& draws) {
    return static_cast<std::size_t>(std::count(draws.overlaps.begin(), draws.overlaps.end(), 1));
}

} // namespace

TEST_CASE("two square bursts of length L overlap in a share 2 L / T of the phases", "[superposition]") {
    // 17 cells of 1000: 3.4 %. Five seeds: a right estimate leaves the interval of 99.9 % in one of 1000.
    const CyclicTraffic burst = square_burst(1000, 100, 17, 1);
    constexpr std::size_t count = 40'000;
    for (const std::uint64_t seed : {1U, 2U, 3U, 4U, 5U}) {
        const Draws draws = tools::draw_phases(jobs_like(burst, 2), count, seed, 2);
        const double error = 3.29 * std::sqrt(0.034 * 0.966 / count);
        CHECK(static_cast<double>(overlaps_in(draws)) / count == Approx(0.034).margin(error));
    }
    // Bursts of L and M overlap in (L + M) / T.
    const CyclicTraffic longer = square_burst(1000, 0, 83, 1);
    const Draws draws = tools::draw_phases({{&burst, &longer}, 1000, {}, std::nullopt}, count, 1, 2);
    CHECK(static_cast<double>(overlaps_in(draws)) / count ==
          Approx(0.1).margin(3.29 * std::sqrt(0.1 * 0.9 / count)));
}

TEST_CASE("K bursts of length L keep apart with probability (1 - K L / T)^(K - 1)", "[superposition]") {
    // Random arcs on a circle (Stevens, 1939): for 8 arcs of 1 % 1 - 0.92^7 overlap.
    const CyclicTraffic burst = square_burst(1000, 400, 10, 1);
    constexpr std::size_t count = 40'000;
    const Draws draws = tools::draw_phases(jobs_like(burst, 8), count, 3, 2);
    const double expected = 1 - std::pow(0.92, 7);
    CHECK(static_cast<double>(overlaps_in(draws)) / count ==
          Approx(expected).margin(3.29 * std::sqrt(expected * (1 - expected) / count)));
}

TEST_CASE("bursts overlap only if they have an instant in common", "[superposition]") {
    const CyclicTraffic burst = square_burst(100, 95, 5, 1);
    tools::Superposition two = jobs_like(burst, 2);
    tools::Superposer superposer(two);
    const auto overlap = [&](double first, double second) {
        return superposer.bursts_overlap(std::vector<double>{first, second});
    };
    CHECK_FALSE(overlap(0, 5)); // one ends where the other begins
    CHECK(overlap(0, 4.75));
    CHECK(overlap(97, 97)); // both lie across the end of the draw
    CHECK_FALSE(overlap(97, 2));
    CHECK(overlap(99.5, 4));
    const tools::Superposition alone = jobs_like(burst, 1);
    CHECK_FALSE(tools::Superposer(alone).bursts_overlap(std::vector<double>{97}));
}

TEST_CASE("K aligned bursts at link rate leave a queue of K - 1 bursts", "[superposition]") {
    // K C arrives while C leaves, for L: (K - 1) C L. For two jobs that is C L.
    const CyclicTraffic burst = square_burst(500, 490, 20 - 10, 12'500); // ends with the period
    for (std::size_t jobs = 1; jobs <= 4; ++jobs) {
        tools::Superposition aligned = jobs_like(burst, jobs);
        aligned.drained = 12'500;
        aligned.windows = {1, 10, 400};
        const std::vector<double> starts(jobs, 495.0); // across the end of the draw
        const Draws draws = tools::draw_once(aligned, starts);
        const auto k = static_cast<double>(jobs);
        CHECK(draws.backlog_bytes[0] == (k - 1) * 12'500 * 10);
        CHECK(draws.overlaps[0] == (jobs > 1));
        CHECK(draws.window_bytes[0][0] == k * 12'500);
        CHECK(draws.window_bytes[1][0] == k * 125'000);
        CHECK(draws.window_bytes[2][0] == k * 125'000);
    }
}

TEST_CASE("a queue drains between bursts, and the rest of it waits for the next", "[superposition]") {
    // Two jobs send 100 per cell for 10 cells, 2 cells apart, into a link of 60: 400 wait after the first,
    // the link sends 120 of them, and 400 more come.
    const CyclicTraffic burst = square_burst(200, 0, 10, 100);
    tools::Superposition two = jobs_like(burst, 2);
    two.drained = 60;
    CHECK(tools::draw_once(two, std::vector<double>{0, 200 - 12}).backlog_bytes[0] == 400 - 120 + 400);
    CHECK(tools::draw_once(two, std::vector<double>{0, 100}).backlog_bytes[0] == 400);
}

TEST_CASE("a queue is that of the long run, not that of a draw that begins empty", "[superposition]") {
    // 10 cells of 100 in each 25, into a link of 45: 550 wait at the end of a burst, which takes 12.2 cells.
    const CyclicTraffic burst = square_burst(25, 0, 10, 100);
    tools::Superposition alone = jobs_like(burst, 1);
    alone.drained = 45;
    for (std::size_t start = 0; start < 25; ++start)
        CHECK(tools::draw_once(alone, std::vector<double>{static_cast<double>(start)}).backlog_bytes[0] ==
              550);
}

TEST_CASE("windows longer than a period hold several, and parts of a cell count", "[superposition]") {
    const CyclicTraffic burst = square_burst(20, 5, 4, 8);
    tools::Superposition alone = jobs_like(burst, 1);
    alone.windows = {2.5, 23, 41};
    const Draws draws = tools::draw_once(alone, std::vector<double>{0});
    CHECK(draws.window_bytes[0][0] == 20);         // 2.5 x 8
    CHECK(draws.window_bytes[1][0] == 32 + 3 * 8); // E(tau - T) + V
    CHECK(draws.window_bytes[2][0] == 64 + 1 * 8);
}

TEST_CASE("E of a sum is at most the sum of the parts' E, and that where bursts align", "[superposition]") {
    const CyclicTraffic first = square_burst(300, 20, 12, 7);
    const CyclicTraffic second = square_burst(300, 250, 30, 5);
    const tools::Superposition both{{&first, &second}, 300, {10}, std::nullopt};
    CHECK(tools::draw_once(both, std::vector<double>{20, 250}).window_bytes[0][0] == 70 + 50);
    const Draws draws = tools::draw_phases(both, 1000, 1, 1);
    CHECK(*std::max_element(draws.window_bytes[0].begin(), draws.window_bytes[0].end()) <= 120);
    CHECK(*std::min_element(draws.window_bytes[0].begin(), draws.window_bytes[0].end()) == 70);
}

TEST_CASE("jobs of different periods meet in some draws", "[superposition]") {
    // In a draw of 1000 cells the job of 100 sends ten times: a burst of 10 meets one of 20 in 30 of 100.
    const CyclicTraffic rare = square_burst(1000, 0, 20, 1);
    const CyclicTraffic often = square_burst(100, 0, 10, 1);
    const tools::Superposition both{{&rare, &often}, 1000, {}, std::nullopt};
    constexpr std::size_t count = 20'000;
    const Draws draws = tools::draw_phases(both, count, 1, 1);
    CHECK(static_cast<double>(overlaps_in(draws)) / count ==
          Approx(0.3).margin(3.29 * std::sqrt(0.3 * 0.7 / count)));
}

TEST_CASE("threads do not change the draws, seeds do", "[superposition]") {
    const CyclicTraffic burst = square_burst(400, 30, 40, 3);
    tools::Superposition jobs = jobs_like(burst, 5);
    jobs.windows = {10, 50.5};
    jobs.drained = 4;
    const Draws one = tools::draw_phases(jobs, 333, 7, 1);
    const Draws many = tools::draw_phases(jobs, 333, 7, 16);
    CHECK(one.window_bytes == many.window_bytes);
    CHECK(one.backlog_bytes == many.backlog_bytes);
    CHECK(one.overlaps == many.overlaps);
    CHECK(tools::draw_phases(jobs, 333, 8, 1).backlog_bytes != one.backlog_bytes);
    // The first draws of many are those of few.
    const Draws few = tools::draw_phases(jobs, 10, 7, 4);
    CHECK(std::equal(few.backlog_bytes.begin(), few.backlog_bytes.end(), one.backlog_bytes.begin()));
}

TEST_CASE("Wilson's interval of shares", "[superposition]") {
    // Brown, Cai and DasGupta (2001), by hand: n = 10, x = 0: z^2 / (n + z^2) = 3.8415 / 13.8415.
    CHECK(tools::probability(0, 10).lower == 0);
    CHECK(tools::probability(0, 10).upper == Approx(0.27753).epsilon(1e-4));
    CHECK(tools::probability(10, 10).upper == 1);
    CHECK(tools::probability(5, 10).lower == Approx(0.23659).epsilon(1e-4));
    CHECK(tools::probability(5, 10).upper == Approx(0.76341).epsilon(1e-4));
    CHECK(tools::probability(1, 1).share == 1);
}

TEST_CASE("quantiles by nearest rank, with the order statistics around", "[superposition]") {
    std::vector<double> values(100);
    std::iota(values.begin(), values.end(), 1.0);
    CHECK(tools::quantile(values, 0.05) == 5);
    CHECK(tools::quantile(values, 0.5) == 50);
    CHECK(tools::quantile(values, 1) == 100);
    const auto median = tools::quantile_range(values, 0.5); // tables of the binomial say 40 and 61
    REQUIRE(median);
    CHECK(median->lower == 40);
    CHECK(median->upper == 61);
    CHECK_FALSE(tools::quantile_range(values, 0.99));
}
