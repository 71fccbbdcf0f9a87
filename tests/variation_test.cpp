#include "generator/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/workloads.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::schedule_of;

namespace {

constexpr std::uint32_t draws = 20'000;

/// One bucket after 50 of 100 ms.
Profile one_bucket_profile(const std::string& compute, const std::string& sections = "") {
    return parse_profile({"test.json",
                          R"({"compute": {"time": "100ms")" + compute +
                              R"(}, "gradients": {"bucketing": "explicit",
        "buckets": [{"bytes": 8, "ready_after": "50ms"}]})" +
                              sections + "}",
                          ""});
}

/// Tail factors of rank 0, sorted; 1 where there is none.
std::vector<double> tail_factors(const HeavyTail& tail) {
    std::vector<double> factors;
    for (std::uint32_t i = 0; i < draws; ++i)
        factors.push_back(jitter_factor({.heavy_tail = tail}, 1, 0, i));
    std::sort(factors.begin(), factors.end());
    return factors;
}

} // namespace

TEST_CASE("the heavy tail comes as often as said and is never below its factor", "[variation]") {
    const std::vector<double> factors = tail_factors({.probability = 0.05, .factor = 1.5, .shape = 3});
    const auto usual = std::count(factors.begin(), factors.end(), 1.0);
    CHECK(static_cast<double>(draws - usual) == Approx(1000).margin(100)); // sd 31
    CHECK(factors[static_cast<std::size_t>(usual)] >= 1.5);
}

TEST_CASE("the heavy tail is a Pareto distribution of the given shape", "[variation]") {
    for (const std::uint32_t shape : {1u, 2u, 3u, 8u}) {
        const std::vector<double> factors = tail_factors({.probability = 1, .factor = 2, .shape = shape});
        // The share beyond x is (2 / x)^shape: half of them beyond 2 x 2^(1/shape), a tenth beyond 2 x
        // 10^(1/shape).
        for (const double share : {0.5, 0.1}) {
            const double limit = 2 * std::pow(1 / share, 1.0 / shape);
            const auto beyond = factors.end() - std::upper_bound(factors.begin(), factors.end(), limit);
            CHECK(static_cast<double>(beyond) / draws == Approx(share).margin(0.015)); // sd below 0.0036
        }
    }
    // mean of a Pareto number: factor x shape / (shape - 1)
    double mean = 0;
    for (const double factor : tail_factors({.probability = 1, .factor = 2, .shape = 8}))
        mean += factor / draws;
    CHECK(mean == Approx(2 * 8.0 / 7).epsilon(0.01));
}

TEST_CASE("tail draws are the same on every machine", "[variation]") {
    // Computed by an independent implementation of the formulas, in Python.
    CHECK(jitter_factor({.heavy_tail = {1, 2, 3}}, 1u, 0, 0u) == 3.252844299103992);
    CHECK(jitter_factor({.heavy_tail = {1, 1.5, 2}}, 7u, 3, 100u) == 1.564005793126139);
}

TEST_CASE("stalls by chance come as often as said, to each rank by itself", "[variation]") {
    const InputStalls stalls{.probability = 0.1, .time = 30ms};
    std::uint32_t on_first = 0;
    std::uint32_t on_both = 0;
    for (std::uint32_t i = 0; i < draws; ++i) {
        const nanoseconds stall = input_stall(stalls, 1, 0, i);
        CHECK((stall == 0ns || stall == 30ms));
        on_first += stall > 0ns;
        on_both += stall > 0ns && input_stall(stalls, 1, 1, i) > 0ns;
    }
    CHECK(on_first == Approx(2000).margin(200)); // sd 42
    CHECK(on_both == Approx(200).margin(60));    // sd 14
}

