#include "collectors/trace_file.hpp"
#include "tests/catch.hpp"
#include "tests/program_folder.hpp"
#include "tests/report_runs.hpp"

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

using tests::contains;
using tests::Outcome;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// gradburst-report in a folder of its own.
struct ReportProgram : tests::ShellProgram {
    ReportProgram() : ShellProgram("timeout 60 '" GRADBURST_REPORT "'") {}

    /// A run directory without traces; returns its path, quoted for the shell.
    std::string write_run(const std::string& name, const std::string& run = tests::small_run().dump()) const {
        fs::create_directories(file(name) / "nic");
        tests::write_text(file(name) / "timeline.csv", tests::small_timeline());
        return write(name + "/run.json", run).substr(0, file(name).string().size() + 1) + "'";
    }

    Json report(const std::string& name) const {
        return Json::parse(tests::text_of(file(name) / "report.json"));
    }
};

/// Every 500 us 1 kB, sent and received.
collectors::Trace even_trace(std::size_t samples) {
    collectors::Trace trace;
    trace.info.host = "a";
    trace.info.interface = "eth0";
    trace.info.interval = std::chrono::microseconds(500);
    trace.info.complete = true;
    trace.info.reason = "duration";
    for (std::size_t i = 0; i < samples; ++i)
        trace.samples.push_back({static_cast<std::int64_t>(500'000 * i), 1000, 1000, 1000 * i, 1000 * i, 0});
    return trace;
}

} // namespace

TEST_CASE("a run's report goes into its folder", "[cli]") {
    const ReportProgram program;
    const std::string run = program.write_run("run");
    const Outcome outcome = program.run(run);
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "62 : 1"));
    CHECK(contains(outcome.output, "wrote " + (program.file("run") / "report.json").string()));
    CHECK(program.report("run")["runs"][0]["title"] == "small");
    CHECK(program.run(run).exit_code == 0); // it replaces its own
    const Outcome as_json = program.run(run + " --json");
    CHECK(Json::parse(as_json.output)["runs"] == program.report("run")["runs"]);
}

TEST_CASE("a file of somebody else is not replaced", "[cli]") {
    const ReportProgram program;
    const std::string run = program.write_run("run");
    program.write("run/report.json", "{\"mine\": true}");
    CHECK(program.run(run).exit_code == 2);
    CHECK(program.report("run") == Json{{"mine", true}});
    CHECK(program.run(run + " --overwrite").exit_code == 0);
    CHECK(program.report("run")["format"] == "gradburst-report/1");
    const std::string record = tests::text_of(program.file("run/run.json"));
    for (const std::string name : {"run/run.json", "run/report.json"})
        CHECK(contains(program.complaint(run + " --junit '" + program.file(name).string() + "'"),
                       name + ": is there and not from gradburst-report"));
    CHECK(tests::text_of(program.file("run/run.json")) == record);
    program.write("ptm.svg", "mine");
    CHECK(contains(program.complaint(run + " --figure '" + program.file("ptm.svg").string() + "'"),
                   "ptm.svg: is there and not from"));
    program.write("verdict.xml", "mine"); // what a link leads to is not written into
    fs::create_symlink(program.file("verdict.xml"), program.file("run/report.json.new"));
    CHECK(program.run(run).exit_code == 0);
    CHECK(tests::text_of(program.file("verdict.xml")) == "mine");
}

