#include "generator/rank_report.hpp"
#include "tests/catch.hpp"

#include <optional>
#include <string>
#include <vector>

using namespace generator;

namespace {

const std::vector<Endpoint> endpoints{{0, "node-a", "eth0", "10.0.0.1", 41'000},
                                      {1, "node-b", "eth0", "10.0.0.2", 41'001},
                                      {2, "node-c", "eth0", "10.0.0.3", 41'002}};

std::optional<RankReport> good() {
    return RankReport{};
}
std::optional<RankReport> failed(const std::string& error) {
    return RankReport{.status = RunStatus::failed, .error = error};
}
std::optional<RankReport> stopped() {
    return RankReport{.status = RunStatus::interrupted, .error = "stopped by signal 2 (Interrupt)"};
}
const std::optional<RankReport> silent;

RunEnd end_of(const std::vector<std::optional<RankReport>>& reports) {
    return run_end(reports, endpoints);
}

std::optional<RankReport> saw_leave(int peer) {
    return RankReport{
        .status = RunStatus::failed, .error = "a peer closed the connection", .lost_peer = peer};
}
const auto echo = saw_leave(1);

} // namespace

TEST_CASE("a report survives the way to rank 0", "[report]") {
    RankReport report;
    report.timeline.rank = 2;
    report.timeline.iterations = {{0, 5, 10}};
    report.status = RunStatus::interrupted;
    report.error = "stopped by \"signal\" 2\n";
    report.lost_peer = 0;
    report.sockets = {"cubic", 46, BitRate{8'000}, 1, 2, true};
    report.checked_elements = 5'000'000'000;
    report.traces = {{"nic/node-a.eth0.csv", "t_ns,...\n1,2\n", "{}", 0.25}};
    report.tcp_lines = "2,0,0,3,0,400,,,,,,,,,,\n";
    report.tcp_left_out_from = 7;
    report.warnings = {"NO DROPS, NO RETRANSMITS OF node-a: create"};
    const RankReport read = parse_rank_report(serialize(report));
    CHECK(read.tcp_lines == report.tcp_lines);
    CHECK(read.tcp_left_out_from == 7);
    CHECK(read.warnings == report.warnings);
    CHECK(read.timeline == report.timeline);
    CHECK(read.status == report.status);
    CHECK(read.error == report.error);
    CHECK(read.lost_peer == report.lost_peer);
    CHECK(read.sockets == report.sockets);
    CHECK(read.checked_elements == 5'000'000'000);
    REQUIRE(read.traces.size() == 1);
    CHECK(read.traces[0].file == "nic/node-a.eth0.csv");
    CHECK(read.traces[0].csv == "t_ns,...\n1,2\n");
    CHECK(read.traces[0].sampler_cpu_share == 0.25);
}

TEST_CASE("text that is not UTF-8 does not lose a report", "[report]") {
    RankReport report;
    report.error = "open \xff\xfe: no such file";
    CHECK(parse_rank_report(serialize(report)).error.find("no such file") != std::string::npos);
}

TEST_CASE("a run in which all ranks are done is complete", "[report]") {
    const RunEnd end = end_of({good(), good(), good()});
    CHECK(end.status == RunStatus::complete);
    CHECK(end.error.empty());
}

TEST_CASE("the cause comes before its echoes", "[report]") {
    const auto cause = failed("rank 1: element 7 is 3, not 4");
    for (const auto& reports : {std::vector{echo, cause, echo}, std::vector{cause, echo, good()}}) {
        const RunEnd end = end_of(reports);
        CHECK(end.status == RunStatus::failed);
        CHECK(end.error == "rank 1: element 7 is 3, not 4");
    }
}

TEST_CASE("of several causes the first rank's is told", "[report]") {
    CHECK(end_of({good(), failed("first"), failed("second")}).error == "first");
}

TEST_CASE("ranks that give no answer are named", "[report]") {
    const RunEnd end = end_of({echo, silent, silent});
    CHECK(end.status == RunStatus::failed);
    CHECK(end.error.find("rank 1 on node-b (10.0.0.2:41001, eth0), rank 2 on node-c") != std::string::npos);
    CHECK(end.error.find("no answer") != std::string::npos);
    CHECK(end.error.find("closed the connection") != std::string::npos);
}

TEST_CASE("a killed rank is a failure, although the launcher then stops the others", "[report]") {
    const RunEnd end = end_of({echo, silent, stopped()});
    CHECK(end.status == RunStatus::failed);
    CHECK(end.error.find("rank 1 on node-b") != std::string::npos);
}

TEST_CASE("a run that a signal ended is interrupted, whatever the peers of that rank saw", "[report]") {
    for (const auto& reports : {std::vector{stopped(), stopped(), stopped()},
                                std::vector{echo, stopped(), echo}, std::vector{good(), good(), stopped()}}) {
        const RunEnd end = end_of(reports);
        CHECK(end.status == RunStatus::interrupted);
        CHECK(end.error == "stopped by signal 2 (Interrupt)");
    }
}

TEST_CASE("an echo alone is a failure", "[report]") {
    CHECK(end_of({echo, good(), good()}).status == RunStatus::failed);
    CHECK(end_of({echo, good(), good()}).error == echo->error);
}

TEST_CASE("a real failure is not hidden by a signal", "[report]") {
    const RunEnd end = end_of({stopped(), failed("the sums are wrong"), stopped()});
    CHECK(end.status == RunStatus::failed);
    CHECK(end.error == "the sums are wrong");
}

TEST_CASE("a silent rank that nobody saw leave is only late: the run was interrupted, and the rank is named",
          "[report]") {
    const RunEnd end = end_of({stopped(), silent, saw_leave(0)});
    CHECK(end.status == RunStatus::interrupted);
    CHECK(end.error.find("stopped by signal 2 (Interrupt)") == 0);
    CHECK(end.error.find("no answer in time from rank 1 on node-b") != std::string::npos);
    CHECK(end_of({failed("verify: wrong sum"), silent, stopped()}).status == RunStatus::failed);
}
