#include "tools/chart_bins.hpp"
#include "tools/chart_rate.hpp"

#include "catch.hpp"

#include <cstdint>
#include <utility>
#include <vector>

using collectors::Reading;
using tools::ChartBins;
using tools::RateGrid;

namespace {

using Known = std::vector<std::pair<std::int64_t, double>>;

constexpr std::int64_t step = 1'000'000;

Known bytes_of(const std::vector<Reading>& readings, std::int64_t longest_distance_ns,
               std::int64_t offset_ns = 0) {
    Known known;
    RateGrid grid(step, offset_ns, longest_distance_ns,
                  [&](std::int64_t index, double bytes) { known.emplace_back(index, bytes); });
    for (const Reading& reading : readings)
        grid.add(reading);
    return known;
}

Reading at(std::int64_t t_ns, std::uint64_t bytes, bool anew = false) {
    return {t_ns, t_ns, bytes, anew};
}

} // namespace

TEST_CASE("bins become wider as time passes and lose no extreme", "[charts]") {
    ChartBins bins(4);
    for (std::int64_t i = 0; i < 9; ++i)
        bins.add(100 + i, i == 6 ? 70.0 : static_cast<double>(i));
    REQUIRE(bins.first() == 100);
    REQUIRE(bins.width() == 4); // 9 values do not fit into 4 bins of 2
    REQUIRE(bins.bins().size() == 3);
    REQUIRE(bins.bins()[0].least == 0);
    REQUIRE(bins.bins()[0].most == 3);
    REQUIRE(bins.bins()[0].mean() == 1.5);
    REQUIRE(bins.bins()[1].least == 4);
    REQUIRE(bins.bins()[1].most == 70);
    REQUIRE(bins.bins()[2].count == 1);
    REQUIRE(bins.largest() == 70);
    REQUIRE(bins.largest_at() == 106);
}

TEST_CASE("a stretch without values is a bin without values", "[charts]") {
    ChartBins bins(10);
    bins.add(0, -5);
    bins.add(3, -6);
    REQUIRE(bins.bins().size() == 4);
    REQUIRE(bins.bins()[1].count == 0);
    REQUIRE(bins.largest() == -5);
}

TEST_CASE("a curve that begins late in its grid needs no bins before that", "[charts]") {
    ChartBins bins(8);
    bins.add(1'000'000'000'000, 1);
    bins.add(1'000'000'000'007, 2);
    REQUIRE(bins.width() == 1);
    REQUIRE(bins.bins().size() == 8);
}

TEST_CASE("bytes between two readings are spread evenly over the bins between them", "[charts]") {
    // 100 bytes from 0.5 ms to 2.5 ms, 60 more until 4.0 ms: 50 bytes per ms, then 40 per ms.
    const Known known = bytes_of({at(500'000, 0), at(2'500'000, 100), at(4'000'000, 160)}, 0);
    REQUIRE(known.size() == 3); // the bin from 0 to 1 ms is not covered from its begin
    REQUIRE(known[0] == std::pair<std::int64_t, double>(1, 50));
    REQUIRE(known[1].second == Approx(25 + 20));
    REQUIRE(known[2].second == Approx(40));
}

TEST_CASE("the time of the run's start moves the bins, also to before it", "[charts]") {
    const Known known = bytes_of({at(0, 0), at(1'000'000, 8), at(2'000'000, 8)}, 0, -1'000'000);
    REQUIRE(known == Known{{-1, 8}, {0, 0}});
}

TEST_CASE("a gap and a counter that starts anew are no rates", "[charts]") {
    // 10 ms without readings, in which 1 MB passed; then the counter is reset.
    const Known known = bytes_of({at(0, 0), at(1'000'000, 10), at(11'000'000, 1'000'010),
                                  at(12'000'000, 1'000'020), at(13'000'000, 5), at(14'000'000, 9)},
                                 1'000'000);
    REQUIRE(known == Known{{0, 10}, {11, 10}, {13, 4}});
    REQUIRE(bytes_of({at(0, 0), at(1LL << 60, 1)}, 0).empty()); // 36 years, no interval known
}

TEST_CASE("a sampler that was late by a tick or two loses no bytes of the picture", "[charts]") {
    const collectors::TraceInfo each_half_ms{.interval = std::chrono::microseconds(500)};
    const std::int64_t longest = tools::chart_longest_distance_ns(each_half_ms);
    const Known known =
        bytes_of({at(0, 0), at(1'000'000, 10), at(2'200'000, 500'010), at(4'000'000, 500'010)}, longest);
    double sum = 0;
    for (const auto& [index, bytes] : known)
        sum += bytes;
    REQUIRE(sum == Approx(500'010));
    REQUIRE(bytes_of({at(0, 0), at(1'000'000, 0), at(100'000'000, 9)}, longest) == Known{{0, 0}}); // a gap
}

TEST_CASE("order statistics keep the ends", "[charts]") {
    std::vector<double> sorted;
    for (int i = 0; i < 1000; ++i)
        sorted.push_back(i);
    const std::vector<double> few = tools::order_statistics(sorted, 5);
    REQUIRE(few == std::vector<double>{0, 249, 499, 749, 999});
    REQUIRE(tools::order_statistics(std::vector<double>{1, 2}, 5).size() == 2);
    REQUIRE(tools::order_statistics({}, 5).empty());
}

TEST_CASE("numbers of charts have four digits", "[charts]") {
    REQUIRE(tools::rounded(957.3456) == 957.3);
    REQUIRE(tools::rounded(-0.00123456) == -0.001235);
    REQUIRE(tools::rounded(0) == 0);
}
