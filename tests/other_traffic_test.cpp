#include "generator/other_traffic.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace generator;
using collectors::Direction;

namespace {

/// Iteration 0 all-reduces 1,200 B, later ones 400 B; in a ring of four, a rank sends 2 x 3/4 of a bucket.
Workload other_workload() {
    Workload workload;
    workload.first_iteration = {{{.bytes = 1'200}}};
    workload.later_iterations = {{{.bytes = 400}}};
    return workload;
}

/// Buckets from 10 to 20, 30 to 40 and 50 to 60, in a run that began at 1000.
Timeline other_timeline() {
    Timeline timeline;
    timeline.start_monotonic_ns = 1'000;
    for (std::uint32_t i = 0; i < 3; ++i)
        timeline.buckets.push_back({.iteration = i,
                                    .start_ns = 10 + 20 * i,
                                    .end_ns = 20 + 20 * i,
                                    .sent_bytes = i == 0 ? 1'800u : 600u,
                                    .received_bytes = i == 0 ? 1'800u : 600u});
    timeline.sent_bytes = timeline.received_bytes = 3'000;
    return timeline;
}

} // namespace

TEST_CASE("another job's buckets count as far as they lie in the time", "[other_traffic]") {
    const Workload workload = other_workload();
    const Timeline timeline = other_timeline();
    const std::vector<OtherTraffic> others{{"b", &workload, 4, {2}, {&timeline}}};
    const auto bytes = [&](std::int64_t from, std::int64_t to) {
        const OtherPayload payload = other_payload(others, Direction::tx, 1'000 + from, 1'000 + to, false);
        return std::vector<std::uint64_t>{payload.least_bytes, payload.most_bytes.value()};
    };
    CHECK(bytes(0, 100) == std::vector<std::uint64_t>{3'000, 3'000});
    CHECK(bytes(20, 50) == std::vector<std::uint64_t>{600, 600});
    CHECK(bytes(15, 55) == std::vector<std::uint64_t>{600, 3'000});
    CHECK(bytes(21, 29) == std::vector<std::uint64_t>{0, 0});
    CHECK(bytes(32, 38) == std::vector<std::uint64_t>{0, 600});
    // Six chunks in each iteration, each perhaps with a header of its own.
    CHECK(other_payload(others, Direction::tx, 1'000, 1'100, false).messages == 18);
    CHECK(other_payload(others, Direction::tx, 1'015, 1'035, false).messages == 12);
}

TEST_CASE("what ranks of one host send to each other is not in its counter", "[other_traffic]") {
    const Workload workload = other_workload();
    const Timeline timeline = other_timeline();
    const std::vector<OtherTraffic> neighbours{{"b", &workload, 4, {0, 1}, {&timeline, &timeline}}};
    CHECK(other_payload(neighbours, Direction::tx, 0, 2'000, false).least_bytes == 3'000); // rank 1's alone
    CHECK(other_payload(neighbours, Direction::tx, 0, 2'000, true).least_bytes == 6'000);
}

TEST_CASE("what was under way at a job's end may have crossed; a rank that is gone leaves it open",
          "[other_traffic]") {
    const Workload workload = other_workload();
    Timeline timeline = other_timeline();
    timeline.sent_bytes += 77;
    std::vector<OtherTraffic> others{{"b", &workload, 4, {2}, {&timeline}}};
    const OtherPayload payload = other_payload(others, Direction::tx, 0, 2'000, false);
    CHECK(payload.least_bytes == 3'000);
    CHECK(payload.most_bytes == 3'077u);
    others[0].ranks.push_back(3);
    others[0].timelines.push_back(nullptr);
    CHECK_FALSE(other_payload(others, Direction::tx, 0, 2'000, false).most_bytes);
}
