#include "generator/cpu_seconds.hpp"
#include "tests/catch.hpp"
#include "tests/loopback_job.hpp"

#include <asio/connect.hpp>
#include <asio/write.hpp>

#include <numeric>

using namespace generator;
using namespace std::chrono_literals;

namespace {

Profile short_profile() {
    Profile profile;
    profile.compute = {.forward = 5ms, .backward = 5ms, .optimizer = 1ms};
    profile.gradients.bucketing = Bucketing::explicit_list;
    return profile;
}

/// All-reduces of the given sizes, all due 10 ms after the start of their iteration.
Workload all_reduces(const std::vector<std::uint64_t>& sizes, std::uint64_t element_bytes = 4) {
    Workload workload;
    workload.element_bytes = element_bytes;
    workload.compute = 11ms;
    for (const std::uint64_t bytes : sizes)
        workload.later_iterations.push_back({{.bytes = bytes}, 0, 10ms, 10ms});
    workload.first_iteration = workload.later_iterations;
    return workload;
}

} // namespace

TEST_CASE("a ring on real sockets sums exactly, for 1 to 9 ranks and odd sizes", "[engine]") {
    const int world_size = GENERATE(1, 2, 3, 4, 5, 6, 7, 8, 9);
    // Fewer elements than ranks, one chunk short of a segment, and sizes that no number of ranks divides.
    const Workload workload = all_reduces({4, 12, 65540, 1000004, 300000});
    const auto results = tests::run_job(short_profile(), workload,
                                        {.world_size = world_size, .adjust = {}, .before_connect = {}});
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int rank = 0; rank < world_size; ++rank) {
        const tests::RankResult& result = results[static_cast<std::size_t>(rank)];
        REQUIRE(result.error == "");
        REQUIRE(result.timeline.iterations.size() == 2);
        REQUIRE(result.timeline.buckets.size() == 10);
        REQUIRE(result.timeline.sent_bytes == planned_bytes(workload, rank, world_size, 2));
        sent += result.timeline.sent_bytes;
        received += result.timeline.received_bytes;
    }
    REQUIRE(sent == received);
    REQUIRE(sent == 2 * 2 * static_cast<std::uint64_t>(world_size - 1) * 1365560); // 2 iterations x 2(N-1) S
}

TEST_CASE("further runs over the same connections sum exactly as well", "[engine]") {
    const bool verify = GENERATE(true, false);
    // The last receives leave a high SO_RCVLOWAT behind; the first ones are of one byte, for which nobody
    // sets it.
    const Workload workload = verify ? all_reduces({12, 3000000}) : all_reduces({3, 3000000}, 1);
    const auto results =
        tests::run_job(short_profile(), workload,
                       {.world_size = 3, .verify = verify, .adjust = {}, .before_connect = {}, .runs = 3});
    for (int rank = 0; rank < 3; ++rank) { // of the last run
        const tests::RankResult& result = results[static_cast<std::size_t>(rank)];
        REQUIRE(result.error == "");
        REQUIRE(result.timeline.iterations.size() == 2);
        REQUIRE(result.timeline.sent_bytes == planned_bytes(workload, rank, 3, 2));
        REQUIRE(result.timeline.received_bytes == result.timeline.sent_bytes);
    }
}

TEST_CASE("discarded payload: the same bytes arrive, nobody looks at them", "[engine]") {
    const int world_size = GENERATE(2, 3, 4);
    const Workload workload = all_reduces({20'000'001, 7}, 1);
    const auto results =
        tests::run_job(short_profile(), workload,
                       {.world_size = world_size, .verify = false, .adjust = {}, .before_connect = {}});
    for (int rank = 0; rank < world_size; ++rank) {
        const tests::RankResult& result = results[static_cast<std::size_t>(rank)];
        REQUIRE(result.error == "");
        REQUIRE(result.timeline.sent_bytes == planned_bytes(workload, rank, world_size, 2));
    }
}

