#include "generator/background_flows.hpp"

#include "tests/catch.hpp"

#include <cmath>
#include <map>
#include <set>

using namespace generator;
using namespace std::chrono_literals;

namespace {

BackgroundEntry background_entry(BackgroundPattern pattern, MessageSizes sizes) {
    BackgroundEntry entry;
    entry.name = "test";
    entry.pattern = pattern;
    entry.from = {0};
    entry.to = {1};
    entry.rate = BitRate{80'000'000}; // 10 MB/s
    entry.sizes = std::move(sizes);
    return entry;
}

std::vector<BackgroundMessage> first_messages(const BackgroundEntry& entry, const BackgroundFlow& flow,
                                              std::size_t count, std::uint64_t seed = 1, int world_size = 2) {
    FlowMessages messages(entry, flow, seed, world_size);
    std::vector<BackgroundMessage> list;
    while (list.size() < count)
        list.push_back(messages.next());
    return list;
}

} // namespace

TEST_CASE("a flow leads from each sender to each other receiver", "[background]") {
    BackgroundEntry some = background_entry(BackgroundPattern::constant, fixed_size(1));
    some.from = {2, 0};
    some.to = {0, 1};
    BackgroundEntry all = some;
    all.from = all.to = {};
    const std::vector<BackgroundFlow> flows = background_flows({some, all}, 3);
    REQUIRE(flows.size() == 3 + 6);
    CHECK(flows[0] == BackgroundFlow{0, 0, 2, 0});
    CHECK(flows[1] == BackgroundFlow{1, 0, 2, 1});
    CHECK(flows[2] == BackgroundFlow{2, 0, 0, 1});
    CHECK(flows[8] == BackgroundFlow{8, 1, 2, 1});
}

