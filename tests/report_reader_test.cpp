#include "tools/report_figure.hpp"
#include "tools/report_json.hpp"
#include "tools/report_text.hpp"

#include "collectors/trace_file.hpp"
#include "tests/catch.hpp"
#include "tests/report_runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text.hpp"

#include <algorithm>

/// What a reader sees first, and in which order.
using namespace tools;

namespace {

using Json = nlohmann::ordered_json;

ReportInput input_with(const std::string& name, const Json& run) {
    ReportInput input;
    input.name = name;
    input.path = name;
    input.run = run;
    input.timeline = parse_timeline_csv(tests::small_timeline(), "timeline.csv");
    return input;
}

Json report_on(const std::vector<ReportInput>& inputs, const std::vector<std::string>& expectations = {},
               bool compare = false) {
    ReportSettings settings;
    for (const std::string& text : expectations)
        settings.expectations.push_back(generator::parse_expectation(text));
    settings.first_is_baseline = compare;
    return report_json(inputs, settings);
}

/// With iterations of 100 ms, to the nanosecond.
ReportInput with_equal_iterations(const std::string& name, std::uint32_t count) {
    ReportInput input = input_with(name, tests::small_run());
    input.timeline.clear();
    for (std::uint32_t i = 0; i < count; ++i)
        input.timeline.push_back({.iteration = i,
                                  .iteration_start_ns = 0,
                                  .due_ns = 0,
                                  .start_ns = 0,
                                  .end_ns = 1'000'000,
                                  .iteration_end_ns = 100'000'000,
                                  .bucket_bytes = 1000});
    input.run["iterations"]["warmup"] = 0;
    input.run["iterations"]["count"] = count;
    return input;
}

std::vector<std::string> hosts_in(const Json& list) {
    std::vector<std::string> hosts;
    for (const Json& each : list)
        hosts.push_back(each["host"]);
    return hosts;
}

/// Eleven hosts h0 ... h10 with a rank each, and a twelfth, h11, whose interface is sampled without a rank.
Json run_of_twelve() {
    Json run = tests::small_run();
    run["context"]["hosts"] = Json::array();
    run["interfaces"] = Json::array();
    run["slow_lane"] = Json::array();
    for (const int rank : {0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9}) { // as file names are sorted
        const std::string name = "h" + std::to_string(rank);
        run["interfaces"].push_back(tests::small_interface(name, "tx", 62, 64));
        run["interfaces"].push_back(tests::small_interface(name, "rx", 62, 64));
        run["slow_lane"].push_back({{"host", name}, {"interface", "eth0"}});
    }
    for (int rank = 0; rank < 11; ++rank)
        run["context"]["hosts"].push_back(
            {{"host", "h" + std::to_string(rank)},
             {"ranks", {{{"rank", rank}, {"interface", "eth0"}, {"start_monotonic_ns", 0}}}}});
    return run;
}

} // namespace

TEST_CASE("the first screen tells what really ran", "[report]") {
    Json run = tests::small_run();
    run["context"]["byte_scale"] = 0.01;
    run["profile"]["run"]["iterations"] = 12;
    const Json report = report_on({input_with("run", run)});
    CHECK(report["runs"][0]["ran"] ==
          "3 of 12 iterations, the first as warm-up; 1 bucket of 1 kB; bytes x 0.01 of the profile's");
    CHECK_THAT(report_text(report), Catch::Contains("\nran              3 of 12 iterations, the first as"));
    run["context"]["byte_scale"] = 1.0;
    run["profile"]["run"]["iterations"] = 3;
    ReportInput two = input_with("run", run);
    const std::vector<BucketSpan> first = two.timeline;
    for (BucketSpan span : first) {
        span.bucket = 1;
        span.bucket_bytes = 2'500'000;
        two.timeline.push_back(span);
    }
    CHECK(report_on({two})["runs"][0]["ran"] ==
          "3 iterations, the first as warm-up; 2 buckets of 1 kB to 2.5 MB, 2.501 MB per iteration");
}