TEST_CASE("the exit code tells the verdict", "[cli]") {
    const ReportProgram program;
    const std::string run = program.write_run("run");
    CHECK(program.run(run + " --expect 'retransmits == 3'").exit_code == 0);
    const Outcome failed =
        program.run(run + " --expect 'retransmits == 3' --expect 'ptm(5ms, tx) >= 65' --junit '" +
                    program.file("verdict.xml").string() + "'");
    CHECK(failed.exit_code == 3);
    CHECK(contains(failed.output, "FAIL           ptm(5ms, tx) >= 65: 62 to 64 on a.eth0 tx, wanted >= 65"));
    CHECK(program.report("run")["verdict"]["result"] == "fail");
    CHECK(contains(tests::text_of(program.file("verdict.xml")), "<failure"));
    CHECK(program.run(run + " --expect 'ptm(1ms) >= 1'").exit_code == 3); // not measured
    CHECK(contains(program.complaint(run + " --expect 'ptn(5ms) >= 1'"),
                   "--expect 'ptn(5ms) >= 1', column 1: unknown quantity \"ptn\"; did you mean \"ptm\"?"));
}

TEST_CASE("a run is compared with a baseline", "[cli]") {
    const ReportProgram program;
    const std::string before = program.write_run("before");
    const std::string after = program.write_run("after");
    const Outcome outcome =
        program.run("--baseline " + before + " " + after + " --out '" + program.file("out").string() + "'");
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    CHECK(program.report("out")["comparison"]["baseline"] == program.file("before").string());
    CHECK(contains(program.complaint("--baseline " + before + " " + after + " " + after),
                   "--baseline: is compared with one run, not with 2"));
}

TEST_CASE("what is no run says what it is", "[cli]") {
    const ReportProgram program;
    CHECK(contains(program.complaint("nowhere"), "nowhere: is not there"));
    fs::create_directory(program.file("empty"));
    CHECK(contains(program.complaint("'" + program.file("empty").string() + "'"), "holds no run.json"));
    program.write_run("launch/a");
    program.write("launch/launch.json", "{}");
    CHECK(contains(program.complaint("'" + program.file("launch").string() + "'"),
                   "is a launch of several jobs; name a job's folder in it"));
    CHECK(contains(program.complaint(program.write_run("broken", "{\"format\": \n  oops")), "line 2"));
    CHECK(contains(program.complaint(program.write_run("other", "[]")), "/format: is missing"));
    const std::string older = program.complaint(program.write_run("old", R"({"format": "gradburst-run/0"})"));
    CHECK(contains(older, "run.json: /format: is \"gradburst-run/0\""));
    CHECK(contains(older, "or repeat the run"));
    const std::string newer = program.complaint(program.write_run("new", R"({"format": "gradburst-run/2"})"));
    CHECK(contains(newer, "or a later one"));
    program.write_run("torn");
    program.write("torn/timeline.csv", "rank\n");
    CHECK(contains(program.complaint("'" + program.file("torn").string() + "'"),
                   "timeline.csv, line 1: must be"));
    CHECK(
        contains(program.complaint(program.write_run("small") + " --figure x.gif"), "the file's name says"));
}

TEST_CASE("a pipe is not waited for", "[cli]") {
    const ReportProgram program;
    const std::string run = program.write_run("run");
    for (const std::string name : {"trace.csv", "run/timeline.csv", "run/run.json"}) {
        fs::remove(program.file(name));
        REQUIRE(::mkfifo(program.file(name).c_str(), 0600) == 0);
        CHECK(contains(program.complaint(name == "trace.csv" ? "'" + program.file(name).string() + "'" : run),
                       program.file(name).string()));
    }
}

TEST_CASE("a timeline that lacks iterations says so", "[cli]") {
    const ReportProgram program;
    const std::string run = program.write_run("run");
    CHECK_FALSE(contains(program.run(run).output, "TIMELINE IS NOT WHOLE"));
    const std::string whole = tests::small_timeline();
    program.write("run/timeline.csv", whole.substr(0, whole.rfind('\n', whole.size() - 2) + 1));
    CHECK(contains(program.run(run).output, "TIMELINE IS NOT WHOLE: it has 2 of the 3 iterations of rank 1"));
    program.write("run/timeline.csv", whole.substr(0, whole.find('\n') + 1));
    CHECK(contains(program.run(run).output, "TIMELINE IS NOT WHOLE: it has none of the 3 iterations"));
}