TEST_CASE("at a constant rate messages are due evenly, out of step with other flows", "[background]") {
    const BackgroundEntry entry = background_entry(BackgroundPattern::constant, fixed_size(10'000));
    const auto messages = first_messages(entry, {0, 0, 0, 1}, 10'000);
    CHECK(messages[0].due >= 0ns);
    CHECK(messages[0].due < 1ms); // 10 kB at 10 MB/s
    for (std::size_t i = 1; i < messages.size(); ++i)
        REQUIRE(std::abs((messages[i].due - messages[i - 1].due - 1ms).count()) <= 1);
    CHECK(first_messages(entry, {1, 0, 0, 1}, 1)[0].due != messages[0].due);
}

TEST_CASE("at a constant rate each message takes the time of its size", "[background]") {
    const BackgroundEntry entry =
        background_entry(BackgroundPattern::constant, cdf_sizes({{1000, 0}, {100'000, 1}}));
    const auto messages = first_messages(entry, {0, 0, 0, 1}, 1000);
    for (std::size_t i = 1; i < messages.size(); ++i) // 100 ns per byte
        REQUIRE(std::abs((messages[i].due - messages[i - 1].due).count() -
                         100 * static_cast<std::int64_t>(messages[i - 1].bytes)) <= 1);
}

TEST_CASE("messages depend on seed and flow alone", "[background]") {
    const BackgroundEntry entry = background_entry(BackgroundPattern::poisson, pareto_sizes(1e4, 1.3, 1e9));
    const BackgroundFlow flow{3, 0, 0, 1};
    CHECK(first_messages(entry, flow, 100) == first_messages(entry, flow, 100));
    CHECK(first_messages(entry, flow, 100) != first_messages(entry, flow, 100, 2));
    CHECK(first_messages(entry, flow, 100) != first_messages(entry, {4, 0, 0, 1}, 100));
}

TEST_CASE("Poisson arrivals have the mean rate and the dispersion of a Poisson process", "[background]") {
    const BackgroundEntry entry = background_entry(BackgroundPattern::poisson, fixed_size(10'000));
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
        // 1000 messages a second, over 200 s
        constexpr std::size_t windows = 20'000;
        std::vector<double> counts(windows); // in windows of 10 ms: mean 10
        FlowMessages messages(entry, {0, 0, 0, 1}, seed, 2);
        double count = 0;
        double squared_gaps = 0;
        nanoseconds before{0};
        for (BackgroundMessage each = messages.next(); each.due < 200s; each = messages.next()) {
            ++counts[static_cast<std::size_t>(each.due / 10ms)];
            ++count;
            const double gap = 1e-6 * static_cast<double>((each.due - before).count());
            squared_gaps += gap * gap;
            before = each.due;
        }
        // Four standard deviations: sqrt(200000) = 447.
        CHECK(std::abs(count - 200'000) < 4 * 447);
        double variance = 0;
        for (const double each : counts)
            variance += (each - count / windows) * (each - count / windows) / windows;
        // Index of dispersion: 1, with a standard deviation of sqrt(2 / 20000) = 0.01.
        CHECK(variance / (count / windows) == Approx(1).margin(0.04));
        // Exponential gaps: the mean of the squares is twice the square of the mean, 1 ms; their standard
        // deviation is sqrt(20), so that of the mean of 200000 is 0.01.
        CHECK(squared_gaps / count == Approx(2).margin(0.04));
    }
}

TEST_CASE("offered bytes keep to the mean rate whatever the sizes", "[background]") {
    for (const MessageSizes& sizes :
         {fixed_size(10'000), cdf_sizes({{0, 0}, {10'000, 0.9}, {100'000, 1}}), pareto_sizes(1e4, 2.5, 1e6)})
        for (const BackgroundPattern pattern : {BackgroundPattern::constant, BackgroundPattern::poisson}) {
            const OfferedTraffic traffic =
                offered(FlowMessages(background_entry(pattern, sizes), {0, 0, 0, 1}, 7, 2), 200s);
            CHECK(static_cast<double>(traffic.bytes) == Approx(200 * 1e7).epsilon(0.02));
        }
}

TEST_CASE("sizes follow their distribution", "[background]") {
    const BackgroundEntry entry =
        background_entry(BackgroundPattern::poisson, cdf_sizes({{100, 0.25}, {200, 0.5}, {1000, 1}}));
    std::size_t least = 0;
    std::size_t half = 0;
    const auto messages = first_messages(entry, {0, 0, 0, 1}, 40'000);
    for (const BackgroundMessage& each : messages) {
        least += each.bytes == 100;
        half += each.bytes <= 200;
    }
    CHECK(static_cast<double>(least) / 40'000 == Approx(0.25).margin(0.01)); // deviation 0.002
    CHECK(static_cast<double>(half) / 40'000 == Approx(0.5).margin(0.01));
}

TEST_CASE("servers of an incast agree on who answers which query, and when", "[background]") {
    BackgroundEntry entry = background_entry(BackgroundPattern::incast, pareto_sizes(1e4, 1.5, 1e8));
    entry.from = {};
    entry.to = {2};
    entry.queries_per_second = 100;
    entry.fan_in = 3;
    constexpr int world_size = 6;
    const std::vector<BackgroundFlow> flows = background_flows({entry}, world_size);
    REQUIRE(flows.size() == 5);
    std::map<std::uint64_t, std::vector<BackgroundMessage>> answers;
    std::map<int, std::size_t> answered;
    for (const BackgroundFlow& flow : flows) {
        FlowMessages messages(entry, flow, 5, world_size);
        for (BackgroundMessage each = messages.next(); each.due < 100s; each = messages.next()) {
            answers[each.query].push_back(each);
            ++answered[flow.from];
        }
    }
    const std::uint64_t queries = queries_within(entry, 0, 2, 5, 100s);
    CHECK(answers.size() == queries);
    CHECK(std::abs(static_cast<double>(queries) - 10'000) < 4 * 100);
    for (const auto& [query, parts] : answers) {
        REQUIRE(parts.size() == 3);
        REQUIRE(parts[0].due == parts[1].due);
        REQUIRE(parts[0].due == parts[2].due);
    }
    for (const auto& [server, count] : answered) // 3 of 5, deviation sqrt(10000 x 0.6 x 0.4) = 49
        CHECK(std::abs(static_cast<double>(count) - 0.6 * static_cast<double>(queries)) < 4 * 49);
    CHECK(answered.size() == 5);
    // 100 queries of 10 kB each from 3 of 5 servers
    CHECK(mean_rate(entry, world_size, 2) == Approx(8 * 1e4 * 100 * 0.6));
}

TEST_CASE("without a fan-in all servers answer, the client is none of them", "[background]") {
    BackgroundEntry entry = background_entry(BackgroundPattern::incast, fixed_size(100));
    entry.from = entry.to = {};
    entry.queries_per_second = 10;
    CHECK(servers_of(entry, 1, 4) == std::vector<int>{0, 2, 3});
    const auto one = first_messages(entry, {0, 0, 0, 1}, 10, 1, 4);
    const auto other = first_messages(entry, {6, 0, 2, 1}, 10, 1, 4);
    CHECK(one == other);
}
