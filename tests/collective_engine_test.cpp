// Every collective and algorithm on real sockets, with every received element checked (--verify).
#include "tests/catch.hpp"
#include "tests/loopback_job.hpp"
#include "tests/workloads.hpp"

#include <map>

using namespace generator;
using namespace std::chrono_literals;
using tests::bucket;

namespace {

Profile impatient_profile() {
    Profile profile;
    profile.compute = {.forward = 5ms, .backward = 5ms, .optimizer = 1ms};
    profile.gradients.bucketing = Bucketing::explicit_list;
    profile.network.stall_timeout = 5s;
    return profile;
}

/// Smaller than the number of ranks, one segment and a bit, and sizes that no number of ranks divides.
Workload of_all_sizes(const std::vector<Collective>& collectives) {
    Workload workload;
    workload.compute = 11ms;
    for (const Collective collective : collectives)
        for (const std::uint64_t bytes : {4u, 28u, 65540u, 1000004u, 300000u})
            workload.later_iterations.push_back(bucket(collective, bytes, 2ms, 10ms));
    workload.first_iteration = workload.later_iterations;
    return workload;
}

/// Runs it, and checks that every rank ends well and that bytes add up to what the plans say.
std::vector<tests::RankResult> run_and_check(const Workload& workload, int world_size,
                                             std::uint32_t iterations = 2) {
    auto results = tests::run_job(
        impatient_profile(), workload,
        {.world_size = world_size, .iterations = iterations, .adjust = {}, .before_connect = {}});
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int rank = 0; rank < world_size; ++rank) {
        const tests::RankResult& result = results[static_cast<std::size_t>(rank)];
        INFO("rank " << rank);
        REQUIRE(result.error == "");
        REQUIRE(result.timeline.iterations.size() == iterations);
        REQUIRE(result.timeline.sent_bytes == planned_bytes(workload, rank, world_size, iterations));
        std::uint64_t in_buckets = 0;
        for (const BucketRecord& record : result.timeline.buckets)
            in_buckets += record.sent_bytes;
        REQUIRE(in_buckets == result.timeline.sent_bytes);
        sent += result.timeline.sent_bytes;
        received += result.timeline.received_bytes;
    }
    REQUIRE(sent == received);
    return results;
}

std::size_t outgoing_connections(const Workload& workload, int world_size) {
    std::size_t connections = 0;
    for (int rank = 0; rank < world_size; ++rank)
        connections += needed_peers(workload, rank, world_size).outgoing.size();
    return connections;
}

} // namespace

TEST_CASE("every collective by every algorithm is exact on real sockets", "[engine][collectives]") {
    const int world_size = GENERATE(2, 3, 4, 7, 8);
    Workload workload = of_all_sizes({Collective::all_reduce, Collective::reduce_scatter,
                                      Collective::all_gather, Collective::broadcast, Collective::all_to_all});
    workload.collective.algorithm =
        GENERATE(Algorithm::ring, Algorithm::server, Algorithm::sharded_server, Algorithm::halving_doubling,
                 Algorithm::double_binary_tree, Algorithm::hierarchical);
    workload.collective.service = GENERATE(Service::sequenced, Service::incast);
    if (workload.collective.service == Service::incast && workload.collective.algorithm != Algorithm::server)
        return;
    if (workload.collective.algorithm == Algorithm::hierarchical) {
        if (world_size % 2 != 0 || world_size < 4)
            return; // hosts of two ranks each, and more than one of them
        for (int rank = 0; rank < world_size; ++rank)
            workload.hosts.push_back(rank / 2);
    }
    INFO("algorithm " << static_cast<int>(workload.collective.algorithm) << ", " << world_size << " ranks");
    std::uint64_t checked = 0;
    for (const tests::RankResult& result : run_and_check(workload, world_size))
        checked += result.checked_elements;
    // Of each size, by N ranks: N times the elements of an all-reduce, an all-gather and a broadcast; of a
    // reduce-scatter and an all-to-all, in which rank r receives N-1 times its chunk, N times together.
    const std::uint64_t elements = (4 + 28 + 65540 + 1000004 + 300000) / 4;
    CHECK(checked == 2 * elements * 4 * static_cast<std::uint64_t>(world_size));
}

TEST_CASE("channels and sockets carry parts of a bucket side by side", "[engine][collectives]") {
    const int world_size = GENERATE(4, 7);
    const Algorithm algorithm = GENERATE(Algorithm::ring, Algorithm::server, Algorithm::sharded_server,
                                         Algorithm::halving_doubling, Algorithm::double_binary_tree);
    Workload workload = of_all_sizes({Collective::all_reduce});
    workload.later_iterations.push_back(bucket(Collective::all_gather, 2'000'004, 3ms, 10ms));
    workload.later_iterations.push_back(bucket(Collective::all_to_all, 2'000'004, 3ms, 10ms));
    workload.collective.algorithm = algorithm;
    const auto [channels, sockets, in_flight] =
        GENERATE(table<std::uint32_t, std::uint32_t, std::uint32_t>({{2, 1, 1}, {1, 3, 2}, {2, 2, 2}}));
    workload.collective.channels = channels;
    workload.collective.sockets_per_channel = sockets;
    workload.collective.in_flight = in_flight;
    INFO("algorithm " << static_cast<int>(algorithm) << ", " << world_size << " ranks, " << channels
                      << " channels, " << sockets << " sockets, " << in_flight << " in flight");
    run_and_check(workload, world_size);
}

