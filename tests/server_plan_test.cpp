#include "generator/plan.hpp"
#include "generator/transfer_plan.hpp"
#include "tests/plan_cases.hpp"

#include <algorithm>

using namespace generator;

namespace {

CollectiveCall server_call(std::uint64_t bytes, Service service,
                           Collective collective = Collective::all_reduce) {
    return {.collective = collective, .bytes = bytes, .algorithm = Algorithm::server, .service = service};
}

std::uint64_t moved_bytes(const RankPlan& plan, bool sends) {
    std::uint64_t bytes = 0;
    for (const Operation& operation : plan.operations)
        if (operation.is_send() == sends && !operation.is_signal())
            bytes += operation.range.bytes;
    return bytes;
}

std::size_t signals(const RankPlan& plan, Operation::Kind kind) {
    return static_cast<std::size_t>(
        std::count_if(plan.operations.begin(), plan.operations.end(),
                      [kind](const Operation& operation) { return operation.kind == kind; }));
}

} // namespace

TEST_CASE("the server sends and receives (N-1) S, every worker S; signals come on top", "[server]") {
    const Service service = GENERATE(Service::sequenced, Service::incast);
    const bool sequenced = service == Service::sequenced;
    // 0, fewer bytes than ranks, ResNet-50, 4 GiB + 5.
    for (const std::uint64_t bytes : {0ull, 1ull, 97ull, 102228128ull, 4294967301ull})
        for (int world_size = 2; world_size <= 33; ++world_size) {
            const std::vector<RankPlan> plans = tests::all_ranks(server_call(bytes, service), world_size);
            const auto workers = static_cast<std::uint64_t>(world_size - 1);
            for (const bool sends : {true, false}) {
                REQUIRE(moved_bytes(plans[0], sends) == workers * bytes);
                for (std::size_t rank = 1; rank < plans.size(); ++rank)
                    REQUIRE(moved_bytes(plans[rank], sends) == bytes);
            }
            // A grant for each worker, and thanks of all but the last, for which nobody waits.
            const std::size_t grants = sequenced && bytes > 0 ? workers : 0;
            REQUIRE(signals(plans[0], Operation::Kind::send_signal) == grants);
            REQUIRE(signals(plans[0], Operation::Kind::receive_signal) == (grants > 0 ? grants - 1 : 0));
            REQUIRE(plans[0].sent_bytes() == workers * bytes + grants * signal_bytes);
            REQUIRE_NOTHROW(join_plans(plans, 262144));
        }
}

TEST_CASE("sequenced: at no moment do two workers push, nor two sums travel", "[server]") {
    // Follows the conditions backwards: each push must be able to name the push before it as its cause.
    const RankPlan server = rank_plan(server_call(1000, Service::sequenced), 0, 4);
    const std::vector<Operation>& operations = server.operations;
    std::vector<std::uint32_t> grants, receives, sums, thanks;
    for (std::uint32_t i = 0; i < operations.size(); ++i)
        switch (operations[i].kind) {
        case Operation::Kind::send_signal:
            grants.push_back(i);
            break;
        case Operation::Kind::receive_add:
            receives.push_back(i);
            break;
        case Operation::Kind::send:
            sums.push_back(i);
            break;
        default:
            thanks.push_back(i);
        }
    REQUIRE(receives.size() == 3);
    REQUIRE(operations[grants[0]].after.empty());
    REQUIRE(operations[grants[1]].after == std::vector{receives[0]});
    REQUIRE(operations[grants[2]].after == std::vector{receives[1]});
    REQUIRE(operations[sums[0]].after == std::vector{receives[2]});
    REQUIRE(operations[sums[1]].after == std::vector{thanks[0]});
    REQUIRE(operations[sums[2]].after == std::vector{thanks[1]});
    const RankPlan worker = rank_plan(server_call(1000, Service::sequenced), 1, 4);
    REQUIRE(worker.operations[1].after == std::vector<std::uint32_t>{0}); // its push, after the grant
    REQUIRE(worker.operations[3].after == std::vector<std::uint32_t>{2}); // its thanks, after the sum
}

TEST_CASE("incast: every worker may push at once, and every sum follows all adds", "[server]") {
    const std::vector<RankPlan> plans = tests::all_ranks(server_call(1000, Service::incast), 5);
    for (std::size_t rank = 1; rank < plans.size(); ++rank) {
        REQUIRE(plans[rank].operations[0].is_send());
        REQUIRE(plans[rank].operations[0].after.empty());
        REQUIRE(plans[rank].operations[0].behind.empty());
    }
    for (const Operation& operation : plans[0].operations)
        if (operation.is_send())
            REQUIRE(operation.behind == std::vector<std::uint32_t>{0, 1, 2, 3});
}

TEST_CASE("a signal that meets data is refused", "[server]") {
    std::vector<RankPlan> plans = tests::all_ranks(server_call(signal_bytes, Service::sequenced), 2);
    plans[1].operations[0].kind = Operation::Kind::receive_copy;
    REQUIRE_THROWS_WITH(tests::interpret(plans, tests::distinct_buffers({.bytes = signal_bytes}, 2)),
                        "a signal that meets data");
    REQUIRE_THROWS_WITH(join_plans(plans, 262144), Catch::Contains("a signal that meets data"));
}
