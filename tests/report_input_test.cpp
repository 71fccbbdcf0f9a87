#include "tools/report_input.hpp"

#include "tests/catch.hpp"
#include "tests/report_runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The run of tests/report_runs.hpp, of ranks on hosts a and b, with traces of these interfaces; time 0 of
/// its rank 0 is 1 us on a's clock, which is 2 us behind that of the launch's rank 0.
struct RunFolder {
    explicit RunFolder(const std::string& job) {
        Json run = tests::small_run();
        if (!job.empty())
            run["job"] = job;
        Json& host = run["context"]["hosts"][0];
        host["ranks"][0]["start_monotonic_ns"] = 1000;
        host["clock"] = {{"method", "data_network"},
                         {"start", {{"offset_seconds", 2e-6}, {"error_seconds", 1e-6}}}};
        fs::create_directories(folder / "nic");
        tests::write_text(folder / "run.json", run.dump());
        tests::write_text(folder / "timeline.csv", tests::small_timeline());
    }

    void add(const std::string& host, const std::string& interface, std::int64_t start_ns,
             const std::string& side = "") const {
        collectors::Trace trace;
        trace.info.host = host;
        trace.info.interface = interface;
        trace.info.side = side;
        trace.info.start_monotonic_ns = start_ns;
        trace.info.complete = true;
        collectors::write_trace(folder / "nic" / (host + "." + interface + ".csv"), trace);
    }

    tests::TemporaryFolder folder;
};

std::vector<std::string> interfaces_of(const tools::ReportInput& input) {
    std::vector<std::string> names;
    for (const tools::TraceSource& trace : input.traces)
        names.push_back(trace.info.host + "." + trace.info.interface);
    return names;
}

} // namespace

TEST_CASE("of the traces that jobs have in common, a job's report has those of its own ranks' interfaces",
          "[report]") {
    const RunFolder run("a");
    run.add("a", "eth0", 1500);
    run.add("a", "eth1", 1500);
    run.add("b", "eth0", 0);
    run.add("c", "eth0", 0);
    const tools::ReportInput input = tools::read_input(run.folder.path());
    CHECK(interfaces_of(input) == std::vector<std::string>{"a.eth0", "b.eth0"});
    CHECK(input.traces[0].offset_ns == 500);
    CHECK(input.warnings.empty());
}

TEST_CASE("a job without a trace of its own says so", "[report]") {
    const RunFolder run("a");
    run.add("c", "eth0", 0);
    const tools::ReportInput input = tools::read_input(run.folder.path());
    REQUIRE(input.warnings.size() == 1);
    CHECK(tests::contains(input.warnings[0], "NO TRACES"));
}

TEST_CASE("a switch's trace stands on the clock of the launch's rank 0", "[report]") {
    const RunFolder run("b");
    run.add("switch", "p0", 4000, "switch port to a: tx_bytes went to a");
    const tools::ReportInput input = tools::read_input(run.folder.path());
    REQUIRE(input.traces.size() == 1);
    CHECK(input.traces[0].is_switch_port);
    CHECK(input.traces[0].offset_ns == 1000); // 4 us, less the start at 1 + 2 us
}

TEST_CASE("a trace that belongs to no host of the only job is shown with a warning", "[report]") {
    const RunFolder run("");
    run.add("c", "eth0", 0);
    const tools::ReportInput input = tools::read_input(run.folder.path());
    CHECK(interfaces_of(input) == std::vector<std::string>{"c.eth0"});
    REQUIRE(input.warnings.size() == 1);
    CHECK(tests::contains(input.warnings[0], "NOT ALIGNED"));
}
