#include "generator/stall_watch.hpp"
#include "tests/catch.hpp"

using namespace generator;
using namespace std::chrono_literals;

TEST_CASE("a stall is found within two looks after the timeout, and told with its true length", "[stall]") {
    const StallWatch::Moment start{};
    StallWatch watch(30s, start);
    CHECK(watch.interval() == 1s);
    CHECK(StallWatch(2s, start).interval() == 200ms);
    CHECK_FALSE(watch.stalled(start + 1s, 10, start));
    // A byte moves right after the look at 1 s: seen at 2 s, so that 30 s without one have passed for certain
    // at 32 s.
    for (auto second = 2s; second < 32s; ++second)
        CHECK_FALSE(watch.stalled(start + second, 11, start));
    CHECK(watch.stalled(start + 32s, 11, start) == 30s);
    CHECK(watch.stalled(start + 35s, 11, start) == 33s); // a look that came late
    CHECK_FALSE(watch.stalled(start + 36s, 12, start));
}

TEST_CASE("time without a bucket in flight, or before it began, is no stall", "[stall]") {
    const StallWatch::Moment start{};
    StallWatch watch(5s, start);
    for (auto second = 1s; second < 60s; ++second)
        CHECK_FALSE(watch.stalled(start + second, 7, std::nullopt));
    CHECK_FALSE(watch.stalled(start + 64s, 7, start + 60s)); // since 59 s no byte moved, but 4 s in a bucket
    CHECK(watch.stalled(start + 65s, 7, start + 60s) == 5s);
}
