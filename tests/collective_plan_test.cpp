// What every plan promises, proven on numbers in memory: right results, no deadlock, no byte lost.
#include "generator/plan_lanes.hpp"
#include "tests/plan_cases.hpp"

using namespace generator;

namespace {

std::vector<std::uint64_t> awkward_sizes(int size) {
    const auto n = static_cast<std::uint64_t>(size);
    return {0, 1, n - 1, n, n + 1, 2 * n + 1, 97};
}

void require_right(const CollectiveCall& call, int size, tests::Execution execution) {
    INFO(tests::text(call, size) << ", segments of " << execution.segment_bytes << ", order "
                                 << execution.seed);
    REQUIRE(tests::wrong_result(call, tests::all_ranks(call, size), execution) == "");
}

/// Hosts of `per_host` ranks each, dealt in turn: neighbours are not on the same host.
std::vector<int> dealt_hosts(int size, int per_host) {
    std::vector<int> hosts;
    for (int position = 0; position < size; ++position)
        hosts.push_back(position % (size / per_host));
    return hosts;
}

} // namespace

TEST_CASE("every collective ends with the right values on every rank, with whole transfers in flight",
          "[plan]") {
    for (CollectiveCall call : tests::every_form())
        for (int size = 1; size <= 33; ++size)
            if (tests::is_possible(call, size))
                for (const std::uint64_t bytes : awkward_sizes(size)) {
                    call.bytes = bytes;
                    require_right(call, size, {});
                }
}

TEST_CASE("... and with one segment in flight, which sends follow", "[plan]") {
    for (CollectiveCall call : tests::every_form())
        for (const int size : {2, 3, 4, 5, 7, 8, 13, 33})
            if (tests::is_possible(call, size))
                for (const std::uint64_t bytes : awkward_sizes(size)) {
                    call.bytes = bytes;
                    require_right(call, size, {.segment_bytes = 3});
                }
}

TEST_CASE("... and in any order in which the network lets streams move", "[plan]") {
    for (CollectiveCall call : tests::every_form())
        for (int size = 2; size <= 9; ++size)
            if (tests::is_possible(call, size))
                for (std::uint32_t seed = 1; seed <= 20; ++seed) {
                    call.bytes = 3 * static_cast<std::uint64_t>(size) + 1;
                    require_right(call, size, {.segment_bytes = seed % 2, .seed = seed});
                }
}

TEST_CASE("... and over channels, also when there are fewer elements than channels", "[plan]") {
    for (CollectiveCall call : tests::every_form())
        for (const int size : {2, 3, 4, 7, 8})
            if (tests::is_possible(call, size))
                for (call.channels = 2; call.channels <= 3; ++call.channels)
                    for (const std::uint64_t bytes : {0U, 1U, 2U, 9U, 50U})
                        for (const tests::Execution execution :
                             {tests::Execution{}, tests::Execution{2, 5}}) {
                            call.bytes = bytes;
                            require_right(call, size, execution);
                        }
}

TEST_CASE("... and over several sockets per channel", "[plan]") {
    for (CollectiveCall call : tests::every_form())
        for (const int size : {2, 3, 4, 7, 8})
            if (tests::is_possible(call, size))
                for (call.channels = 1; call.channels <= 3; ++call.channels)
                    for (std::uint32_t sockets = 2; sockets <= 3; ++sockets)
                        for (const std::uint32_t seed : {0U, 1U, 2U}) {
                            call.bytes = 50;
                            std::vector<RankPlan> plans = tests::all_ranks(call, size);
                            for (RankPlan& plan : plans) // pieces small enough for numbers in memory
                                plan = striped(plan, sockets, socket_pieces(sockets, 1, 2));
                            INFO(tests::text(call, size)
                                 << ", striped over " << sockets << ", order " << seed);
                            REQUIRE(tests::wrong_result(call, plans, {seed % 2, seed}) == "");
                        }
}

TEST_CASE("a server may have any position", "[plan]") {
    for (const Service service : {Service::sequenced, Service::incast})
        for (int size = 1; size <= 9; ++size)
            for (int server = 0; server < size; ++server)
                for (const Collective collective : {Collective::all_reduce, Collective::broadcast})
                    for (const std::uint32_t seed : {0U, 1U, 2U})
                        require_right({.collective = collective,
                                       .bytes = 10,
                                       .algorithm = Algorithm::server,
                                       .service = service,
                                       .server = server},
                                      size, {.seed = seed});
}

TEST_CASE("a hierarchical all-reduce holds for any hosts with equally many ranks", "[plan]") {
    for (const auto& [size, per_host] : {std::pair{4, 2}, {6, 2}, {6, 3}, {8, 4}, {12, 3}, {16, 8}, {32, 8}})
        for (const std::uint64_t bytes : awkward_sizes(size))
            for (const tests::Execution execution :
                 {tests::Execution{}, tests::Execution{2, 0}, tests::Execution{1, 1}, tests::Execution{1, 2}})
                for (const std::uint32_t channels : {1U, 2U})
                    require_right({.bytes = bytes,
                                   .algorithm = Algorithm::hierarchical,
                                   .channels = channels,
                                   .hosts = dealt_hosts(size, per_host)},
                                  size, execution);
}

TEST_CASE("the interpreter sees a deadlock, a size and a range that do not fit, and a lost order", "[plan]") {
    const CollectiveCall call{.bytes = 9};
    auto plans = tests::all_ranks(call, 3);
    const auto run = [&] { return tests::interpret(plans, tests::distinct_buffers(call, 3)); };
    SECTION("a first send that waits for the rank's last receive") {
        for (RankPlan& plan : plans)
            plan.operations[0].after = {static_cast<std::uint32_t>(plan.operations.size() - 1)};
        REQUIRE_THROWS_WITH(run(), "the ranks wait for each other");
    }
    SECTION("one send shortened") {
        plans[1].operations[0].range.bytes -= 1;
        REQUIRE_THROWS_WITH(run(), "a receive of another size than its send");
    }
    SECTION("a send behind a receive of another chunk") {
        plans[1].operations[2].range = plans[1].operations[0].range;
        REQUIRE_THROWS_WITH(run(), "a send behind a receive of another range");
    }
    SECTION("sends that do not wait for what they send") {
        for (RankPlan& plan : plans)
            for (Operation& operation : plan.operations)
                operation.behind = {};
        // Everything may be sent before anything is received: no rank but the first sees a sum.
        bool wrong = false;
        for (std::uint32_t seed = 1; seed < 10; ++seed)
            wrong = wrong || !tests::wrong_result(call, plans, {.seed = seed}).empty();
        REQUIRE(wrong);
    }
}
