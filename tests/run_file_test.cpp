#include "tools/run_file.hpp"

#include "tools/report_json.hpp"
#include "tools/report_junit.hpp"
#include "tools/report_text.hpp"

#include "generator/failure.hpp"
#include "tests/catch.hpp"
#include "tests/report_runs.hpp"
#include "tests/text.hpp"

#include <array>
#include <chrono>

using namespace tools;
using generator::UserError;
using tests::contains;

namespace {

using Json = nlohmann::ordered_json;

/// small_run with a clock, a switch port and an expectation: something at each place that a reader looks at.
Json full_run() {
    Json run = tests::small_run();
    const Json offset{{"offset_seconds", 1e-6}, {"error_seconds", 1e-5}};
    for (Json& host : run["context"]["hosts"])
        host["clock"] = {{"method", "same host"}, {"start", offset}, {"end", offset}, {"drift_ppm", 0.1}};
    Json port = tests::small_interface("switch", "tx", 10, 12);
    port["port"] = "p0";
    port["leads_to"] = "a";
    port["warnings"] = {"A WARNING OF A PORT"};
    port["max_backlog_bytes"] = 1000;
    port["drops"] = 1;
    port["active_senders"] = {{"max", 2}};
    run["switch_ports"] = {port};
    run["interfaces"].erase(1);
    run["profile"]["expect"] = {"ptm(5ms) >= 60"};
    run["world_size"] = 2;
    run["context"]["byte_scale"] = 1.0;
    return run;
}

/// All places of a document, those inside others too.
void add_places(const Json& document, const Json::json_pointer& at, std::vector<Json::json_pointer>& places) {
    for (const auto& [key, value] : document.items()) {
        const Json::json_pointer place = document.is_array() ? at / std::stoul(key) : at / key;
        places.push_back(place);
        if (value.is_structured())
            add_places(value, place, places);
    }
}

std::vector<Json::json_pointer> places_of(const Json& document) {
    std::vector<Json::json_pointer> places;
    add_places(document, Json::json_pointer(), places);
    return places;
}

Json without(Json document, const Json::json_pointer& place) {
    Json& around = document[place.parent_pointer()];
    if (around.is_array())
        around.erase(std::stoul(place.back()));
    else
        around.erase(place.back());
    return document;
}

Json with(Json document, const Json::json_pointer& place, const Json& value) {
    document[place] = value;
    return document;
}

/// What gradburst-report makes of a run.json, without the comparison.
std::string whole_report(const std::string& text) {
    ReportInput input;
    input.name = "x";
    input.path = "x";
    input.run = parse_run_json(text, "x/run.json");
    input.timeline = parse_timeline_csv(tests::small_timeline(), "timeline.csv");
    ReportSettings settings;
    for (const char* const quantity :
         {"ptm(5ms) >= 1", "e(1ms) >= 1B", "backlog(100Mbit) <= 1*predicted", "mean_rate > 1B/s",
          "missed_share < 0.5", "longest_gap < 1s", "bus_bandwidth > 1B/s", "drops == 0", "retransmits == 0",
          "switch_backlog < 1GB", "iteration_p50 < 2*predicted", "bucket_p99 < 1s", "rtt_p50 < 1s"})
        settings.expectations.push_back(generator::parse_expectation(quantity));
    settings.created_at = "2026-01-31T12:00:00Z";
    const Json report = report_json(std::span(&input, 1), settings);
    return report_text(report) + junit_xml(report) + report.dump();
}

/// "made", or what is said to the user; anything else that is thrown goes on.
std::string made_or_said(const Json& run) {
    try {
        const std::string report = whole_report(run.dump());
        return contains(report, "nan") || contains(report, "inf ") ? "no number" : "made";
    } catch (const UserError& error) {
        return error.what();
    }
}

std::string said(const Json& run) {
    return tests::message_of<UserError>([&] { parse_run_json(run.dump(), "run.json"); });
}

} // namespace

TEST_CASE("whatever stands at a place of run.json, the report is made or names the file", "[report]") {
    const Json run = full_run();
    REQUIRE(made_or_said(run) == "made");
    std::size_t made = 0;
    std::size_t refused = 0;
    const auto judge = [&](const Json& changed, const std::string& what) {
        INFO(what);
        std::string outcome;
        REQUIRE_NOTHROW(outcome = made_or_said(changed));
        const bool names = outcome.starts_with("x/run.json: /");
        const bool is_fine = outcome == "made" || names;
        if (!is_fine)
            FAIL_CHECK(outcome);
        ++(names ? refused : made);
    };
    for (const Json::json_pointer& place : places_of(run)) {
        judge(without(run, place), "without " + place.to_string());
        for (const Json& value : {Json(), Json::object(), Json::array(), Json("text"), Json(-1), Json(1e308),
                                  Json(0), Json(std::numeric_limits<std::int64_t>::min()),
                                  Json(std::numeric_limits<std::uint64_t>::max())})
            judge(with(run, place, value), place.to_string() + " = " + value.dump());
    }
    CHECK(made > 500);
    CHECK(refused > 1000);
}

TEST_CASE("what is wrong in run.json is said with its place", "[report]") {
    Json run = full_run();
    run["interfaces"][0].erase("host");
    CHECK(said(run) == "run.json: /interfaces/0/host: is missing");
    run["interfaces"][0]["host"] = 7;
    CHECK(said(run) == "run.json: /interfaces/0/host: must be text, is a number");
    run["interfaces"][0]["host"] = "a";
    run["iterations"]["count"] = -1;
    CHECK(said(run) == "run.json: /iterations/count: must be a whole number from 0 to 4294967295, is -1");
    run["iterations"]["count"] = 2.5;
    CHECK(contains(said(run), "is 2.5"));
    run["iterations"]["count"] = 2;
    run["status"] = "fine";
    CHECK(said(run) == R"(run.json: /status: must be one of "complete", "interrupted", "failed", is "fine")");
    run["status"] = nullptr;
    CHECK(contains(said(run), "run.json: /status: must be one of "));
    run["status"] = "complete";
    run["context"] = "nowhere";
    CHECK(said(run) == "run.json: /context: must be an object, is text");
    run = full_run();
    run["interfaces"] = {Json::object()};
    CHECK(contains(said(run), "run.json: /interfaces/0/backlog: is missing\n"));
    CHECK(contains(said(run), "\nand 7 more"));
}

TEST_CASE("run.json is read as strictly as a profile", "[report]") {
    const std::string text = full_run().dump();
    const auto refusal = [](const std::string& wrong) {
        return tests::message_of<UserError>([&] { parse_run_json(wrong, "run.json"); });
    };
    CHECK(contains(refusal(R"({"format": "gradburst-run/1", "seed": 1, "seed": 2})"),
                   "run.json: /seed: this key stands twice"));
    CHECK(contains(refusal("{\"format\": \"\xff\"}"), "run.json: "));
    CHECK(contains(refusal(std::string(1000, '[')), "run.json: "));
    CHECK(contains(refusal(R"({"format": 1e999})"), "run.json: "));
    CHECK(contains(refusal(""), "run.json: is empty"));
    CHECK(parse_run_json(text, "run.json") == full_run());
}

TEST_CASE("what a later minor version adds to run.json does not matter", "[report]") {
    Json run = full_run();
    run["jobs"] = {{{"name", "a"}}};
    run["interfaces"][0]["job"] = 1;
    CHECK(parse_run_json(run.dump(), "run.json") == run);
}
