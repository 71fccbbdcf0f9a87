#include "generator/failure.hpp"
#include "generator/plan.hpp"
#include "generator/plan_forms.hpp"
#include "tests/catch.hpp"

#include <limits>

using namespace generator;

TEST_CASE("a partition covers every byte once, in order, for any number of parts", "[plan]") {
    const std::uint64_t bytes = GENERATE(0u, 1u, 7u, 8u, 1000u, 1003u);
    const std::uint64_t element = GENERATE(1u, 4u);
    const std::uint64_t parts = GENERATE(1u, 2u, 3u, 7u, 33u);
    std::uint64_t next = 0;
    for (std::uint64_t part = 0; part < parts; ++part) {
        const ByteRange range = partition(bytes, element, parts, part);
        REQUIRE(range.offset == next);
        next += range.bytes;
        if (part + 1 < parts)
            REQUIRE(range.bytes % element == 0);
    }
    REQUIRE(next == bytes);
}

TEST_CASE("a partition of almost 2^64 bytes does not overflow", "[plan]") {
    const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
    const ByteRange last = partition(most, 1, 32, 31);
    REQUIRE(last.offset + last.bytes == most);
    REQUIRE(last.bytes ==
            most / 32); // 2^64 - 1 = 32 x (2^59 - 1) + 31: the first 31 parts have one byte more
}

TEST_CASE("ring of four: rank 1 sends chunks 1 0 3 2 1 0, each behind the receive that brought it",
          "[ring]") {
    const RankPlan plan = ring_all_reduce(1, 4, 400);
    std::vector<std::uint64_t> sent;
    for (const Operation& operation : plan.operations)
        if (operation.is_send()) {
            REQUIRE(operation.peer == 2);
            sent.push_back(operation.range.offset / 100);
            for (const std::uint32_t receive : operation.behind)
                REQUIRE(plan.operations[receive].range == operation.range);
        } else {
            REQUIRE(operation.peer == 0);
        }
    REQUIRE(sent == std::vector<std::uint64_t>{1, 0, 3, 2, 1, 0});
}

TEST_CASE("segments: four per range, at most the profile's size, at least 16 KiB", "[plan]") {
    REQUIRE(segment_size(25'557'032, 262144) == 262144);
    REQUIRE(segment_size(255'570, 262144) == 63872); // a quarter, 63,892, cut to a multiple of 64
    REQUIRE(segment_size(1000, 262144) == 16384);
    REQUIRE(segment_size(1'000'000, 4096) == 4096);
}

TEST_CASE("an index list holds none, one or many, and copies are its own", "[plan]") {
    IndexList list;
    REQUIRE(list.empty());
    REQUIRE(list == IndexList{});
    list.push_back(7);
    REQUIRE(list == IndexList{7});
    IndexList copy = list;
    copy.push_back(8);
    copy.append(copy);
    REQUIRE(copy == std::vector<std::uint32_t>{7, 8, 7, 8});
    REQUIRE(copy.back() == 8);
    REQUIRE(list == IndexList{7});
    const IndexList other = copy;
    copy = list;
    REQUIRE(copy.size() == 1);
    REQUIRE(other.size() == 4);
    REQUIRE_FALSE(other == copy);
}

TEST_CASE("what a group cannot do is refused, with the reason", "[plan]") {
    using Catch::Contains;
    CHECK_THROWS_AS(check_call({.algorithm = Algorithm::server, .server = 4}, 4), UserError);
    CHECK_THROWS_WITH(check_call({.algorithm = Algorithm::server, .server = 4}, 4),
                      "server 4 is not in the group: its 4 ranks have positions 0 to 3");
    CHECK_THROWS_AS(check_call({.algorithm = Algorithm::server, .server = -1}, 4), UserError);
    CHECK_NOTHROW(check_call({.algorithm = Algorithm::server, .server = 3}, 4));
    CHECK_THROWS_WITH(check_call({.collective = Collective::send}, 3),
                      "a send needs a group of two ranks, sender and receiver; this one has 3");
    CHECK_NOTHROW(check_call({.collective = Collective::send}, 2));
    CHECK_THROWS_WITH(check_call({.channels = 0}, 2), Contains("channels"));
    CHECK_THROWS_WITH(check_call({.sockets = 0}, 2), Contains("sockets"));
    CHECK_THROWS_AS(rank_plan({.collective = Collective::send}, 0, 3), UserError);
    const auto hierarchical = [](std::vector<int> hosts) {
        return CollectiveCall{.algorithm = Algorithm::hierarchical, .hosts = std::move(hosts)};
    };
    CHECK_THROWS_WITH(check_call(hierarchical({5, 5, 5, 5}), 4),
                      "a hierarchical all-reduce needs at least two hosts, and all 4 ranks are on one");
    CHECK_THROWS_WITH(check_call(hierarchical({}), 1), Contains("there is one rank only"));
    CHECK_THROWS_WITH(check_call(hierarchical({0, 0, 1}), 3),
                      "a hierarchical all-reduce needs equally many ranks on every host, and one host has 1, "
                      "another 2");
    CHECK_NOTHROW(check_call(hierarchical({}), 3)); // each on a host of its own
    CHECK_NOTHROW(check_call(hierarchical({1, 0, 0, 1}), 4));
    CollectiveCall gather = hierarchical({5, 5});
    gather.collective = Collective::all_gather; // along the ring: hosts do not matter
    CHECK_NOTHROW(check_call(gather, 2));
}

TEST_CASE("an operation fits a cache line: plans of a thousand ranks have millions", "[plan]") {
    REQUIRE(sizeof(Operation) <= 64);
}
