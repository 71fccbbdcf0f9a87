#include "generator/message_sizes.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <stdexcept>

using namespace generator;

namespace {

/// The mean of the quantiles in the middle of so many equal shares.
double mean_of_quantiles(const MessageSizes& sizes, int shares = 1'000'000) {
    double sum = 0;
    for (int i = 0; i < shares; ++i)
        sum += static_cast<double>(sizes.quantile((i + 0.5) / shares));
    return sum / shares;
}

} // namespace

TEST_CASE("messages of a fixed size have it", "[message_sizes]") {
    CHECK(fixed_size(65536).quantile(0) == 65536);
    CHECK(fixed_size(65536).quantile(0.999) == 65536);
    CHECK(fixed_size(65536).mean_bytes == 65536);
}

TEST_CASE("a CDF is interpolated between its corners, and its mean follows from them", "[message_sizes]") {
    const MessageSizes sizes = cdf_sizes({{1000, 0.2}, {2000, 0.5}, {4000, 1}});
    CHECK(sizes.quantile(0) == 1000);
    CHECK(sizes.quantile(0.1) == 1000); // 20 % have just 1000 bytes
    CHECK(sizes.quantile(0.35) == 1500);
    CHECK(sizes.quantile(0.5) == 2000);
    CHECK(sizes.quantile(0.75) == 3000);
    // 0.2 x 1000 + 0.3 x 1500 + 0.5 x 3000
    CHECK(sizes.mean_bytes == Approx(2150));
    CHECK(mean_of_quantiles(sizes) == Approx(2150).epsilon(1e-4));
}

TEST_CASE("equal probabilities leave sizes out, equal sizes have weight", "[message_sizes]") {
    const MessageSizes sizes = cdf_sizes({{0, 0}, {100, 0.5}, {900, 0.5}, {900, 0.9}, {1000, 1}});
    CHECK(sizes.quantile(0.25) == 50);
    CHECK(sizes.quantile(0.5) == 900);
    CHECK(sizes.quantile(0.7) == 900);
    CHECK(sizes.quantile(0.95) == 950);
    CHECK(sizes.quantile(0) == 1); // a message has a byte at least
}

TEST_CASE("Pareto sizes have the mean that is asked for in spite of their limit", "[message_sizes]") {
    for (const double shape : {1.05, 1.2, 2.5}) {
        const MessageSizes sizes = pareto_sizes(65536, shape, 1e8);
        CHECK(sizes.least_bytes < 65536);
        CHECK(sizes.quantile(0) == static_cast<std::uint64_t>(std::round(sizes.least_bytes)));
        CHECK(sizes.quantile(1 - 1e-15) <= 100'000'000);
        CHECK(mean_of_quantiles(sizes) == Approx(65536).epsilon(0.02));
    }
    // The share (least / x)^shape exceeds x: half of them exceed 2^(1/2) times the least.
    const MessageSizes square = pareto_sizes(1e6, 2, 1e12);
    CHECK(static_cast<double>(square.quantile(0.5)) ==
          Approx(std::sqrt(2) * square.least_bytes).epsilon(1e-5));
    CHECK_THROWS_AS(pareto_sizes(1000, 1.5, 1000), std::invalid_argument);
}

TEST_CASE("the text form of a CDF: fractions or percent, comments, no ns-2 form", "[message_sizes]") {
    const std::vector<CdfPoint> fractions = parse_cdf("# bytes share\n0 0\n\n 10000\t0.15 \r\n30000 1");
    CHECK(fractions == std::vector<CdfPoint>{{0, 0}, {10000, 0.15}, {30000, 1}});
    CHECK(parse_cdf("0 0\n10000 15\n30000 100\n") == fractions);
    const auto refusal = [](const char* text) {
        try {
            cdf_sizes(parse_cdf(text));
        } catch (const std::invalid_argument& error) {
            return std::string(error.what());
        }
        return std::string("taken");
    };
    CHECK(
        refusal("1 1 0\n6 1 0.15\n") ==
        "line 1: has three columns, as the CDF files of ns-2 do, whose sizes are in packets; must have two, "
        "bytes and cumulative probability");
    CHECK(refusal("0 0\n10 zero\n").find("line 2: must be bytes and cumulative probability") == 0);
    CHECK(refusal("0 0\n10 nan\n").find("line 2: ") == 0);
    CHECK(refusal("0 0\n10 0.5\n5 1\n") == "line 3: bytes and probability must not fall");
    CHECK(refusal("0 0\n10 0.5\n") == "the last probability must be 1 (or 100, in percent), is 0.5");
    CHECK(refusal("0 0\n10 50\n") == "point 2: the probability must be from 0 to 1, is 50");
    CHECK(refusal("-5 0\n10 1\n").find("point 1: bytes must be") == 0);
    CHECK(refusal("") == "must have 1 to 10000 points, has 0");
    std::string long_text;
    for (int i = 0; i < 10'001; ++i)
        long_text += std::to_string(i) + " 0\n";
    CHECK(refusal(long_text.c_str()) == "line 10001: more than 10000 points");
}
