#include "generator/plan_lanes.hpp"
#include "tests/plan_cases.hpp"

#include <map>
#include <set>

using namespace generator;

TEST_CASE("channels: each has a plan of its own for its share of the bytes, on its own lane", "[lanes]") {
    // 10 elements of 4 bytes over 3 channels: 4, 3 and 3 elements.
    const CollectiveCall call{.bytes = 40, .element_bytes = 4, .channels = 3};
    for (const RankPlan& plan : tests::all_ranks(call, 2)) {
        std::map<std::uint32_t, std::set<std::uint64_t>> offsets; // by lane
        for (const Operation& operation : plan.operations)
            offsets[operation.lane].insert(operation.range.offset);
        REQUIRE(offsets ==
                std::map<std::uint32_t, std::set<std::uint64_t>>{{0, {0, 8}}, {1, {16, 24}}, {2, {28, 36}}});
        REQUIRE(plan.sent_bytes() == 40); // 2(N-1)/N S, as on one channel
    }
}

TEST_CASE("channels of a reduce-scatter share every chunk, so that rank r still ends with chunk r",
          "[lanes]") {
    const CollectiveCall call{
        .collective = Collective::reduce_scatter, .bytes = 48, .element_bytes = 4, .channels = 2};
    const RankPlan plan = rank_plan(call, 0, 2); // chunk 1 goes, chunk 0 comes, 6 elements each
    REQUIRE(plan.operations.size() == 4);
    REQUIRE(plan.operations[0].range == ByteRange{24, 12});
    REQUIRE(plan.operations[1].range == ByteRange{36, 12});
    REQUIRE(plan.operations[1].lane == 1);
    REQUIRE(plan.operations[2].range == ByteRange{0, 12});
    REQUIRE(plan.operations[3].range == ByteRange{12, 12});
}

TEST_CASE("sockets: pieces of at least 64 KiB, equal for both sides, dealt in turn", "[lanes]") {
    const Cut cut = socket_pieces(4, 4, 65536);
    const auto lanes = [&](std::uint64_t bytes, std::uint64_t before) {
        std::vector<std::pair<std::uint32_t, std::uint64_t>> pieces;
        for (const Strip& strip : cut(bytes, before))
            pieces.emplace_back(strip.lane, strip.part.bytes);
        return pieces;
    };
    using Pieces = std::vector<std::pair<std::uint32_t, std::uint64_t>>;
    REQUIRE(lanes(400000, 0) == Pieces{{0, 100000}, {1, 100000}, {2, 100000}, {3, 100000}});
    REQUIRE(lanes(400004, 0) == Pieces{{0, 100004}, {1, 100004}, {2, 100004}, {3, 99992}});
    REQUIRE(lanes(140000, 0) == Pieces{{0, 65536}, {1, 65536}, {2, 8928}}); // NCCL's last one may be short
    REQUIRE(lanes(1000, 6) == Pieces{{2, 1000}});                           // the seventh piece
    REQUIRE(lanes(65536, 3) == Pieces{{3, 65536}});
}

TEST_CASE("lane = channel x sockets + socket, and each piece follows its own piece", "[lanes]") {
    // 2 channels of 512 KiB in a ring of two: chunks of 256 KiB, over 3 sockets in pieces of 87,384 bytes.
    const CollectiveCall call{.bytes = 1024 * 1024, .element_bytes = 8, .channels = 2, .sockets = 3};
    const RankPlan plan = rank_plan(call, 0, 2);
    std::set<std::uint32_t> lanes;
    for (const Operation& operation : plan.operations) {
        lanes.insert(operation.lane);
        REQUIRE(operation.range.bytes <= 87384);
        REQUIRE(operation.range.bytes >= 65536);
        for (const std::uint32_t receive : operation.behind) {
            REQUIRE(plan.operations[receive].range == operation.range);
            REQUIRE(plan.operations[receive].lane == operation.lane);
        }
    }
    REQUIRE(lanes == std::set<std::uint32_t>{0, 1, 2, 3, 4, 5});
    REQUIRE(plan.operations.size() == 2 * 4 * 3); // channels, sends and receives of two steps, sockets
}

TEST_CASE("what came after a transfer comes after all its strips; a signal stays whole", "[lanes]") {
    const CollectiveCall call{.bytes = 4, .algorithm = Algorithm::server};
    const RankPlan worker = striped(rank_plan(call, 1, 3), 2, equal_strips(2, 1));
    // grant; push in two strips; sum in two strips; thanks
    REQUIRE(worker.operations.size() == 6);
    REQUIRE(worker.operations[0].is_signal());
    REQUIRE(worker.operations[0].range.bytes == signal_bytes);
    REQUIRE(worker.operations[2].after == IndexList{0});
    REQUIRE(worker.operations[5].after == IndexList{3, 4});
}

TEST_CASE("large transfers over channels and sockets move the right bytes", "[lanes]") {
    for (CollectiveCall call : tests::every_form()) {
        const int size = call.collective == Collective::send ? 2 : 3;
        call.bytes = 200001; // on the wire: pieces of 64 KiB, and short ones
        call.channels = 2;
        call.sockets = 2;
        INFO(tests::text(call, size));
        REQUIRE(tests::wrong_result(call, tests::all_ranks(call, size), {65536, 3}) == "");
    }
}