TEST_CASE("a ring opens one connection per channel, socket and queue to its neighbour, and no other",
          "[engine][transport]") {
    Workload workload = of_all_sizes({Collective::all_reduce});
    workload.collective.channels = 2;
    workload.collective.sockets_per_channel = 3;
    workload.collective.in_flight = 2;
    CHECK(outgoing_connections(workload, 4) == 4 * 2 * 3 * 2);
    for (const PeerLane& place : needed_peers(workload, 1, 4).outgoing)
        CHECK((place.peer == 2 || place.peer == 0)); // channels may run in both directions
    // A single bucket uses one queue only, whatever could be in flight.
    workload.first_iteration =
        workload.later_iterations = {bucket(Collective::all_reduce, 1'000'000, 0ms, 0ms)};
    CHECK(outgoing_connections(workload, 4) == 4 * 2 * 3);
}

TEST_CASE("two collectives of one group run at the same time with in_flight 2, one after the other with 1",
          "[engine][collectives]") {
    const std::uint32_t in_flight = GENERATE(1u, 2u);
    Workload workload;
    workload.compute = 60ms;
    workload.collective.in_flight = in_flight;
    // Rank 1 comes to the first bucket 30 ms after rank 0: until then rank 0 has it in flight.
    workload.groups = {{"all", {}}, {"late", {{1, 2}}}};
    workload.later_iterations = {bucket(Collective::all_reduce, 400'000, 2ms, 50ms),
                                 bucket(Collective::all_reduce, 400'000, 2ms, 50ms)};
    workload.first_iteration = workload.later_iterations;
    const auto results = run_and_check(workload, 3);
    for (const tests::RankResult& result : results) {
        std::map<std::uint32_t, BucketRecord> of_first;
        for (const BucketRecord& record : result.timeline.buckets)
            if (record.iteration == 0)
                of_first[record.bucket] = record;
        if (in_flight == 1)
            CHECK(of_first[1].start_ns >= of_first[0].end_ns);
        else // both are due at once; the second does not wait for the first
            CHECK(of_first[1].start_ns < of_first[0].start_ns + 30'000'000);
        CHECK(of_first[0].late_ns >= 0);
        CHECK(of_first[1].late_ns >= 0);
    }
}

TEST_CASE("computing stands still for a bucket that it needs, and all that follows is due later",
          "[engine][collectives]") {
    Workload workload;
    workload.compute = 30ms;
    // Rank 0 is held up for 40 ms; rank 1 waits for it at 10 ms of its own computing.
    workload.groups = {{"all", {}}, {"alone", {{0}}}};
    workload.later_iterations = {bucket(Collective::all_reduce, 100'000, 5ms, 10ms),
                                 bucket(Collective::all_gather, 100'000, 20ms, 25ms)};
    workload.first_iteration = workload.later_iterations;
    const auto results = tests::run_job(impatient_profile(), workload,
                                        {.world_size = 2,
                                         .iterations = 2,
                                         .adjust =
                                             [](int rank, EngineSettings& settings) {
                                                 settings.may_start = [rank](std::uint32_t iteration) {
                                                     if (rank == 0 && iteration == 1)
                                                         std::this_thread::sleep_for(80ms);
                                                     return iteration < 2;
                                                 };
                                             },
                                         .before_connect = {}});
    for (const tests::RankResult& result : results)
        REQUIRE(result.error == "");
    const Timeline& waited = results[1].timeline;
    REQUIRE(waited.buckets.size() == 4);
    const IterationRecord& iteration = waited.iterations[1];
    const BucketRecord& first = waited.buckets[2];
    const BucketRecord& second = waited.buckets[3];
    CHECK(first.due_ns == iteration.start_ns + 5'000'000);
    const std::int64_t stalled = first.end_ns - (iteration.start_ns + 10'000'000);
    CHECK(stalled > 0);
    CHECK(second.due_ns == iteration.start_ns + 20'000'000 + stalled);
    CHECK(second.start_ns >= second.due_ns);
    const std::int64_t second_stalled =
        std::max<std::int64_t>(0, second.end_ns - (iteration.start_ns + 25'000'000 + stalled));
    CHECK(iteration.end_ns == iteration.start_ns + 30'000'000 + stalled + second_stalled);
}

TEST_CASE("groups work side by side, and ranks that take no part have no record", "[engine][collectives]") {
    const std::uint32_t in_flight = GENERATE(1u, 2u);
    Workload workload;
    workload.compute = 20ms;
    workload.collective.in_flight = in_flight;
    // Two tensor-parallel pairs, the data-parallel groups across them, one pair of its own, and all together.
    workload.groups = {
        {"all", {}}, {"tensor", {{0, 1}, {2, 3}}}, {"data", {{2, 0}, {1, 3}}}, {"some", {{3, 1}}}};
    workload.later_iterations = {bucket(Collective::all_reduce, 100'004, 1ms, 2ms, 1),
                                 bucket(Collective::broadcast, 50'000, 1ms, 15ms, 3),
                                 bucket(Collective::reduce_scatter, 500'004, 3ms, 15ms, 2),
                                 bucket(Collective::all_reduce, 100'004, 4ms, 5ms, 1),
                                 bucket(Collective::all_gather, 500'004, 6ms, 15ms, 2),
                                 bucket(Collective::all_to_all, 300'000, 10ms, 15ms, 0)};
    workload.first_iteration = workload.later_iterations;
    const auto results = run_and_check(workload, 4, 3);
    const auto records_of = [&](int rank, std::uint32_t number) {
        std::size_t count = 0;
        for (const BucketRecord& record : results[static_cast<std::size_t>(rank)].timeline.buckets)
            count += record.bucket == number ? 1 : 0;
        return count;
    };
    CHECK(records_of(0, 1) == 0); // only ranks 1 and 3 are in "some"
    CHECK(records_of(1, 1) == 3);
    CHECK(records_of(0, 5) == 3); // numbered as in the workload, whoever takes part
    CHECK(results[0].timeline.buckets.size() == 3 * 5);
    CHECK(results[1].timeline.buckets.size() == 3 * 6);
}

TEST_CASE("a pipeline hands activations on and gradients back", "[engine][collectives]") {
    // Three stages; forward 0 -> 1 -> 2, then backward 2 -> 1 -> 0, for two microbatches. Whoever receives
    // waits for it where its own computing needs it.
    Workload workload;
    workload.compute = 20ms;
    workload.groups = {
        {"0 to 1", {{0, 1}}}, {"1 to 2", {{1, 2}}}, {"2 to 1", {{2, 1}}}, {"1 to 0", {{1, 0}}}};
    const auto send = [&](std::uint32_t group, nanoseconds at) {
        workload.later_iterations.push_back(bucket(Collective::send, 300'004, at, at + 4ms, group));
    };
    for (const nanoseconds microbatch : {0ms, 2ms}) {
        send(0, 1ms + microbatch);
        send(1, 3ms + microbatch);
    }
    for (const nanoseconds microbatch : {0ms, 2ms}) {
        send(2, 8ms + microbatch);
        send(3, 10ms + microbatch);
    }
    workload.first_iteration = workload.later_iterations;
    const auto results = run_and_check(workload, 3, 2);
    CHECK(results[0].timeline.buckets.size() == 2 * 4);
    CHECK(results[1].timeline.buckets.size() == 2 * 8);
    CHECK(results[0].timeline.sent_bytes == 2 * 2 * 300'004);
    CHECK(results[1].timeline.sent_bytes == 2 * 4 * 300'004);
    CHECK(outgoing_connections(workload, 3) == 4);
}

TEST_CASE("a stall names every bucket in flight", "[engine][collectives]") {
    Profile profile = impatient_profile();
    profile.network.stall_timeout = 300ms;
    Workload workload;
    workload.compute = 11ms;
    workload.collective.in_flight = 2;
    for (int i = 0; i < 2; ++i)
        workload.later_iterations.push_back(bucket(Collective::all_reduce, 1000, 2ms, 10ms));
    workload.first_iteration = workload.later_iterations;
    const auto results = tests::run_job(profile, workload,
                                        {.world_size = 2,
                                         .iterations = 1000,
                                         .adjust =
                                             [](int rank, EngineSettings& settings) {
                                                 if (rank == 1) // never gets to its second iteration
                                                     settings.may_start = [](std::uint32_t iteration) {
                                                         if (iteration > 0)
                                                             std::this_thread::sleep_for(1500ms);
                                                         return iteration == 0;
                                                     };
                                             },
                                         .before_connect = {}});
    CHECK_THAT(results[0].error, Catch::Contains("iteration 1, bucket 0 and 1: no byte moved for ") &&
                                     Catch::Contains(" s: bucket 0: to rank 1") &&
                                     Catch::Contains("; bucket 1: to rank 1") &&
                                     Catch::Contains("0 of 500 bytes"));
}

TEST_CASE("a wrong result is found and named", "[engine][collectives]") {
    // The plan of a broadcast for a bucket that says all-reduce: nobody adds.
    Workload told;
    told.later_iterations = {bucket(Collective::all_reduce, 4'000, 0ms, 0ms)};
    told.first_iteration = told.later_iterations;
    const auto payload = verified_payload(1, 2, told);
    const IterationSchedule schedule = iteration_schedule(impatient_profile(), told, 1, 0);
    payload->prepare(0, schedule);
    CHECK_THROWS_WITH(payload->check(0),
                      Catch::Contains("verify: rank 1, iteration 0, bucket 0 (all_reduce), "
                                      "element 0 is 4, should be 5"));
}
