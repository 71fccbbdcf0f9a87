#include "tools/report_input.hpp"

#include "tools/report_charts.hpp"
#include "tools/report_json.hpp"
#include "tools/report_text.hpp"

#include "generator/failure.hpp"
#include "tests/catch.hpp"
#include "tests/report_runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text.hpp"

#include <algorithm>
#include <limits>

using namespace tools;
using generator::UserError;
using tests::contains;
using tests::message_of;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// A run directory with one trace of 300 ms and its slow lane; its metrics come from the samples.
struct OddFolder {
    OddFolder() {
        fs::create_directories(nic);
        Json run = tests::small_run();
        run["interfaces"] = Json::array();
        tests::write_text(path / "run.json", run.dump());
        tests::write_text(path / "timeline.csv", tests::small_timeline());
        collectors::Trace trace;
        trace.info.host = "a";
        trace.info.interface = "eth0";
        trace.info.interval = std::chrono::microseconds(500);
        trace.info.complete = true;
        trace.info.reason = "duration";
        trace.info.start_monotonic_ns = 1'000'000;
        trace.info.start_realtime_ns = 1'700'000'000'000'000'000;
        trace.info.lost_from = std::chrono::milliseconds(300);
        trace.info.renamings = {{1'000, "eth1"}};
        trace.info.clocks = {2'000'000, 1'700'000'000'001'000'000, 5, 0.1};
        trace.info.time_keeping.ptp_clock = "none";
        trace.info.time_keeping.steering = {true, std::chrono::microseconds(1), std::chrono::microseconds(1),
                                            0.5};
        trace.info.sampler.scheduling = "SCHED_OTHER";
        trace.info.sampler.cpu = 1;
        trace.info.sampler.refresh_period = std::chrono::milliseconds(1);
        for (std::size_t i = 0; i < 600; ++i)
            trace.samples.push_back(
                {static_cast<std::int64_t>(500'000 * i), 1000, 1000, 1000 * i, 1000 * i, 0});
        collectors::write_trace(nic / "a.eth0.csv", trace);
        tests::write_text(nic / "a.eth0.slow.csv", "t_ns,rx_drops\n0,0\n100000000,1\n200000000,3\n");
        tests::write_text(
            nic / "a.eth0.slow.json",
            Json{{"interface", "eth0"}, {"start_monotonic_ns", 1'000'000}, {"interval_ns", 100'000'000}}
                .dump());
    }

    Json read(const std::string& name) const { return Json::parse(tests::text_of(nic / name)); }

    /// All that gradburst-report makes of it.
    ReportInput report() const {
        ReportInput input = read_input(path);
        const Json report = report_json(std::span(&input, 1), {.created_at = "2026-01-31T12:00:00Z"});
        report_text(report);
        charts_json(std::span(&input, 1));
        for (const Json& warning : report["runs"][0]["warnings"])
            input.warnings.push_back(warning);
        return input;
    }

    tests::TemporaryFolder folder;
    fs::path path = folder / "run";
    fs::path nic = path / "nic";
};

bool warns(const ReportInput& input, const std::string& part) {
    return std::any_of(input.warnings.begin(), input.warnings.end(),
                       [&](const std::string& warning) { return contains(warning, part); });
}

const std::vector<Json> odd_values{
    Json(),
    Json::object(),
    Json::array(),
    Json("text"),
    Json(-1),
    Json(1e308),
    Json(0),
    Json(0.5),
    Json(std::numeric_limits<std::int64_t>::min()),
    Json(std::numeric_limits<std::int64_t>::max()),
    Json(std::numeric_limits<std::uint64_t>::max()),
};

/// Each member of a sidecar, also inside its objects, with each odd value in its place.
template <class Judge>
void for_each_odd_sidecar(const Json& sidecar, Judge judge) {
    const Json flat = sidecar.flatten();
    for (const auto& [place, member] : flat.items())
        for (const Json& value : odd_values) {
            Json changed = sidecar;
            changed[Json::json_pointer(place)] = value;
            INFO(place << " = " << value.dump());
            judge(changed);
        }
}

const std::string timeline_start = tests::small_timeline().substr(0, tests::small_timeline().find('\n') + 1);

} // namespace

TEST_CASE("whatever stands in the sidecar of a trace, the report is made", "[report]") {
    const OddFolder run;
    const Json sidecar = run.read("a.eth0.json");
    CHECK_FALSE(warns(run.report(), "CANNOT BE READ"));
    int unreadable = 0;
    for_each_odd_sidecar(sidecar, [&](const Json& changed) {
        tests::write_text(run.nic / "a.eth0.json", changed.dump());
        ReportInput input;
        REQUIRE_NOTHROW(input = run.report());
        unreadable += warns(input, "a.eth0.csv CANNOT BE READ") ? 1 : 0;
    });
    CHECK(unreadable > 200);
}

TEST_CASE("whatever stands in the sidecar of a lane, the report is made", "[report]") {
    const OddFolder run;
    const Json sidecar = run.read("a.eth0.slow.json");
    for_each_odd_sidecar(sidecar, [&](const Json& changed) {
        tests::write_text(run.nic / "a.eth0.slow.json", changed.dump());
        REQUIRE_NOTHROW(run.report());
    });
    Json changed = sidecar;
    changed["interval_ns"] = "text";
    tests::write_text(run.nic / "a.eth0.slow.json", changed.dump());
    CHECK(warns(run.report(), "a.eth0.slow.csv CANNOT BE READ"));
}

TEST_CASE("times at the ends of what fits 64 bits are refused, not computed with", "[report]") {
    const OddFolder run;
    for (const std::string time : {"-9223372036854775808", "9223372036854775807"}) {
        tests::write_text(run.nic / "a.eth0.slow.csv",
                          "t_ns,rx_drops\n0,0\n" + time + ",1\n100000000,9223372036854775807\n");
        CHECK_NOTHROW(run.report());
        for (std::size_t column = 3; column < 9; ++column) {
            std::vector<std::string> fields{"0", "1", "0", "0", "0", "0", "0", "0", "0", "1", "1", "1"};
            fields[column] = time;
            std::string line;
            for (const std::string& field : fields)
                line += (line.empty() ? "" : ",") + field;
            tests::write_text(run.path / "timeline.csv", timeline_start + line + "\n");
            CHECK(contains(message_of<UserError>([&] { run.report(); }), "timeline.csv, line 2: "));
        }
        tests::write_text(run.path / "timeline.csv", tests::small_timeline());
    }
}

TEST_CASE("a rank below 0 has no line in a timeline", "[report]") {
    CHECK(contains(message_of<UserError>([&] {
                       parse_timeline_csv(timeline_start + "-1,1,0,0,0,0,0,0,0,1,1,1\n", "timeline.csv");
                   }),
                   "line 2"));
}

TEST_CASE("a trace with damaged samples is a warning of the run, and by itself the user's mistake",
          "[report]") {
    const OddFolder run;
    tests::write_text(run.nic / "a.eth0.csv",
                      "t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags\n0,1,1,0,0,0\noops\n");
    CHECK(warns(run.report(), "a.eth0.csv CANNOT BE READ"));
    const ReportInput trace = read_input(run.nic / "a.eth0.csv");
    const std::string said = message_of<UserError>([&] { report_json(std::span(&trace, 1), {}); });
    CHECK(contains(said, "a.eth0.csv:3: "));
}
