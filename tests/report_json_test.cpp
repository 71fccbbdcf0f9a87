#include "tools/report_json.hpp"

#include "tools/report_figure.hpp"
#include "tools/report_junit.hpp"
#include "tools/report_text.hpp"

#include "generator/failure.hpp"
#include "tests/catch.hpp"
#include "tests/report_runs.hpp"
#include "tests/text.hpp"

#include <sstream>

#include <tinyxml2.h>

using namespace tools;

namespace {

using Json = nlohmann::ordered_json;

ReportInput small_input(const std::string& name, const Json& run = tests::small_run()) {
    ReportInput input;
    input.name = name;
    input.path = name;
    input.run = run;
    input.timeline = parse_timeline_csv(tests::small_timeline(), "timeline.csv");
    input.warnings = {"A WARNING OF READING"};
    return input;
}

Json report_of(const std::vector<ReportInput>& inputs, const std::vector<std::string>& expectations = {},
               bool compare = false) {
    ReportSettings settings;
    for (const std::string& text : expectations)
        settings.expectations.push_back(generator::parse_expectation(text));
    settings.first_is_baseline = compare;
    settings.created_at = "2026-01-31T12:00:00Z";
    return report_json(inputs, settings);
}

const Json* find_row(const Json& report, const std::string& id) {
    for (const Json& row : report["comparison"]["rows"])
        if (row["id"] == id)
            return &row;
    return nullptr;
}

/// A run with so many iterations of these lengths.
ReportInput with_iterations(const std::string& name, const std::vector<int>& milliseconds) {
    ReportInput input = small_input(name);
    input.timeline.clear();
    std::uint32_t iteration = 0;
    for (const int length : milliseconds)
        input.timeline.push_back({.iteration = iteration++,
                                  .iteration_start_ns = 0,
                                  .due_ns = 0,
                                  .start_ns = 0,
                                  .end_ns = 1'000'000,
                                  .iteration_end_ns = 1'000'000LL * length,
                                  .bucket_bytes = 1000});
    input.run["iterations"]["warmup"] = 0;
    input.run["iterations"]["count"] = milliseconds.size();
    return input;
}

} // namespace

TEST_CASE("the headline of a run has five numbers with unit, trust and formula", "[report]") {
    const Json report = report_of({small_input("run")});
    const Json& headline = report["runs"][0]["headline"];
    REQUIRE(headline.size() == 5);
    CHECK(headline[0]["id"] == "ptm_5ms");
    CHECK(headline[0]["value"] == 62.0); // the largest certified one
    CHECK(headline[0]["text"] == "62 : 1");
    CHECK(headline[0]["trust"] == "certified on a.eth0 tx; at most 64, predicted 50");
    CHECK(headline[1]["text"] == "100 ms");
    CHECK(headline[4]["value"] == 6); // 3 segments, 3 packets
    for (const Json& each : headline)
        for (const char* const key : {"label", "text", "trust", "formula"})
            CHECK_FALSE(each[key].get<std::string>().empty());
}

TEST_CASE("what was not measured is null and says why", "[report]") {
    Json run = tests::small_run();
    run["status"] = "interrupted";
    run["error"] = "stopped by signal 15 (Terminated)";
    run["iterations"] = {{"count", 0}, {"warmup", 1}, {"measured", 0}, {"seconds", nullptr}};
    run["interfaces"] = Json::array();
    run["tcp"] = nullptr;
    run["slow_lane"] = Json::array();
    run["bandwidth"] = nullptr;
    ReportInput input = small_input("run", run);
    input.timeline.clear();
    const Json report = report_of({input}, {"ptm(5ms) >= 60"});
    for (const Json& each : report["runs"][0]["headline"])
        if (each["id"] != "start_lateness_p99") {
            CHECK(each["value"].is_null());
            CHECK(each["text"] == "not measured");
        }
    CHECK(report["verdict"]["result"] == "not_measured");
    CHECK(report["runs"][0]["iterations"]["values"] == Json::array());
    CHECK(report.dump().find("NaN") == std::string::npos);
    CHECK(tests::contains(report_text(report), "interrupted: stopped by signal 15 (Terminated)"));
}

TEST_CASE("losses of which some are not known are at least the others", "[report]") {
    for (const std::string unknown : {"/tcp/retransmitted_segments", "/slow_lane/0/rx_drops"}) {
        Json run = tests::small_run();
        run[Json::json_pointer(unknown)] = nullptr;
        const Json headline = report_of({small_input("run", run)})["runs"][0]["headline"].back();
        CHECK(headline["id"] == "losses");
        CHECK(headline["value"].is_null());
        CHECK(tests::contains(headline["text"].get<std::string>(), "at least"));
    }
}

TEST_CASE("what the profile expects is judged with what is asked for", "[report]") {
    Json run = tests::small_run();
    run["profile"]["expect"] = {"drops == 0"};
    const Json report = report_of({small_input("run", run)}, {"retransmits == 3"});
    const Json& verdict = report["runs"][0]["verdict"];
    CHECK(verdict["expectations"].size() == 2);
    CHECK(verdict["result"] == "fail");
    CHECK(report["verdict"]["reasons"] == Json{"drops == 0: 3, wanted == 0"});
    const Json both = report_of({small_input("first"), small_input("second", run)});
    CHECK(both["verdict"]["result"] == "fail");
    CHECK(both["verdict"]["reasons"] == Json{"second: drops == 0: 3, wanted == 0"});
}