TEST_CASE("regular stalls hit all ranks in every n-th iteration and shift everything", "[variation]") {
    const Profile stalled = one_bucket_profile(R"(, "input_stalls": {"every": 3, "time": "200ms"})",
                                               R"(, "scale": {"time": 0.5})");
    for (const int rank : {0, 5})
        for (std::uint32_t i = 0; i < 9; ++i) {
            const nanoseconds stall = i % 3 == 2 ? 100ms : 0ms; // scaled
            const IterationSchedule schedule = schedule_of(stalled, rank, i);
            CHECK(schedule.compute == stall + 50ms);
            CHECK(schedule.buckets[0].ready_after == stall + 25ms);
            CHECK(schedule.buckets[0].needed_at == stall + 48'500us); // the optimizer takes 3 %
        }
}

TEST_CASE("a straggler is slower on its ranks, in its iterations", "[variation]") {
    const Profile slow = one_bucket_profile(
        R"(, "stragglers": [{"ranks": [1, 3], "factor": 1.5, "from": 10, "to": 12}, {"ranks": [3], "factor": 2}])");
    CHECK(schedule_of(slow, 0, 11).compute == 100ms);
    CHECK(schedule_of(slow, 1, 9).compute == 100ms);
    CHECK(schedule_of(slow, 1, 10).compute == 150ms);
    CHECK(schedule_of(slow, 1, 12).compute == 150ms);
    CHECK(schedule_of(slow, 1, 13).compute == 100ms);
    CHECK(schedule_of(slow, 3, 9).compute == 200ms);
    CHECK(schedule_of(slow, 3, 11).compute == 300ms); // both
    CHECK(schedule_of(slow, 3, 11).buckets[0].ready_after == 150ms);
}

TEST_CASE("a straggler by chance is one as often as said, and not when another is", "[variation]") {
    const std::vector<Straggler> stragglers{{{0}, 2, 0, {}, 0.25}, {{0}, 3, 0, {}, 0.25}};
    std::uint32_t twice = 0;
    std::uint32_t six_times = 0;
    for (std::uint32_t i = 0; i < draws; ++i) {
        const double factor = straggler_factor(stragglers, 1, 0, i);
        twice += factor == 2;
        six_times += factor == 6;
    }
    CHECK(twice == Approx(3750).margin(300));     // 0.25 x 0.75, sd 55
    CHECK(six_times == Approx(1250).margin(200)); // 0.25 x 0.25, sd 34
}

TEST_CASE("the same seed draws the same stalls and stragglers, another seed others", "[variation]") {
    Profile some = one_bucket_profile(
        R"(, "jitter": {"heavy_tail": {"probability": 0.3}}, "input_stalls": {"probability": 0.3, "time": "1ms"},
             "stragglers": [{"ranks": [2], "factor": 1.1, "probability": 0.3}])");
    std::vector<nanoseconds> one;
    std::vector<nanoseconds> again;
    std::vector<nanoseconds> other;
    for (std::uint32_t i = 0; i < 50; ++i) {
        some.run.seed = 1;
        one.push_back(schedule_of(some, 2, i).compute);
        again.push_back(schedule_of(some, 2, i).compute);
        some.run.seed = 2;
        other.push_back(schedule_of(some, 2, i).compute);
    }
    CHECK(one == again);
    CHECK(one != other);
}

TEST_CASE("a profile varies when anything makes its iterations or ranks differ", "[variation]") {
    CHECK_FALSE(varies(one_bucket_profile("")));
    CHECK(varies(one_bucket_profile(R"(, "jitter": {"white_sd": 0.01})")));
    CHECK(varies(one_bucket_profile(R"(, "jitter": {"heavy_tail": {"probability": 0.1}})")));
    CHECK(varies(one_bucket_profile(R"(, "input_stalls": {"every": 5, "time": "1ms"})")));
    CHECK(varies(one_bucket_profile(R"(, "stragglers": [{"ranks": [0], "factor": 2}])")));
    CHECK_FALSE(
        varies(without_variation(one_bucket_profile(R"(, "stragglers": [{"ranks": [0], "factor": 2}])"))));
}
