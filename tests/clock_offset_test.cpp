#include "generator/clock_offset.hpp"

#include "catch.hpp"

using namespace generator;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t second_ns = 1'000'000'000;

/// A host whose clock is 1000 s behind rank 0's, at first; 100 s later it has lost another 500 us (5 ppm).
ClockAlignment behind() {
    return {ClockMethod::data_network, ClockOffset{10 * second_ns, 1000s, 20us},
            ClockOffset{110 * second_ns, 1000s + 500us, 30us}};
}

} // namespace

TEST_CASE("the quickest round trip tells the offset, to half of its time", "[clocks]") {
    // It took 40: at rank 0's 1120, in the middle, the host showed 120.
    const std::vector<ClockRoundTrip> trips{{1'000, 90, 1'090}, {1'100, 120, 1'140}, {1'200, 280, 1'260}};
    CHECK(clock_offset(trips) == ClockOffset{120, 1'000ns, 20ns});
    CHECK_FALSE(clock_offset({}));
}

TEST_CASE("the error of an offset holds whenever within the round trip the host read its clock", "[clocks]") {
    constexpr std::int64_t truth = -700;
    for (const std::int64_t took : {0, 1, 2, 7})
        for (std::int64_t read_at = 0; read_at <= took; ++read_at) {
            const std::vector<ClockRoundTrip> trips{{100, 100 + read_at - truth, 100 + took}};
            const ClockOffset offset = clock_offset(trips).value();
            CHECK(std::chrono::abs(offset.offset - std::chrono::nanoseconds(truth)) <= offset.error);
        }
}

TEST_CASE("between both measurements the offset lies on a line", "[clocks]") {
    const ClockAlignment clock = behind();
    CHECK(clock.offset_at(10 * second_ns) == 1000s);
    CHECK(clock.offset_at(60 * second_ns) == 1000s + 250us);
    CHECK(clock.offset_at(110 * second_ns) == 1000s + 500us);
    CHECK(clock.drift().value().ppm == Approx(5.0));
    CHECK(clock.drift().value().error_ppm == Approx(0.5)); // 50 us in 100 s
}

TEST_CASE("an offset that was measured once holds for the whole run, and no drift is told", "[clocks]") {
    ClockAlignment clock = behind();
    clock.end.reset();
    CHECK(clock.offset_at(0) == 1000s);
    CHECK(clock.offset_at(500 * second_ns) == 1000s);
    CHECK_FALSE(clock.drift());
}

TEST_CASE("ranks of one host have one clock", "[clocks]") {
    const ClockAlignment clock;
    CHECK(clock.offset_at(7) == 0ns);
    CHECK(clock.drift().value().ppm == 0);
    CHECK(clock.drift().value().error_ppm == 0);
}

TEST_CASE("aligned timelines are on rank 0's clock, drift taken out", "[clocks]") {
    Timeline timeline;
    timeline.rank = 3;
    timeline.start_monotonic_ns = 10 * second_ns; // rank 0 showed 1010 s, which is when it started
    timeline.buckets.push_back({.iteration = 2,
                                .due_ns = 20 * second_ns,
                                .start_ns = 40 * second_ns,
                                .end_ns = 60 * second_ns,
                                .late_ns = 7,
                                .bytes = 11});
    timeline.iterations.push_back({2, 0, 100 * second_ns});
    const Timeline on_one_clock = aligned(timeline, behind(), 1'010 * second_ns);
    CHECK(on_one_clock.rank == 3);
    CHECK(on_one_clock.start_monotonic_ns == 1'010 * second_ns);
    CHECK(on_one_clock.buckets[0].due_ns == 20 * second_ns + 100'000); // 5 us in each second
    CHECK(on_one_clock.buckets[0].start_ns == 40 * second_ns + 200'000);
    CHECK(on_one_clock.buckets[0].end_ns == 60 * second_ns + 300'000);
    CHECK(on_one_clock.buckets[0].late_ns == 7);
    CHECK(on_one_clock.buckets[0].bytes == 11);
    CHECK(on_one_clock.iterations[0] == IterationRecord{2, 0, 100 * second_ns + 500'000});
}