TEST_CASE("a bare trace is reported in the current folder, or where --out says", "[cli]") {
    const ReportProgram program;
    collectors::write_trace(program.file("even.csv"), even_trace(4001)); // 2 s
    const std::string trace = "'" + program.file("even.csv").string() + "' --out '" + program.folder() + "'";
    const Outcome outcome = program.run(trace + " --expect 'ptm(5ms) <= 1.3' --expect 'ptm(7ms) >= 1'" +
                                        " --expect 'backlog(1Gbit) <= 2kB' --expect 'mean_rate == 2MB/s'");
    INFO(outcome.output << outcome.errors);
    CHECK(outcome.exit_code == 3);
    const Json run = Json::parse(tests::text_of(program.file("report.json")))["runs"][0];
    CHECK(run["kind"] == "trace");
    CHECK(run["title"] == "a.eth0");
    CHECK(run["headline"].size() == 3);
    CHECK(run["interfaces"].size() == 2);
    CHECK(run["verdict"]["expectations"][0]["result"] == "pass");
    CHECK(run["verdict"]["expectations"][2]["result"] == "pass");
}

TEST_CASE("no verdict rests on a bare trace that was cut", "[cli]") {
    const ReportProgram program;
    collectors::Trace cut = even_trace(4001);
    cut.info.samples = 8001;
    collectors::write_trace(program.file("cut.csv"), cut);
    const Outcome outcome = program.run("'" + program.file("cut.csv").string() + "' --out '" +
                                        program.folder() + "' --expect 'ptm(5ms) <= 1.3'");
    INFO(outcome.output << outcome.errors);
    CHECK(outcome.exit_code == 3);
    CHECK(contains(outcome.output + outcome.errors, "TRACE IS NOT WHOLE"));
    const Json run = Json::parse(tests::text_of(program.file("report.json")))["runs"][0];
    CHECK(run["verdict"]["expectations"][0]["result"] == "not_measured");
}

TEST_CASE("a trace of one sample, or of none, measures nothing and says so", "[cli]") {
    for (const std::size_t samples : {0U, 1U}) {
        const ReportProgram program;
        collectors::write_trace(program.file("tiny.csv"), even_trace(samples));
        const std::string trace =
            "'" + program.file("tiny.csv").string() + "' --out '" + program.folder() + "'";
        const Outcome outcome = program.run(trace + " --expect 'ptm(5ms) >= 1'");
        INFO(outcome.errors);
        CHECK(outcome.exit_code == 3);
        const Json report = Json::parse(tests::text_of(program.file("report.json")));
        CHECK(report["verdict"]["result"] == "not_measured");
        CHECK(report["runs"][0]["headline"][0]["text"] == "not measured");
    }
}

TEST_CASE("the traces of a run that ended before its metrics are summed up", "[cli]") {
    Json document = tests::small_run();
    document["status"] = "interrupted";
    document["interfaces"] = Json::array();
    const ReportProgram program;
    const std::string run = program.write_run("run", document.dump());
    collectors::write_trace(program.file("run") / "nic" / "a.eth0.csv", even_trace(1001));
    const Outcome outcome = program.run(run);
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    const Json interfaces = program.report("run")["runs"][0]["interfaces"];
    REQUIRE(interfaces.size() == 2);
    // Iterations 1 and 2 of 100 ms each, 1 kB every 500 us.
    CHECK(interfaces[0]["nic_bytes"].get<double>() == Approx(400'000).epsilon(0.01));
}

TEST_CASE("what is asked of a run and not in run.json comes from its traces", "[cli]") {
    const ReportProgram program;
    const std::string run = program.write_run("run");
    const std::string asked = " --expect 'ptm(7ms, a.eth0) >= 0.9' --expect 'backlog(10Gbit, a.eth0) <= 2kB'";
    CHECK(program.run(run + asked).exit_code == 3);
    collectors::write_trace(program.file("run") / "nic" / "a.eth0.csv", even_trace(1001));
    const Outcome outcome = program.run(run + asked);
    INFO(outcome.output);
    CHECK(outcome.exit_code == 0);
    const Json interface = program.report("run")["runs"][0]["interfaces"][0];
    CHECK(interface["burstiness"][2]["tau_seconds"] == 0.005);
    CHECK(interface["burstiness"][2]["ptm_lower"] == 62); // of run.json
    CHECK(interface["burstiness"].back()["tau_seconds"] == 1);
}

TEST_CASE("a trace that cannot be read is a warning", "[cli]") {
    const ReportProgram program;
    const std::string run = program.write_run("run");
    program.write("run/nic/a.eth0.csv", "t_ns\n");
    program.write("run/nic/a.eth0.json", "{");
    const Outcome outcome = program.run(run);
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "CANNOT BE READ"));
}

