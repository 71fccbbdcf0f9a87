#include "generator/background_records.hpp"
#include "generator/background_results.hpp"
#include "tests/catch.hpp"

using namespace generator;
using namespace std::chrono_literals;
using collectors::Direction;

namespace {

/// Two servers that answer rank 0, 1000 bytes each.
Profile incast_profile() {
    Profile profile;
    BackgroundEntry entry;
    entry.name = "query";
    entry.pattern = BackgroundPattern::incast;
    entry.to = {0};
    entry.sizes = fixed_size(1000);
    entry.queries_per_second = 10;
    profile.background = {entry};
    return profile;
}

/// Both servers begin each answer 10 us after it was due; rank 1's answers come 1 ms, rank 2's 2 ms after it.
std::vector<RankBackground> reports_of(const Profile& profile, std::size_t messages, std::size_t arrived) {
    std::vector<RankBackground> ranks(3);
    for (RankBackground& rank : ranks)
        rank.report.emplace();
    for (const BackgroundFlow& flow : background_flows(profile.background, 3)) {
        FlowEnd sent{.flow = flow.number, .bytes = 1000 * messages, .messages = messages};
        FlowEnd received{.flow = flow.number, .bytes = 1000 * arrived, .messages = arrived};
        FlowMessages sequence(profile.background[0], flow, profile.run.seed, 3);
        for (std::size_t i = 0; i < messages; ++i) {
            const std::int64_t due_ns = sequence.next().due.count();
            sent.times_ns.push_back(due_ns + 10'000);
            if (i < arrived)
                received.times_ns.push_back(due_ns + flow.from * 1'000'000);
        }
        BackgroundReport& sender = *ranks[static_cast<std::size_t>(flow.from)].report;
        sender.ended_ns = sequence.next().due.count();
        sender.sent.push_back(sent);
        ranks[0].report->received.push_back(received);
    }
    return ranks;
}

} // namespace

TEST_CASE("completion is counted from due to the last byte, a query's to its last answer", "[background]") {
    const Profile profile = incast_profile();
    const auto records = flow_records(profile, reports_of(profile, 20, 19));
    REQUIRE(records.size() == 2);
    const auto results = background_results(records, profile, 3);
    REQUIRE(results.size() == 1);
    const BackgroundEntryResult& result = results[0];
    CHECK(result.flows == 2);
    CHECK(result.planned.messages == 40);
    CHECK(result.planned.bytes == 40'000);
    CHECK(result.sent.messages == 40);
    CHECK(result.received.messages == 38);
    CHECK(result.asked_bits_per_second == Approx(2 * 8 * 1000 * 10));
    CHECK(result.start_lateness_seconds->max == Approx(10e-6));
    CHECK(result.completion_seconds->p50 == Approx(1e-3));
    CHECK(result.completion_seconds->max == Approx(2e-3));
    CHECK(result.by_size[0].messages == 38);
    CHECK(result.by_size[1].messages == 0);
    CHECK(result.queries_planned == 20);
    CHECK(result.queries.messages == 19);
    CHECK(result.queries.seconds->p50 == Approx(2e-3));
    const auto warnings = background_warnings(results, profile.background);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].find("BACKGROUND \"query\": 40000 B SENT BUT 38000 B RECEIVED") == 0);
}

TEST_CASE("times of both ends are compared on one clock", "[background]") {
    const Profile profile = incast_profile();
    std::vector<RankBackground> ranks = reports_of(profile, 5, 5);
    // Rank 2's clock is 7 s behind, and its start was taken 3 us too late by it.
    ranks[2].start_monotonic_ns = -7'000'000'000 + 3'000;
    ranks[2].clock = {ClockMethod::data_network, ClockOffset{0, 7s, 1us}, {}};
    const auto results = background_results(flow_records(profile, ranks), profile, 3);
    CHECK(results[0].completion_seconds->max == Approx(2e-3 - 3e-6));
}

TEST_CASE("lost connections, silent ranks and what fell behind are told", "[background]") {
    const Profile profile = incast_profile();
    std::vector<RankBackground> ranks = reports_of(profile, 20, 20);
    ranks[1].report->sent[0].error = "send: Connection reset by peer";
    ranks[1].report->sent[0].messages = 2;
    ranks[1].report->sent[0].bytes = ranks[0].report->received[0].bytes = 2000;
    ranks[2].report.reset();
    const auto results = background_results(flow_records(profile, ranks), profile, 3);
    CHECK(results[0].lost.at("send: Connection reset by peer") == std::vector<int>{1});
    CHECK(results[0].silent == std::vector<int>{2});
    const auto warnings = background_warnings(results, profile.background);
    REQUIRE(warnings.size() >= 2);
    CHECK(warnings[0].find("CONNECTIONS LOST on rank 1: send: Connection reset by peer") !=
          std::string::npos);
    CHECK(warnings[1].find("NO ANSWER from rank 2") != std::string::npos);

    std::vector<RankBackground> slow = reports_of(profile, 20, 20);
    slow[1].report->ended_ns = 100'000'000'000; // a thousand messages fell due, on average
    const auto behind =
        background_warnings(background_results(flow_records(profile, slow), profile, 3), profile.background);
    REQUIRE(behind.size() == 1);
    CHECK(behind[0].find("BEHIND: 40000 B of the ") != std::string::npos);
}

TEST_CASE("background bytes cross an interface between ranks on it and others", "[background]") {
    Profile profile = incast_profile();
    const auto records = flow_records(profile, reports_of(profile, 4, 4));
    const auto bytes = [&](const std::vector<int>& ranks, Direction direction, bool loopback,
                           std::int64_t from = 0, std::int64_t to = 1'000'000'000'000) {
        const OtherPayload payload = background_payload(records, ranks, direction, from, to, loopback);
        return std::vector<std::uint64_t>{payload.least_bytes, payload.most_bytes.value(), payload.messages};
    };
    using Three = std::vector<std::uint64_t>;
    CHECK(bytes({0}, Direction::rx, false) == Three{8000, 8000, 8});
    CHECK(bytes({0}, Direction::tx, false) == Three{0, 0, 0});
    CHECK(bytes({2}, Direction::tx, false) == Three{4000, 4000, 4});
    CHECK(bytes({0, 1}, Direction::rx, false) == Three{4000, 4000, 4});
    CHECK(bytes({0, 1, 2}, Direction::rx, true) == Three{8000, 8000, 8});
    // Within a message of rank 2, it may have crossed or not.
    const MessageRecord& first = records[1].messages[0];
    CHECK(bytes({2}, Direction::tx, false, first.start_ns + 1, first.start_ns + 2) == Three{0, 1000, 1});
}

TEST_CASE("background.csv has a line for each message that was begun", "[background]") {
    const Profile profile = incast_profile();
    const auto records = flow_records(profile, reports_of(profile, 2, 1));
    const std::string csv = background_csv(records, profile.background);
    CHECK(csv.find("entry,flow,from,to,message,query,bytes,due_ns,start_ns,end_ns\nquery,0,1,0,0,0,1000,") ==
          0);
    CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);
    const std::int64_t due = records[0].messages[1].due_ns;
    CHECK(csv.find("query,0,1,0,1,1,1000," + std::to_string(due) + "," + std::to_string(due + 10'000) +
                   ",\n") != std::string::npos);
}
