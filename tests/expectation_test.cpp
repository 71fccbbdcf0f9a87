#include "collectors/burstiness.hpp"
#include "generator/asked_windows.hpp"
#include "generator/expectation.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace generator;
using namespace std::chrono_literals;

namespace {

std::string mistake(const std::string& text) {
    return tests::message_of<std::invalid_argument>([&] { parse_expectation(text); });
}

} // namespace

TEST_CASE("an expectation has a quantity, an operator and a limit", "[expectation]") {
    const Expectation ptm = parse_expectation("ptm(5ms, tx, gb0.eth0) >= 60");
    CHECK(ptm.text == "ptm(5ms, tx, gb0.eth0) >= 60");
    CHECK(ptm.quantity.name == "ptm");
    CHECK(ptm.window == 5ms);
    CHECK(ptm.direction == collectors::Direction::tx);
    CHECK(ptm.interface == "gb0.eth0");
    CHECK(ptm.comparison == Comparison::at_least);
    CHECK(ptm.limit == 60);
    CHECK_FALSE(ptm.is_of_prediction);

    CHECK(parse_expectation("backlog(10Gbit)<12MB").rate.bits_per_second == 10'000'000'000);
    CHECK(parse_expectation("bucket_p99(all_gather) < 2ms").collective == "all_gather");
    CHECK(parse_expectation("bucket_p99 < 2ms").collective == "all_reduce");
    CHECK(parse_expectation("  retransmits==0  ").comparison == Comparison::equal);
    CHECK(parse_expectation("e(1s)>1").comparison == Comparison::above);
    CHECK(parse_expectation("e(1s)<=1").comparison == Comparison::at_most);
}

TEST_CASE("limits are in the unit of their quantity", "[expectation]") {
    const std::map<std::string, double> limits{
        {"iteration_p99 <= 350ms", 0.35},
        {"e(5ms) <= 1.5MB", 1.5e6},
        {"bus_bandwidth >= 8Gbit", 1e9}, // bytes/s
        {"bus_bandwidth >= 8 Gbit/s", 1e9},
        {"bus_bandwidth >= 800MB/s", 8e8},
        {"missed_share <= 1%", 0.01},
        {"missed_share <= 0.01", 0.01},
        {"drops <= 12", 12},
    };
    for (const auto& [text, limit] : limits)
        CHECK(parse_expectation(text).limit == Approx(limit).epsilon(1e-12));
}

TEST_CASE("a limit may be a factor on the prediction", "[expectation]") {
    const std::map<std::string, double> factors{{"iteration_p99 <= 1.1*predicted", 1.1},
                                                {"iteration_p99 <= predicted * 1.1", 1.1},
                                                {"ptm(5ms) >= predicted", 1},
                                                {"backlog(1Gbit) <= 2 * predicted", 2}};
    for (const auto& [text, factor] : factors) {
        const Expectation expectation = parse_expectation(text);
        CHECK(expectation.is_of_prediction);
        CHECK(expectation.limit == Approx(factor));
    }
}

TEST_CASE("a mistake is named with its column", "[expectation]") {
    const std::map<std::string, std::string> messages{
        {"", "'', column 1: expected a quantity such as ptm(5ms) or iteration_p99"},
        {"ptn(5ms) >= 60", R"('ptn(5ms) >= 60', column 1: unknown quantity "ptn"; did you mean "ptm"?)"},
        {"ptm >= 60", "'ptm >= 60', column 5: ptm needs an argument: ptm(5ms)"},
        {"ptm() >= 60", "'ptm() >= 60', column 5: expected an argument"},
        {"ptm(0s) >= 60", "'ptm(0s) >= 60', column 5: the window must be longer than 0"},
        {"ptm(5ms, up) >= 60",
         R"('ptm(5ms, up) >= 60', column 10: expected tx, rx or HOST.INTERFACE, is "up")"},
        {"ptm(5ms >= 60", "'ptm(5ms >= 60', column 5: '5ms >= 60': unknown unit"},
        {"ptm(5ms) => 60", "'ptm(5ms) => 60', column 10: expected >=, <=, >, < or =="},
        {"ptm(5ms) >=", "'ptm(5ms) >=', column 12: expected a limit"},
        {"ptm(5ms) >= -1", R"('ptm(5ms) >= -1', column 13: expected a number that is not negative, is "-1")"},
        {"ptm(5ms) >= nan",
         R"('ptm(5ms) >= nan', column 13: expected a number that is not negative, is "nan")"},
        {"ptm(5ms) >= 60 or so",
         R"('ptm(5ms) >= 60 or so', column 13: expected a number that is not negative, is "60 or so")"},
        {"drops(tx) == 0", "'drops(tx) == 0', column 7: drops is not measured by interface"},
        {"drops == predicted", "'drops == predicted', column 10: drops is not predicted"},
        {"ptm(5ms) >= x*predicted",
         R"('ptm(5ms) >= x*predicted', column 13: expected a number that is not negative, is "x")"},
        {"ptm(5ms) >= *predicted",
         R"('ptm(5ms) >= *predicted', column 13: expected a number that is not negative, is "")"},
        {"ptm(5ms) >= 2predicted",
         "'ptm(5ms) >= 2predicted', column 13: expected predicted, or a factor such as 1.1*predicted"},
        {"bus_bandwidth >= 9", "'bus_bandwidth >= 9', column 18: expected a rate such as 9Gbit or 800MB/s"},
    };
    for (const auto& [text, message] : messages)
        CHECK_THAT(mistake(text), Catch::StartsWith(message));
    CHECK_THAT(mistake("iteration_p99 <= 20"), Catch::Contains("column 18: '20'"));
}

TEST_CASE("quantities have names of their own, and meanings", "[expectation]") {
    std::set<std::string> names;
    for (const Quantity& quantity : quantities()) {
        CHECK(names.insert(quantity.name).second);
        CHECK_FALSE(quantity.meaning.empty());
    }
}

TEST_CASE("windows and rates that are asked for are computed beside the standard ones", "[expectation]") {
    const std::vector<Expectation> asked{parse_expectation("ptm(3ms) >= 1"), parse_expectation("e(5ms) >= 1"),
                                         parse_expectation("backlog(2Gbit) <= 1MB"),
                                         parse_expectation("backlog(1Gbit) <= 1MB"),
                                         parse_expectation("backlog(2Gbit) >= 1kB")};
    const auto windows = asked_windows(asked);
    CHECK(windows.size() == collectors::standard_windows().size() + 1);
    CHECK(windows.at(2) == 3ms);
    CHECK(std::is_sorted(windows.begin(), windows.end()));
    CHECK(asked_rates(asked) == std::vector<collectors::BitRate>{{1'000'000'000}, {2'000'000'000}});
}
