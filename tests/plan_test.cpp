#include "generator/plan.hpp"
#include "tests/catch.hpp"
#include "tests/plan_interpreter.hpp"

#include <limits>

using namespace generator;

namespace {

std::vector<RankPlan> all_ranks(const CollectiveCall& call, int world_size) {
    std::vector<RankPlan> plans;
    for (int rank = 0; rank < world_size; ++rank)
        plans.push_back(rank_plan(call, rank, world_size));
    return plans;
}

std::vector<RankPlan> all_ranks(Collective collective, int world_size, std::uint64_t bytes,
                                std::uint64_t element_bytes = 1) {
    return all_ranks({.collective = collective, .bytes = bytes, .element_bytes = element_bytes}, world_size);
}

std::vector<tests::Buffer> distinct_buffers(int world_size, std::uint64_t bytes) {
    std::vector<tests::Buffer> buffers;
    for (std::uint64_t rank = 0; rank < static_cast<std::uint64_t>(world_size); ++rank) {
        buffers.emplace_back();
        for (std::uint64_t i = 0; i < bytes; ++i)
            buffers.back().push_back((rank + 1) * 1000003 + i * i);
    }
    return buffers;
}

std::vector<std::uint64_t> awkward_sizes(int world_size) {
    const auto n = static_cast<std::uint64_t>(world_size);
    return {0, 1, n - 1, n, n + 1, 2 * n + 1, 97};
}

} // namespace

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

TEST_CASE("after a ring all-reduce every rank holds the sum", "[ring]") {
    for (int world_size = 1; world_size <= 33; ++world_size)
        for (const std::uint64_t bytes : awkward_sizes(world_size)) {
            const auto before = distinct_buffers(world_size, bytes);
            tests::Buffer sum(bytes, 0);
            for (const tests::Buffer& buffer : before)
                for (std::size_t i = 0; i < bytes; ++i)
                    sum[i] += buffer[i];
            const auto after = tests::interpret(all_ranks(Collective::all_reduce, world_size, bytes), before);
            for (const tests::Buffer& buffer : after)
                REQUIRE(buffer == sum);
        }
}

TEST_CASE("after a broadcast every rank holds what rank 0 held", "[ring]") {
    for (int world_size = 1; world_size <= 33; ++world_size)
        for (const std::uint64_t bytes : awkward_sizes(world_size)) {
            const auto before = distinct_buffers(world_size, bytes);
            const auto after = tests::interpret(all_ranks(Collective::broadcast, world_size, bytes), before);
            for (const tests::Buffer& buffer : after)
                REQUIRE(buffer == before[0]);
        }
}

TEST_CASE("a ring all-reduce takes 2(N-1) steps and sends 2(N-1) S bytes in all", "[ring]") {
    // 2 GiB - 4, 2 GiB and 4 GiB + 4: where 32-bit counts break (MPI's int, signed sizes).
    const std::uint64_t bytes = GENERATE(as<std::uint64_t>{}, 102228128, 2147483644, 2147483648, 4294967300);
    for (int world_size = 2; world_size <= 33; ++world_size) {
        std::uint64_t total = 0;
        for (const RankPlan& plan : all_ranks(Collective::all_reduce, world_size, bytes, 4)) {
            const auto n = static_cast<std::uint64_t>(world_size);
            REQUIRE(plan.operations.size() == 2 * 2 * (n - 1)); // a send and a receive each
            // Each rank sends all chunks twice, less the two it does not pass on: 2(N-1)/N S within two
            // elements.
            REQUIRE(
                static_cast<double>(plan.sent_bytes()) ==
                Approx(2.0 * static_cast<double>(n - 1) / static_cast<double>(n) * static_cast<double>(bytes))
                    .margin(8));
            total += plan.sent_bytes();
        }
        REQUIRE(total == 2 * static_cast<std::uint64_t>(world_size - 1) * bytes);
    }
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

TEST_CASE("the interpreter sees a deadlock and a size that does not fit", "[plan]") {
    auto plans = all_ranks(Collective::all_reduce, 3, 9);
    SECTION("a first send that waits for the rank's last receive") {
        for (RankPlan& plan : plans)
            plan.operations[0].after = {static_cast<std::uint32_t>(plan.operations.size() - 1)};
        REQUIRE_THROWS_WITH(tests::interpret(plans, distinct_buffers(3, 9)), "the ranks wait for each other");
    }
    SECTION("one send shortened") {
        plans[1].operations[0].range.bytes -= 1;
        REQUIRE_THROWS_WITH(tests::interpret(plans, distinct_buffers(3, 9)),
                            "a receive of another size than its send");
    }
}