TEST_CASE("numbers of the timeline stand beside those of run.json", "[report]") {
    const Json run = report_of({small_input("run")})["runs"][0];
    CHECK(run["iterations"]["values"].size() == 2);
    CHECK(run["bucket_seconds"][0]["seconds"]["p50"] == Approx(0.022));
    CHECK(run["skew"][1]["gated_iterations"] == 2);
    CHECK(run["informative"]["jct_ratio"]["value"] == Approx(0.1 / 0.095));
    CHECK(run["informative"]["cv_iteration"]["value"] == Approx(0).margin(1e-9));
    CHECK(run["interfaces"] == tests::small_run()["interfaces"]);
    CHECK(run["warnings"] == Json{"A WARNING OF THE RUN", "A WARNING OF READING"});
}

TEST_CASE("runs of equal iterations show no difference, longer ones do", "[report]") {
    std::vector<int> lengths;
    std::vector<int> longer;
    for (int i = 0; i < 30; ++i) {
        lengths.push_back(100 + i % 7);
        longer.push_back(110 + i % 7);
    }
    const Json same = report_of({with_iterations("a", lengths), with_iterations("b", lengths)}, {}, true);
    CHECK((*find_row(same, "iteration_mean"))["conclusion"] == "no difference seen");
    CHECK((*find_row(same, "iteration_mean"))["difference"] == 0);
    CHECK((*find_row(same, "bus_bandwidth"))["conclusion"] == "not measured");
    CHECK((*find_row(same, "iteration_p95"))["conclusion"] == "not measured"); // 30 of 100 values
    const Json& peak = *find_row(same, "ptm_5ms");                             // two hosts: one value per run
    CHECK(peak["conclusion"] == "not measured");
    CHECK(peak["reason"] ==
          "one value per run tells nothing of what varies; certified bounds 62 to 66 and 62 to 66");
    const Json slower = report_of({with_iterations("a", lengths), with_iterations("b", longer)}, {}, true);
    const Json& row = *find_row(slower, "iteration_mean");
    CHECK(row["conclusion"] == "larger");
    CHECK(row["difference"] == Approx(0.01));
    CHECK(row["relative"] == Approx(0.01 / 0.1029).epsilon(0.01));
    CHECK(row["interval"]["lower"].get<double>() > 0.008);
    CHECK(slower["runs"][0]["role"] == "baseline");
    CHECK(slower["runs"][0]["verdict"]["result"] == "none");
    CHECK(slower["comparison"]["settings_that_differ"].empty());
    ReportInput broken = with_iterations("b", longer);
    broken.run["status"] = "interrupted";
    broken.run["profile"]["name"] = "other";
    const Json cut = report_of({with_iterations("a", lengths), broken}, {}, true);
    CHECK((*find_row(cut, "iteration_mean"))["conclusion"] == "not measured");
    CHECK((*find_row(cut, "iteration_mean"))["reason"] == "b: the run is interrupted");
    CHECK(cut["comparison"]["settings_that_differ"] == Json{"name: small and other"});
    const Json faster = report_of({with_iterations("a", longer), with_iterations("b", lengths)}, {}, true);
    CHECK((*find_row(faster, "iteration_p50"))["conclusion"] == "smaller");
}

TEST_CASE("the text has no line above 100 columns", "[report]") {
    const Json report = report_of({small_input("before"), small_input("after")}, {"ptm(5ms) >= 60"}, true);
    std::istringstream lines(report_text(report));
    for (std::string line; std::getline(lines, line);)
        CHECK(line.size() <= 100);
    const std::string text = report_text(report);
    for (const std::string part :
         {"NOT MEASURED   ptm(5ms) >= 60", "62 : 1", "WARNING          A WARNING OF THE RUN",
          "bucket 0 (1 kB)", "B_max(r)", "comparison of after\nwith baseline before"})
        CHECK_THAT(text, Catch::Contains(part));
}

TEST_CASE("JUnit has a case for each expectation; what was not measured is an error", "[report]") {
    const std::string xml = junit_xml(
        report_of({small_input("a <run> & \x1b more")}, {"retransmits == 3", "drops == 0", "ptm(1ms) < 2"}));
    tinyxml2::XMLDocument document;
    REQUIRE(document.Parse(xml.c_str()) == tinyxml2::XML_SUCCESS);
    const auto* const suite = document.RootElement()->FirstChildElement("testsuite");
    CHECK(suite->Attribute("name") == std::string("a <run> & ? more"));
    CHECK(suite->IntAttribute("tests") == 3);
    CHECK(suite->IntAttribute("failures") == 1);
    CHECK(suite->IntAttribute("errors") == 1);
    const auto* test = suite->FirstChildElement("testcase");
    CHECK(test->FirstChildElement("failure") == nullptr);
    test = test->NextSiblingElement("testcase");
    CHECK(test->Attribute("name") == std::string("drops == 0"));
    CHECK(test->FirstChildElement("failure")->Attribute("message") == std::string("3, wanted == 0"));
    test = test->NextSiblingElement("testcase");
    CHECK(test->FirstChildElement("error") != nullptr);
}

TEST_CASE("a figure's name says what is drawn", "[report]") {
    const std::vector<ReportInput> inputs{small_input("run")};
    const Json report = report_of(inputs);
    const std::string script = figure_script("x/ptm.svg", report, inputs);
    CHECK_THAT(script, Catch::Contains("$data2 << EOD\n0.005 58 62 66 50 \nEOD\n"));
    CHECK_THAT(figure_script("iteration.pdf", report, inputs), Catch::Contains("100 0.5\n100 1\n"));
    CHECK_THAT(figure_script("backlog.png", report, inputs), Catch::Contains("100000000 40000 50000 45000"));
    CHECK_THROWS_AS(require_figure_name("ptm.gif"), generator::UserError);
    CHECK_THROWS_AS(require_figure_name("peak.svg"), generator::UserError);
    CHECK_THROWS_AS(figure_script("rate.svg", report, inputs), generator::UserError); // no traces
}
