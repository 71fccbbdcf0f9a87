#include "generator/profile_ranks.hpp"
#include "generator/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/profiles.hpp"

#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::message_of;
using tests::shipped_profile;

namespace {

/// Ranks 0 to 3; forward and backward 100 ms, optimizer 5 ms.
Profile four_rank_profile(const std::string& buckets, const std::string& sections = "") {
    return parse_profile({"test.json",
                          R"({"compute": {"forward": "40ms", "backward": "60ms", "optimizer": "5ms"},
        "groups": {"odd": [[0, 2], [1, 3]], "pair": [[0, 1], [2, 3]]}, "gradients": {"bucketing": "explicit", "buckets": [)" +
                              buckets + "]}" + sections + "}",
                          ""});
}

std::string parse_error(const std::string& buckets) {
    return message_of<ProfileError>([&] { four_rank_profile(buckets); });
}

std::string rank_error(const Profile& profile, int world_size, const std::vector<int>& hosts = {}) {
    return message_of<ProfileError>([&] { check_for_ranks(profile, world_size, hosts, "test.json"); });
}

} // namespace

TEST_CASE("a bucket is needed where the optimizer starts unless it says otherwise", "[explicit]") {
    const Workload workload = make_workload(
        four_rank_profile(
            R"({"bytes": 8}, {"bytes": 4, "ready_after": "110ms"}, {"bytes": 4, "group": "odd", "needed_at": "120ms"})"),
        1);
    const std::vector<WorkloadBucket>& buckets = workload.later_iterations;
    CHECK(buckets[0].needed_at == 110ms); // the last bucket that the optimizer needs is ready then
    CHECK(buckets[1].needed_at == 110ms);
    CHECK(buckets[2].needed_at == 120ms);
    CHECK(workload.compute == 120ms); // the optimizer ends after 115 ms, but the last bucket is waited for
}

TEST_CASE("copies come one after another, each as much later", "[explicit]") {
    const Workload workload = make_workload(
        four_rank_profile(
            R"({"bytes": 8, "collective": "all_gather", "group": "odd", "ready_after": "10ms", "needed_at": "12ms",
                    "repeat": 3, "every": "5ms"}, {"bytes": 4, "group": "odd", "ready_after": "20ms"})"),
        1);
    REQUIRE(workload.later_iterations.size() == 4);
    for (std::size_t i = 0; i < 3; ++i) {
        const WorkloadBucket& bucket = workload.later_iterations[i];
        CHECK(bucket.ready_after == 10ms + i * 5ms);
        CHECK(bucket.needed_at == 12ms + i * 5ms);
        CHECK(bucket.collective == Collective::all_gather);
        CHECK(workload.groups[bucket.group].name == "odd");
    }
}

