#include "tests/catch.hpp"
#include "tests/loopback_job.hpp"

using namespace generator;
using namespace std::chrono_literals;

TEST_CASE("a server on real sockets sums exactly, in both orders of service", "[engine][server]") {
    const int world_size = GENERATE(1, 2, 3, 4, 7);
    const Service service = GENERATE(Service::sequenced, Service::incast);
    const bool verify = GENERATE(true, false);
    Profile profile;
    profile.compute = {.forward = 5ms, .backward = 5ms, .optimizer = 1ms};
    profile.gradients.bucketing = Bucketing::explicit_list;
    Workload workload;
    workload.compute = 11ms;
    workload.collective.algorithm = Algorithm::server;
    workload.collective.service = service;
    // Smaller than a signal, one segment and a bit, and sizes that split floats between calls.
    for (const std::uint64_t bytes : {4u, 12u, 65540u, 1000004u, 300000u})
        workload.later_iterations.push_back({{.bytes = bytes}, 0, 10ms, 10ms});
    workload.first_iteration = workload.later_iterations;
    workload.later_iterations.push_back(
        {{.collective = Collective::broadcast, .bytes = 212480}, 0, 10ms, 10ms});
    const auto results = tests::run_job(
        profile, workload, {.world_size = world_size, .verify = verify, .adjust = {}, .before_connect = {}});
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int rank = 0; rank < world_size; ++rank) {
        const tests::RankResult& result = results[static_cast<std::size_t>(rank)];
        REQUIRE(result.error == "");
        REQUIRE(result.timeline.buckets.size() == 11);
        REQUIRE(result.timeline.sent_bytes == planned_bytes(workload, rank, world_size, 2));
        sent += result.timeline.sent_bytes;
        received += result.timeline.received_bytes;
    }
    REQUIRE(sent == received);
}
