#include "collectors/burstiness.hpp"
#include "collectors/bursts.hpp"

#include <vector>

#include "catch.hpp"

using namespace collectors;
using namespace std::chrono_literals;

namespace {

constexpr BitRate one_byte_per_ns{8'000'000'000};

/// Exact readings of A = 0, 0, 100, 100, 160, 160 at 0, 10, ... 50 ns.
const std::vector<Reading> two_bursts{{0, 0, 0, false},     {10, 10, 0, false},   {20, 20, 100, false},
                                      {30, 30, 100, false}, {40, 40, 160, false}, {50, 50, 160, false}};

} // namespace

TEST_CASE("backlog is the most that a link of the rate has to hold", "[backlog]") {
    // At 1 byte per ns: 100 arrive in 10 ns -> 90; after 10 ns 80; 60 more in 10 ns -> 130.
    const Bounds backlog = max_backlog(two_bursts, one_byte_per_ns);
    CHECK(backlog.lower == Approx(130));
    CHECK(backlog.estimate == Approx(130));
    // The first burst may come at once just before 20, the second just after 30: 100 - 10 + 60.
    CHECK(backlog.upper == Approx(150));
    // At 8 bytes per ns: 100 - 80 = 20; empty before the second burst, which is slower.
    CHECK(max_backlog(two_bursts, BitRate{64'000'000'000}).estimate == Approx(20));
    CHECK(max_backlog(two_bursts, BitRate{80'000'000'000}).estimate == Approx(0));
}

TEST_CASE("the certified backlog pays for the width of the reads", "[backlog]") {
    // 100 bytes between reads [10, 12] and [20, 22]: certain 100 - 12 = 88; by midpoints 100 - 10 = 90.
    const std::vector<Reading> readings{{0, 2, 0, false}, {10, 12, 0, false}, {20, 22, 100, false}};
    const Bounds backlog = max_backlog(readings, one_byte_per_ns);
    CHECK(backlog.lower == Approx(88));
    CHECK(backlog.estimate == Approx(90));
    CHECK(backlog.upper == Approx(100));
}

TEST_CASE("a burst is a run of stretches above the threshold", "[bursts]") {
    const std::vector<Burst> bursts = find_bursts(two_bursts, one_byte_per_ns, 0ns);
    REQUIRE(bursts.size() == 2);
    CHECK(bursts[0].begin == 10ns);
    CHECK(bursts[0].length() == 10ns);
    CHECK(bursts[0].bytes == 100);
    CHECK(bursts[1].begin == 30ns);
    CHECK(bursts[1].bytes == 60);
    CHECK(find_bursts(two_bursts, BitRate{64'000'000'000}, 0ns).size() ==
          1); // 10 above, 6 below 8 bytes per ns
}

TEST_CASE("bursts less than the gap apart are one", "[bursts]") {
    CHECK(find_bursts(two_bursts, one_byte_per_ns, 10ns).size() == 2); // exactly 10 ns apart
    const std::vector<Burst> merged = find_bursts(two_bursts, one_byte_per_ns, 11ns);
    REQUIRE(merged.size() == 1);
    CHECK(merged[0].length() == 30ns);
    CHECK(merged[0].bytes == 160);
}

TEST_CASE("neighbouring stretches above the threshold are one burst without any gap", "[bursts]") {
    const std::vector<Reading> readings{
        {0, 0, 0, false}, {10, 10, 50, false}, {20, 20, 90, false}, {30, 30, 90, false}};
    const std::vector<Burst> bursts = find_bursts(readings, one_byte_per_ns, 0ns);
    REQUIRE(bursts.size() == 1);
    CHECK(bursts[0].length() == 20ns);
    CHECK(bursts[0].bytes == 90);
}

TEST_CASE("a burst ends where a counter starts anew", "[bursts]") {
    const std::vector<Reading> readings{
        {0, 0, 0, false}, {10, 10, 50, false}, {20, 20, 500, true}, {30, 30, 550, false}};
    const std::vector<Burst> bursts = find_bursts(readings, one_byte_per_ns, 1ms);
    REQUIRE(bursts.size() == 2);
    CHECK(bursts[1].bytes == 50);
}
