#include "generator/sweep_record.hpp"
#include "generator/sweep_text.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <nlohmann/json.hpp>

#include <string>

using namespace generator;
using namespace std::chrono_literals;
using tests::contains;
using Json = nlohmann::ordered_json;

namespace {

SweepRecord two_jobs() {
    SweepRecord sweep;
    sweep.status = RunStatus::complete;
    sweep.shifted = "b";
    sweep.reference = "a";
    sweep.period = 100ms;
    sweep.planned_steps = 3;
    SweepStep alone;
    alone.directory = "alone-a";
    alone.alone = "a";
    alone.status = RunStatus::complete;
    alone.jobs = {{"a", 10, 8, 100ms, {}}};
    SweepStep together;
    together.directory = "offset-01";
    together.asked = 0ns;
    together.held = HeldOffset{2ms, 0ms, 7ms, 8};
    together.offset_was_held = false;
    together.status = RunStatus::complete;
    together.jobs = {{"a", 10, 8, 127ms, 1.27}, {"b", 10, 8, 125ms, 1.25}};
    together.ratio = SweepRatio{"n0.eth0 tx", 5e8, collectors::Bounds{3.9, 4.0, 4.1}};
    together.backlog = SweepBacklog{"switch port p1 to n1", {64000, 64000, 64000}, {}};
    together.drops = 3;
    together.retransmits = 4;
    sweep.steps = {alone, together};
    return sweep;
}

std::string table(const SweepRecord& sweep) {
    return sweep_text(Json::parse(sweep_json(sweep)));
}

} // namespace

TEST_CASE("the table of a sweep has a row for each step", "[sweep]") {
    CHECK(table(two_jobs()) == R"(
sweep            b shifted against a, T 100 ms (p50 of the reference alone); 2 of 3 steps
offset  held    drift   a p50  x alone   b p50  x alone  PtM(5 ms)  switch queue  drops  retransmits
 alone                 100 ms                                    -             -      -            -
   0 s  2 ms  +7 ms !  127 ms    1.270  125 ms    1.250       4.00         64 kB      3            4
held, drift: starts of measured iterations against the other job's, median, and last less first
!: OFFSET NOT HELD: it drifted, or was on the median, more than 5 % of T away
PtM: of the interface that carried the most: n0.eth0 tx
largest queue: switch port p1 to n1
)");
}

TEST_CASE("what a sweep did not measure is null in sweep.json, and no zero", "[sweep]") {
    const Json step = Json::parse(sweep_json(two_jobs()))["steps"][0];
    for (const char* const key : {"ptm", "backlog", "drops", "retransmits", "error", "cut_off_after_seconds"})
        CHECK(step[key].is_null());
    CHECK(step["offset_seconds"] == Json{{"asked", nullptr}, {"held", nullptr}, {"was_held", nullptr}});
    CHECK(step["jobs"][0]["interference"].is_null());
    SweepRecord early = two_jobs();
    early.steps.clear();
    early.period.reset();
    CHECK(Json::parse(sweep_json(early))["period_seconds"].is_null());
    CHECK(contains(table(early), "0 of 3 steps"));
}

TEST_CASE("a sweep that was stopped says so, and which step", "[sweep]") {
    SweepRecord sweep = two_jobs();
    sweep.status = RunStatus::interrupted;
    sweep.error = "stopped by signal 2";
    sweep.steps[1].status = RunStatus::interrupted;
    sweep.steps[1].error = "job a: stopped";
    CHECK(contains(table(sweep), "            4  interrupted\n"));
    CHECK(contains(table(sweep), "offset-01: job a: stopped\n"));
    CHECK(contains(table(sweep), "THE SWEEP IS NOT COMPLETE: stopped by signal 2\n"));
}

TEST_CASE("a step whose time limit left iterations out says so", "[sweep]") {
    SweepRecord sweep = two_jobs();
    sweep.steps[1].cut_off = 90s;
    CHECK(contains(table(sweep), "            4  cut off after 90 s\n"));
}

TEST_CASE("a queue that was computed has its own heading, and its link's rate", "[sweep]") {
    SweepRecord sweep = two_jobs();
    sweep.steps[1].backlog = SweepBacklog{"n0.eth0 tx", {1000, 2000, 3000}, BitRate{900'000'000}};
    CHECK(contains(table(sweep), "  B_max  drops"));
    CHECK(contains(table(sweep), "largest queue: n0.eth0 tx on a link of 900 Mbit/s\n"));
}