TEST_CASE("in a group no launch lies before that of the bucket in front of it", "[explicit]") {
    const std::string place = "test.json: /gradients/buckets/1/";
    CHECK(parse_error(R"({"bytes": 8, "group": "odd", "ready_after": "10ms", "repeat": 3, "every": "5ms"},
                         {"bytes": 4, "group": "odd", "ready_after": "19ms"})") ==
          place + "ready_after: must not be before the previous bucket's of this group, 20 ms, is 19 ms");
    CHECK(parse_error(R"({"bytes": 8, "group": "odd", "ready_after": "10ms"},
                         {"bytes": 4, "group": "pair", "ready_after": "9ms"})") == "no error");
    // of sends, the senders' launches and the receivers' each go forward
    const std::string send = R"("bytes": 8, "collective": "send", "group": "pair", )";
    CHECK(parse_error("{" + send + R"("ready_after": "50ms", "needed_at": "2ms"}, {)" + send +
                      R"("ready_after": "60ms", "needed_at": "1ms"})") ==
          place + "needed_at: must not be before the previous bucket's of this group, 2 ms, is 1 ms");
    CHECK(parse_error("{" + send + R"("ready_after": "50ms", "needed_at": "2ms"}, {)" + send +
                      R"("ready_after": "50ms", "needed_at": "2ms"})") == "no error");
    // the receiver of a send without needed_at waits at the optimizer, and launches nothing before
    CHECK(parse_error("{" + send +
                      R"("ready_after": "1ms"}, {"bytes": 4, "group": "pair", "ready_after": "50ms"})") ==
          place + "ready_after: must not be before the previous bucket's of this group, 100 ms, is 50 ms");
}

TEST_CASE("ranks that do not exist are refused when the number of ranks is known", "[explicit]") {
    const Profile four = four_rank_profile(R"({"bytes": 8, "group": "odd"})");
    CHECK(rank_error(four, 4) == "no error");
    CHECK(rank_error(four, 3) ==
          "test.json: /groups/odd/1/1: must be less than the number of ranks, 3, is 3");
    CHECK(rank_error(four_rank_profile(R"({"bytes": 8})",
                                       R"(, "collective": {"algorithm": "server", "server_rank": 4})"),
                     4) ==
          "test.json: /collective/server_rank: must be less than the number of ranks, 4, is 4");
    Profile late = four;
    late.stragglers = {{{0}, 2, 0, {}, 1}, {{1, 7}, 2, 0, {}, 1}};
    CHECK(rank_error(late, 4) ==
          "test.json: /compute/stragglers/1/ranks/1: must be less than the number of ranks, 4, is 7");
}

TEST_CASE("hierarchical needs several hosts with equally many ranks each", "[explicit]") {
    const Profile ranks =
        four_rank_profile(R"({"bytes": 8})", R"(, "collective": {"algorithm": "hierarchical"})");
    CHECK(rank_error(ranks, 4, {0, 0, 1, 1}) == "no error");
    CHECK(rank_error(ranks, 4) == "no error"); // each on a host of its own
    const std::string place =
        "test.json: /collective/algorithm: \"hierarchical\" cannot be done by group \"all\": ";
    CHECK_THAT(rank_error(ranks, 4, {0, 0, 0, 0}),
               Catch::Matchers::StartsWith(place) && Catch::Matchers::Contains("at least two hosts"));
    CHECK_THAT(rank_error(ranks, 4, {0, 0, 0, 1}),
               Catch::Matchers::StartsWith(place) && Catch::Matchers::Contains("equally many ranks"));
}

TEST_CASE("a schedule in which ranks wait for each other for ever is refused", "[explicit]") {
    // Ranks 0 and 1 wait in "pair" before they launch "odd"; ranks 2 and 3 the other way round? All do the
    // same: fine.
    const std::string pair = R"({"bytes": 8, "group": "pair", "ready_after": "10ms", "needed_at": "10ms"})";
    const std::string odd = R"({"bytes": 8, "group": "odd", "ready_after": "20ms", "needed_at": "20ms"})";
    CHECK(rank_error(four_rank_profile(pair + ", " + odd), 4) == "no error");
    // Rank 1 receives from rank 0 at its start, but rank 0 sends only when it has the answer.
    const Profile crossed =
        parse_profile({"test.json", R"({"compute": {"forward": "40ms", "backward": "60ms"},
        "groups": {"there": [[0, 1]], "back": [[1, 0]]}, "gradients": {"bucketing": "explicit", "buckets": [
        {"bytes": 8, "collective": "send", "group": "there", "ready_after": "30ms", "needed_at": "10ms"},
        {"bytes": 8, "collective": "send", "group": "back", "ready_after": "20ms", "needed_at": "20ms"}]}})",
                       ""});
    CHECK(rank_error(crossed, 2) == "test.json: /gradients/buckets/1: rank 0 would wait for ever: rank 1 "
                                    "does not launch this bucket before "
                                    "/gradients/buckets/0 is complete");
    // The bucket behind the one that cannot start in the same queue is named by its place in the profile.
    const Profile behind = parse_profile({"test.json", R"({"compute": {"forward": "40ms", "backward": "60ms"},
        "groups": {"a": [[0, 1]], "b": [[0, 1]]}, "gradients": {"bucketing": "explicit", "buckets": [
        {"bytes": 8, "group": "a", "ready_after": "1ms", "needed_at": "1ms", "repeat": 7, "every": "1ms"},
        {"bytes": 8, "group": "b", "ready_after": "1ms", "needed_at": "1ms"}]}})",
                                          ""});
    CHECK(rank_error(behind, 2) == "no error");
}

TEST_CASE("the LLM profile moves what its layers, stages and replicas exchange", "[explicit]") {
    const Profile llm = shipped_profile("llm-3d");
    check_for_ranks(llm, 8, {}, "llm-3d.json");
    CHECK(rank_error(llm, 7) ==
          "test.json: /groups/backward/3/0: must be less than the number of ranks, 7, is 7");
    const Workload workload = make_workload(llm, 1);
    // 4 sequences x 1024 tokens x 768 x 2 bytes; 6 layers x 2 all-reduces in each of 4 passes
    constexpr std::uint64_t activations = 6'291'456;
    // a stage's 6 layers: 6 x ((12 h^2 + 7 h) / 2 + 6 h); half of the embedding, positions or the last norm
    constexpr std::uint64_t layers = 21'277'440;
    constexpr std::uint64_t half_embedding = 50'257 * 768 / 2;
    for (const int rank : {0, 3, 4, 7}) {
        std::uint64_t tensor = 0;
        std::uint64_t sends = 0;
        std::uint64_t gradients = 0;
        const IterationSchedule schedule = iteration_schedule(llm, workload, rank, 1);
        for (const Bucket& bucket : schedule.buckets) {
            const std::string& group = workload.groups[bucket.group].name;
            if (group.starts_with("tensor")) {
                ++tensor;
                CHECK(bucket.bytes == activations);
                CHECK(bucket.ready_after == bucket.needed_at);
            } else if (bucket.collective == Collective::send)
                ++sends;
            else if (group.starts_with("data"))
                gradients += bucket.bytes;
        }
        CHECK(tensor == 48);
        CHECK(sends == 4); // two micro-batches, there and back
        CHECK(gradients == 2 * (layers + half_embedding + (rank < 4 ? 1024 * 768 : 2 * 768)));
        CHECK(schedule.compute == 46ms);
    }
}