TEST_CASE("gnuplot draws the figures", "[cli]") {
    if (std::system("command -v gnuplot >/dev/null") != 0) {
        WARN("no gnuplot: not tested");
        return;
    }
    const ReportProgram program;
    const std::string run = program.write_run("run");
    for (const std::string name : {"ptm.svg", "e.png", "backlog.pdf", "iteration.svg"}) {
        const Outcome outcome = program.run(run + " --figure '" + program.file(name).string() + "'");
        INFO(outcome.errors);
        CHECK(outcome.exit_code == 0);
        CHECK(outcome.errors.empty()); // gnuplot has nothing to complain about
        CHECK(fs::file_size(program.file(name)) > 1000);
    }
    // Neither a name nor a text can make gnuplot start a program.
    const fs::path evidence = program.file("evidence");
    Json odd = tests::small_run();
    odd["interfaces"][0]["host"] = "`touch '" + evidence.string() + "'`\"it's";
    CHECK(program
              .run(program.write_run("odd", odd.dump()) + " --figure '" + program.file("ptm.svg").string() +
                   "'")
              .exit_code == 0);
    CHECK_FALSE(fs::exists(evidence));
    const Outcome without = tests::ShellProgram("PATH=/nowhere '" GRADBURST_REPORT "'")
                                .run(run + " --figure '" + program.file("ptm.svg").string() + "'");
    CHECK(without.exit_code == 1);
    CHECK(contains(without.errors, "needs gnuplot, which is not installed"));
}

TEST_CASE("what cannot be written is said", "[cli]") {
    const ReportProgram program;
    const std::string run = program.write_run("run");
    const tests::ShellProgram to_full_disk("full() { '" GRADBURST_REPORT "' \"$@\" > /dev/full; }; full");
    for (const std::string option : {"", " --json"}) {
        const Outcome outcome = to_full_disk.run(run + option);
        CHECK(outcome.exit_code == 1);
        CHECK(contains(outcome.errors, "write to standard output"));
    }
}

TEST_CASE("names cannot speak to the terminal, nor break the JUnit file", "[cli]") {
    const ReportProgram program;
    Json odd = tests::small_run();
    odd["warnings"] = {"\x1b[31mRED\x1b[0m", "\xEF\xBF\xBE"};
    odd["command"] = "\xEF\xBF\xBE";
    const std::string run = program.write_run("odd\xff", odd.dump());
    const Outcome outcome =
        program.run(run + " --expect 'drops == 0' --junit '" + program.file("v.xml").string() + "'");
    CHECK(outcome.exit_code == 3);
    CHECK_FALSE(contains(outcome.output, "\x1b"));
    const std::string xml = tests::text_of(program.file("v.xml"));
    CHECK_FALSE(contains(xml, "\xff"));
    CHECK_FALSE(contains(xml, "\xEF\xBF\xBE"));
    CHECK(contains(xml, "</testsuites>"));
}

TEST_CASE("gradburst-report explains itself", "[cli]") {
    ReportProgram().check_help_and_version("gradburst-report");
}