TEST_CASE("the first screen of a trace tells when, by what and how long it was recorded", "[report]") {
    const tests::TemporaryFolder folder;
    collectors::Trace trace;
    trace.info.host = "a";
    trace.info.interface = "eth0";
    trace.info.source = "sysfs";
    trace.info.interval = std::chrono::microseconds(500);
    trace.info.start_realtime_ns = 1'769'860'800'000'000'000; // 2026-01-31 12:00
    trace.info.complete = true;
    for (std::int64_t i = 0; i <= 2000; ++i)
        trace.samples.push_back({i * 500'000, 0, 0, static_cast<std::uint64_t>(1000 * i), 0, 0});
    collectors::write_trace(folder / "trace.csv", trace);
    const Json report = report_on({read_input(folder / "trace.csv")});
    CHECK(report["runs"][0]["started_at"] == "2026-01-31T12:00:00Z");
    CHECK(report["runs"][0]["ran"] == "1 s, sampled every 500 us from sysfs");
    const std::string text = report_text(report);
    CHECK_THAT(text, Catch::Contains("\nstarted          2026-01-31T12:00:00Z\n"));
    CHECK_THAT(text, Catch::Contains("\nrecorded         1 s, sampled every 500 us from sysfs\n"));
}

TEST_CASE("the glossary explains every mark of the charts", "[report]") {
    std::string terms;
    const Json report = report_on({input_with("run", tests::small_run())});
    for (const Json& each : report["glossary"])
        terms += each["term"].get<std::string>() + ", ";
    for (const char* const term : {"60 : 1 at 5 ms", "index of dispersion", "burst", "period"})
        CHECK_THAT(terms, Catch::Contains(term));
}

TEST_CASE("a comparison comes first, behind the verdict of all", "[report]") {
    const std::string text = report_text(
        report_on({input_with("before", tests::small_run()), input_with("after", tests::small_run())},
                  {"drops == 0"}, true));
    CHECK(text.starts_with("verdict          FAIL\n"));
    const std::size_t comparison = text.find("comparison of after\nwith baseline before");
    CHECK(text.find("drops == 0: 3, wanted == 0") < comparison);
    CHECK(comparison < text.find("run              before"));
}

TEST_CASE("the table of losses tells whose connections it counts", "[report]") {
    const Json report = report_on({input_with("run", tests::small_run())});
    const std::string text = report_text(report);
    CHECK_THAT(text, Catch::Contains("of all connections of the host's network namespace"));
    CHECK_THAT(report["runs"][0]["headline"][4]["trust"].get<std::string>(),
               Catch::Contains("sent again by the ranks' own connections"));
}

TEST_CASE("rounding noise is 0", "[report]") {
    const Json equal = report_on({with_equal_iterations("a", 11)});
    CHECK(equal["runs"][0]["informative"]["cv_iteration"]["value"] == 0);
    const Json report = report_on({with_equal_iterations("a", 10), with_equal_iterations("b", 13)}, {}, true);
    for (const Json& row : report["comparison"]["rows"])
        if (row["id"] == "iteration_mean") {
            CHECK(row["conclusion"] == "no difference seen");
            CHECK(row["difference"] == 0);
            CHECK(row["interval"]["lower"] == 0);
            CHECK(row["interval"]["upper"] == 0);
        }
}

TEST_CASE("hosts and interfaces stand in the order of their ranks, then of the numbers in their names",
          "[report]") {
    const std::vector<std::string> names{"h0", "h1", "h2", "h3", "h4",  "h5",
                                         "h6", "h7", "h8", "h9", "h10", "h11"};
    const Json run = report_on({input_with("run", run_of_twelve())})["runs"][0];
    CHECK(hosts_in(run["slow_lane"]) == names);
    std::vector<std::string> sent;
    for (std::size_t i = 0; i < run["interfaces"].size(); i += 2) {
        CHECK(run["interfaces"][i]["direction"] == "tx");
        CHECK(run["interfaces"][i + 1]["host"] == run["interfaces"][i]["host"]);
        sent.push_back(run["interfaces"][i]["host"]);
    }
    CHECK(sent == names);

    const tests::TemporaryFolder folder;
    std::filesystem::create_directory(folder / "nic");
    tests::write_text(folder / "run.json", run_of_twelve().dump());
    for (const std::string& name : names) {
        collectors::Trace trace;
        trace.info.host = name;
        trace.info.interface = "eth0";
        collectors::write_trace(folder / "nic" / (name + ".eth0.csv"), trace);
        tests::write_text(folder / "nic" / (name + ".eth0.slow.csv"), "t_ns\n");
        tests::write_text(folder / "nic" / (name + ".eth0.slow.json"), R"({"start_monotonic_ns": 0})");
    }
    std::vector<std::string> traces;
    std::vector<std::string> lanes;
    const ReportInput input = read_input(folder.path());
    for (const TraceSource& trace : input.traces)
        traces.push_back(trace.info.host);
    for (const LaneSource& lane : input.lanes)
        lanes.push_back(lane.host);
    CHECK(traces == names);
    CHECK(lanes == names);
}

TEST_CASE("a figure whose values are all equal has a range", "[report]") {
    const std::vector<ReportInput> inputs{with_equal_iterations("run", 5)};
    const Json report = report_on(inputs);
    CHECK_THAT(figure_script("iteration.png", report, inputs), Catch::Contains("\nset xrange [90:110]\n"));
    CHECK_THAT(figure_script("ptm.png", report, inputs), Catch::Contains("\nset xrange [4.5:5.5]\n"));
    const std::vector<ReportInput> different{input_with("run", tests::small_run())};
    CHECK(figure_script("backlog.png", report_on(different), different).find("set yrange [0:*]") !=
          std::string::npos);
}
