#include "tests/catch.hpp"
#include "tests/loopback_job.hpp"

#include <algorithm>
#include <numeric>
#include <set>

using namespace generator;
using namespace std::chrono_literals;

namespace {

Profile brief_profile() {
    Profile profile;
    profile.compute = {.forward = 5ms, .backward = 5ms, .optimizer = 1ms};
    profile.gradients.bucketing = Bucketing::explicit_list;
    return profile;
}

/// Two all-reduces, the second 20 ms after the first, so that there is a gap between them.
Workload two_buckets() {
    Workload workload;
    workload.element_bytes = 4;
    workload.compute = 31ms;
    workload.later_iterations = {{{.bytes = 2'000'000}, 0, 10ms, 10ms}, {{.bytes = 400'000}, 0, 30ms, 30ms}};
    workload.first_iteration = workload.later_iterations;
    workload.collective.channels = 2;
    return workload;
}

std::int64_t acked_bytes(const TcpLog& log) {
    return std::accumulate(
        log.records.begin(), log.records.end(), std::int64_t{0},
        [](std::int64_t sum, const TcpRecord& record) { return sum + record.info.acked_bytes; });
}

/// On which a rank sends in that bucket, by the plan.
std::size_t sending_connections(const Workload& workload, const BucketKind& bucket, int rank,
                                int world_size) {
    std::set<std::pair<int, std::uint32_t>> places;
    for (const Operation& operation : bucket_plan(workload, bucket, rank, world_size).operations)
        if (operation.is_send())
            places.insert({operation.peer, operation.lane});
    return places.size();
}

} // namespace

TEST_CASE("each bucket has a record of each connection that its plan sends on", "[tcp]") {
    Workload workload = two_buckets();
    workload.collective.algorithm = GENERATE(Algorithm::ring, Algorithm::server);
    constexpr std::uint32_t iterations = 3;
    std::vector<TcpLog> logs(3);
    const auto results = tests::run_job(brief_profile(), workload,
                                        {.world_size = 3,
                                         .iterations = iterations,
                                         .adjust =
                                             [&](int rank, EngineSettings& settings) {
                                                 settings.tcp_log = &logs[static_cast<std::size_t>(rank)];
                                             },
                                         .before_connect = {}});
    for (int rank = 0; rank < 3; ++rank) {
        const auto& result = results[static_cast<std::size_t>(rank)];
        const TcpLog& log = logs[static_cast<std::size_t>(rank)];
        REQUIRE(result.error == "");
        CHECK(log.rank == rank);
        std::size_t expected = 0;
        for (const WorkloadBucket& bucket : workload.later_iterations)
            expected += iterations * sending_connections(workload, bucket, rank, 3);
        CHECK(log.records.size() == expected);
        for (const BucketRecord& bucket : result.timeline.buckets)
            CHECK(std::any_of(log.records.begin(), log.records.end(), [&](const TcpRecord& record) {
                return record.iteration == bucket.iteration && record.bucket == bucket.bucket;
            }));
        // Also the last bytes, which are on their way when a rank is done.
        CHECK(acked_bytes(log) == static_cast<std::int64_t>(result.timeline.sent_bytes));
        for (const TcpRecord& record : log.records) {
            CHECK(record.info.rtt_us > 0);
            CHECK(record.info.cwnd_segments > 0);
            CHECK(record.info.retransmitted_segments >= 0);
        }
    }
}

TEST_CASE("a run that fails keeps what its connections told, also of the bucket under way", "[tcp]") {
    std::vector<TcpLog> logs(2);
    const auto results = tests::run_job(brief_profile(), two_buckets(),
                                        {.world_size = 2,
                                         .iterations = 5,
                                         .adjust =
                                             [&](int rank, EngineSettings& settings) {
                                                 settings.tcp_log = &logs[static_cast<std::size_t>(rank)];
                                                 if (rank == 1)
                                                     settings.may_start = [](std::uint32_t iteration) {
                                                         if (iteration == 2)
                                                             throw std::runtime_error("enough");
                                                         return true;
                                                     };
                                             },
                                         .before_connect = {}});
    CHECK(results[0].error != "");
    CHECK(results[1].error != "");
    CHECK(logs[1].records.size() == 2 * 2 * 2); // iterations, buckets, channels
    // Rank 0 may have seen rank 1 leave before or in its third iteration.
    CHECK(logs[0].records.size() >= 2 * 2 * 2);
    CHECK(logs[0].records.size() <= 2 * 2 * 2 + 2);
}

TEST_CASE("a log that has no more room says from which iteration on, and stays as it is", "[tcp]") {
    TcpLog log;
    TcpWatch watch({{{1, 0}, -1}}, log);
    log.records.resize(most_tcp_records - 2);
    watch.make_room(6, 2);
    watch.note(6, 0, {1, 0});
    watch.note(6, 1, {1, 0});
    CHECK_FALSE(log.left_out_from);
    watch.make_room(7, 2);
    CHECK(log.left_out_from == 7);
    watch.make_room(8, 0);
    watch.note(8, 0, {1, 0});
    watch.settle();
    CHECK(log.left_out_from == 7);
    CHECK(log.records.size() == most_tcp_records);
    CHECK(log.records.back().iteration == 6);
}

TEST_CASE("a place that is no connection of the watch is left out", "[tcp]") {
    TcpLog log;
    TcpWatch watch({{{1, 0}, -1}}, log);
    watch.note(0, 0, {1, 1});
    watch.note(0, 0, {2, 0});
    CHECK(log.records.empty());
}
