#include "collectors/histogram.hpp"

#include <algorithm>
#include <random>
#include <vector>

#include "catch.hpp"

using namespace collectors;

TEST_CASE("a percentile is a number that occurred, within 0.1 % of the exact one", "[histogram]") {
    std::mt19937_64 random(5);
    std::lognormal_distribution<double> spread(12, 3);
    Histogram histogram;
    std::vector<std::int64_t> values;
    for (int i = 0; i < 5000; ++i) {
        values.push_back(static_cast<std::int64_t>(spread(random)));
        histogram.add(values.back());
    }
    std::sort(values.begin(), values.end());
    for (const unsigned percent : {1U, 50U, 90U, 99U, 100U}) {
        const std::int64_t exact = values[(values.size() * percent + 99) / 100 - 1];
        CHECK(histogram.percentile(percent) <= exact);
        CHECK(static_cast<double>(histogram.percentile(percent)) >= 0.999 * static_cast<double>(exact));
        CHECK(std::binary_search(values.begin(), values.end(), histogram.percentile(percent)));
    }
    CHECK(histogram.most() == values.back());
    CHECK(histogram.count() == 5000);
}

TEST_CASE("small numbers and the ends of the range are exact", "[histogram]") {
    Histogram histogram;
    CHECK(histogram.percentile(50) == 0);
    for (const std::int64_t value : {2047L, 2048L, 2049L, 0L, -7L, 4'611'686'018'427'387'904L})
        histogram.add(value);
    // In order: 0 (-7 counts as 0), 0, 2047, 2048 and 2049 (one bucket: the lesser stands for it), the
    // largest.
    CHECK(histogram.at_rank(1) == 0);
    CHECK(histogram.at_rank(2) == 2047);
    CHECK(histogram.at_rank(4) == 2048);
    CHECK(histogram.at_rank(5) == 4'611'686'018'427'387'904L);
}

TEST_CASE("the tail above a limit is counted and added up", "[histogram]") {
    Histogram histogram;
    for (const std::int64_t value : {500'000, 500'000, 1'000'000, 1'500'000, 150'500'000})
        histogram.add(value);
    const Histogram::Tail tail = histogram.above(1'000'000);
    CHECK(tail.count == 2);
    CHECK(tail.total == 152'000'000);
    CHECK(tail.most == 150'500'000);
    CHECK(histogram.above(200'000'000).count == 0);
    CHECK(histogram.above(200'000'000).most == 0);
}