TEST_CASE("buckets of one iteration run in order, and none starts before it is due", "[engine]") {
    const Workload workload = all_reduces({400'000, 8, 400'000});
    const auto results =
        tests::run_job(short_profile(), workload, {.world_size = 3, .adjust = {}, .before_connect = {}});
    for (const tests::RankResult& result : results) {
        REQUIRE(result.error == "");
        std::int64_t previous_end = 0;
        for (const BucketRecord& record : result.timeline.buckets) {
            REQUIRE(record.start_ns >= record.due_ns);
            REQUIRE(record.start_ns >= previous_end);
            REQUIRE(record.late_ns >= 0);
            REQUIRE(record.end_ns >= record.start_ns);
            previous_end = record.end_ns;
        }
        const auto& iterations = result.timeline.iterations;
        // The next iteration starts where the last one ended: optimizer after the last bucket or backward.
        REQUIRE(iterations[1].start_ns == iterations[0].end_ns);
        REQUIRE(iterations[0].end_ns ==
                std::max<std::int64_t>(10'000'000, result.timeline.buckets[2].end_ns) + 1'000'000);
    }
}

TEST_CASE("a broadcast and an all-reduce share the connections", "[engine]") {
    Workload workload = all_reduces({1000});
    workload.later_iterations.insert(workload.later_iterations.begin(),
                                     {{.collective = Collective::broadcast, .bytes = 212480}, 0, 0ms, 10ms});
    const auto results = tests::run_job(
        short_profile(), workload, {.world_size = 4, .iterations = 3, .adjust = {}, .before_connect = {}});
    for (const tests::RankResult& result : results) {
        REQUIRE(result.error == "");
        REQUIRE(result.timeline.buckets.size() == 5); // the first iteration has no broadcast
    }
}

namespace {

/// Rank 1 of three is asked to stop from the start. Returns what each rank says.
std::vector<std::string> stop_rank_1(const Profile& profile, const Workload& workload) {
    int descriptors[2] = {-1, -1};
    REQUIRE(pipe(descriptors) == 0);
    REQUIRE(write(descriptors[1], "x", 1) == 1);
    const auto results = tests::run_job(profile, workload,
                                        {.world_size = 3,
                                         .iterations = 1000,
                                         .adjust =
                                             [&](int rank, EngineSettings& settings) {
                                                 if (rank != 1)
                                                     return;
                                                 settings.stop_descriptor = descriptors[0];
                                                 settings.stop_signal = [] { return 15; };
                                             },
                                         .before_connect = {}});
    close(descriptors[0]);
    close(descriptors[1]);
    return {results[0].error, results[1].error, results[2].error};
}

/// The first bucket of its all-reduces is due in an hour.
Workload slow_all_reduces() {
    Workload workload = all_reduces({1000});
    workload.first_iteration[0].ready_after = 1h;
    return workload;
}

} // namespace

TEST_CASE("a rank that is asked to stop says so, and the others hear it, also in a gap", "[engine]") {
    const Workload workload = GENERATE(all_reduces({1000}), all_reduces({400'000'000}), slow_all_reduces());
    const auto errors = stop_rank_1(short_profile(), workload);
    const std::string stopped = "stopped by signal 15 (Terminated)";
    CHECK(errors[1] == stopped);
    CHECK(errors[0] == stopped); // it sends to rank 1
    // Rank 2 hears it from rank 0, unless it was just about to receive from rank 1.
    if (errors[2] != stopped)
        CHECK_THAT(errors[2],
                   Catch::Contains("rank 1 on localhost") && Catch::Contains("iteration 0, bucket 0"));
}

TEST_CASE("a peer that leaves without a word is noticed at once, also in a gap", "[engine]") {
    const auto results = tests::run_job(short_profile(), slow_all_reduces(),
                                        {.world_size = 3,
                                         .iterations = 1000,
                                         .adjust =
                                             [](int rank, EngineSettings& settings) {
                                                 if (rank == 1)
                                                     settings.may_start = [](std::uint32_t) -> bool {
                                                         throw std::runtime_error("no more");
                                                     };
                                             },
                                         .before_connect = {}});
    CHECK_THAT(results[1].error, Catch::Contains("no more"));
    CHECK_THAT(results[0].error,
               Catch::Contains("rank 1 on localhost") && Catch::Contains("closed the connection"));
    CHECK_THAT(results[2].error,
               Catch::Contains("rank 0 on localhost") && Catch::Contains("closed the connection"));
}

