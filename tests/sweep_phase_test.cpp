#include "generator/sweep_phase.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace generator;
using namespace std::chrono_literals;

namespace {

using Spans = std::vector<IterationSpan>;
using std::chrono::nanoseconds;

/// So many iterations back to back, the first of them warm-up.
Spans back_to_back(nanoseconds start, nanoseconds length, int count, int warmup = 0) {
    Spans spans;
    for (int i = 0; i < count; ++i)
        spans.push_back({start + i * length, length, i >= warmup});
    return spans;
}

} // namespace

TEST_CASE("only measured iterations count during which all jobs ran", "[sweep]") {
    // a: 0 to 50, its first is warm-up; b: 15 to 75, its first two are.
    const auto together = measured_together({back_to_back(0ms, 10ms, 5, 1), back_to_back(15ms, 10ms, 6, 2)});
    REQUIRE(together.size() == 2);
    CHECK(together[0] == Spans{{20ms, 10ms, true}, {30ms, 10ms, true}, {40ms, 10ms, true}});
    CHECK(together[1] == Spans{{35ms, 10ms, true}});                          // 45 to 55 ends after a
    CHECK(measured_together({back_to_back(5ms, 10ms, 3, 1)})[0].size() == 2); // alone: all of them
}

TEST_CASE("beside a job without iterations nothing counts", "[sweep]") {
    CHECK(measured_together({back_to_back(0ms, 10ms, 5), {}}) == std::vector<Spans>(2));
    CHECK(measured_together({back_to_back(0ms, 10ms, 2), back_to_back(30ms, 10ms, 2)}) ==
          std::vector<Spans>(2));
}

TEST_CASE("a held offset is that of the iterations' starts", "[sweep]") {
    const auto held = held_offset(back_to_back(0ms, 100ms, 5), back_to_back(30ms, 100ms, 4), 25ms, 100ms);
    CHECK(held == HeldOffset{30ms, 30ms, 30ms, 4});
    CHECK(held->drift() == 0ms);
}

TEST_CASE("an offset around T or 0 does not jump", "[sweep]") {
    const Spans reference = back_to_back(0ms, 100ms, 5);
    // Just before the next start, just after it: 98, 101, 104 of 100 for who asked for 100, -2, 1, 4 for 0.
    const Spans shifted{{98ms, 100ms, true}, {201ms, 100ms, true}, {304ms, 100ms, true}};
    CHECK(held_offset(reference, shifted, 100ms, 100ms) == HeldOffset{101ms, 98ms, 104ms, 3});
    CHECK(held_offset(reference, shifted, 0ms, 100ms) == HeldOffset{1ms, -2ms, 4ms, 3});
    CHECK(held_offset(reference, shifted, 210ms, 100ms) == HeldOffset{201ms, 198ms, 204ms, 3});
}

TEST_CASE("an offset that drifts past half a period goes on", "[sweep]") {
    // Its iterations take 120 ms: 20 ms more each time, 40, 60, 80, 100, 120.
    const auto held = held_offset(back_to_back(0ms, 100ms, 9), back_to_back(40ms, 120ms, 5), 40ms, 100ms);
    CHECK(held == HeldOffset{80ms, 40ms, 120ms, 5});
    CHECK(held->drift() == 80ms);
}

TEST_CASE("without iterations no offset is known", "[sweep]") {
    CHECK_FALSE(held_offset({}, back_to_back(0ms, 10ms, 2), 0ms, 10ms));
    CHECK_FALSE(held_offset(back_to_back(0ms, 10ms, 2), {}, 0ms, 10ms));
    CHECK_FALSE(median_length({}));
}

TEST_CASE("an offset is held within 5 % of T, in drift and from what was asked", "[sweep]") {
    CHECK(is_held({55ms, 50ms, 55ms, 9}, 50ms, 100ms));
    CHECK_FALSE(is_held({52ms, 49ms, 55ms, 9}, 50ms, 100ms)); // drifted by 6
    CHECK_FALSE(is_held({52ms, 55ms, 49ms, 9}, 50ms, 100ms)); // and back
    CHECK_FALSE(is_held({56ms, 56ms, 56ms, 9}, 50ms, 100ms)); // 6 away
}

TEST_CASE("the median length is the lower one of two in the middle, as p50 everywhere", "[sweep]") {
    CHECK(median_length({{0ms, 30ms, true}, {0ms, 10ms, true}, {0ms, 20ms, true}}) == 20ms);
    CHECK(median_length({{0ms, 30ms, true}, {0ms, 10ms, true}}) == 10ms);
}