TEST_CASE("a bucket whose bytes stand still fails with what is missing and from whom", "[engine]") {
    Profile profile = short_profile();
    profile.network.stall_timeout = 300ms;
    const auto results = tests::run_job(profile, all_reduces({1000}),
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
    REQUIRE_THAT(results[0].error, Catch::Contains("no byte moved for ") &&
                                       Catch::Contains("from rank 1 on localhost") &&
                                       Catch::Contains("0 of 500 bytes"));
}

TEST_CASE("strangers at the port are dropped and the job goes on", "[transport]") {
    using asio::ip::tcp;
    asio::io_context context;
    std::vector<tcp::socket> strangers;
    const auto knock = [&](const std::vector<Endpoint>& endpoints) {
        const std::string http = "GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n";
        const HelloBytes wrong_token = encode({.token = {}, .rank = 0});
        for (const Endpoint& endpoint : endpoints) {
            const tcp::endpoint address(asio::ip::make_address(endpoint.address), endpoint.port);
            for (const asio::const_buffer bytes :
                 {asio::const_buffer(asio::buffer(http)), asio::const_buffer(asio::buffer(wrong_token)),
                  asio::const_buffer()}) {
                strangers.emplace_back(context);
                strangers.back().connect(address);
                asio::write(strangers.back(), bytes);
            }
        }
    };
    const auto results = tests::run_job(short_profile(), all_reduces({1000}),
                                        {.world_size = 3, .adjust = {}, .before_connect = knock});
    for (const tests::RankResult& result : results)
        REQUIRE(result.error == "");
}

TEST_CASE("a peer that never comes is named with the time waited", "[transport]") {
    asio::io_context context(1);
    Listener listener(context, "127.0.0.1", {}, {});
    Listener silent(context, "127.0.0.1", {}, {}); // accepts in the kernel, never answers the hello
    const std::vector<Endpoint> endpoints{{0, "here", "lo", "127.0.0.1", listener.port()},
                                          {1, "there", "lo", "127.0.0.1", silent.port()}};
    ConnectSettings settings;
    settings.timeout = 300ms;
    REQUIRE_THROWS_WITH(
        connect_peers(context, std::move(listener), 0, endpoints, {{{.peer = 1}}, {{.peer = 1}}}, settings),
        Catch::Contains("rank 1 on there") && Catch::Contains("cannot connect") &&
            Catch::Contains("no connection from"));
}

TEST_CASE("a fixed port range gives each rank of a host its own port, and says when it is too small",
          "[transport]") {
    asio::io_context context(1);
    const Listener first(context, "127.0.0.1", {}, {});
    const std::uint16_t taken = first.port();
    REQUIRE_THROWS_WITH(Listener(context, "127.0.0.1", {taken, taken}, {}),
                        Catch::Contains("listen on 127.0.0.1") && Catch::Contains(std::to_string(taken)));
}

TEST_CASE("waiting costs nothing: four ranks in a compute gap of 1 s", "[engine]") {
    Profile profile = short_profile();
    profile.compute = {.forward = 500ms, .backward = 500ms, .optimizer = 0ms};
    Workload workload = all_reduces({1000});
    workload.compute = 1s;
    workload.first_iteration[0].ready_after = workload.first_iteration[0].needed_at = 1s;
    tests::run_job(profile, workload,
                   {.world_size = 4, .iterations = 1, .adjust = {}, .before_connect = {}}); // warm
    const double before = cpu_seconds();
    const auto results = tests::run_job(
        profile, workload, {.world_size = 4, .iterations = 1, .adjust = {}, .before_connect = {}});
    const double used = cpu_seconds() - before;
    REQUIRE(results[0].error == "");
    // Four busy waits would use 2 s on two cores. Set-up and calibration are in this figure.
    REQUIRE(used < 0.2);
}
