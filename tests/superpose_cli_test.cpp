#include "collectors/trace_file.hpp"
#include "tests/catch.hpp"
#include "tests/program_folder.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

using tests::contains;
using tests::Outcome;

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// gradburst-report --superpose in a folder of its own.
struct SuperposeProgram : tests::ShellProgram {
    SuperposeProgram() : ShellProgram("timeout 60 '" GRADBURST_REPORT "'") {
        for (const char* const name : {"a", "b"}) {
            collectors::Trace trace; // 5 ms at 1 Gbit/s in each 50 ms
            trace.info.host = name;
            trace.info.interface = "eth0";
            trace.info.interval = std::chrono::microseconds(500);
            trace.info.complete = true;
            std::uint64_t bytes = 0;
            for (std::size_t i = 0; i <= 1000; ++i) {
                trace.samples.push_back({static_cast<std::int64_t>(500'000 * i), 0, 0, bytes, bytes, 0});
                bytes += i % 100 < 10 ? 62'500 : 0;
            }
            collectors::write_trace(file(std::string(name) + ".csv"), trace);
        }
    }

    std::string trace(const std::string& name) const { return "'" + file(name + ".csv").string() + "'"; }
    /// What --json prints, but for when.
    Json superposed(const std::string& arguments) const {
        const Outcome outcome = run("--superpose --json " + arguments);
        INFO(arguments << ": " << outcome.errors);
        REQUIRE(outcome.exit_code == 0);
        Json document = Json::parse(outcome.output);
        document.erase("created_at");
        return document;
    }
};

} // namespace

TEST_CASE("jobs are superposed at random phases", "[cli][superpose]") {
    const SuperposeProgram program;
    const std::string out = " --out '" + program.folder() + "/out'";
    const Outcome outcome = program.run("--superpose " + program.trace("a") + " " + program.trace("b") +
                                        " --jobs 3 --phases 4000 --rate 1Gbit --buffer 600kB,10MB" + out);
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "3 jobs, 4000 draws of random phases (seed 1)"));
    CHECK(contains(outcome.output, "P(queue > 10 MB): 0.00 %"));
    CHECK(contains(outcome.output, "not resolved"));
    const Json document = Json::parse(tests::text_of(program.file("out/superpose.json")));
    CHECK(document["inputs"][0]["jobs"] == Json{0, 2});
    CHECK(document["inputs"][1]["jobs"] == Json{1});
    CHECK(document["overlap"]["share"].get<double>() > 0.3);
    program.write("out/superpose.json", "{\"mine\": true}");
    CHECK(
        contains(program.complaint("--superpose " + program.trace("a") + out), "not from gradburst-report"));
}

TEST_CASE("the same seed gives the same superposition by any number of threads", "[cli][superpose]") {
    const SuperposeProgram program;
    const std::string jobs = program.trace("a") + " --jobs 4 --phases 500 --rate 2Gbit ";
    const Json one = program.superposed(jobs + "--threads 1");
    CHECK(one == program.superposed(jobs + "--threads 16"));
    CHECK(one == program.superposed(jobs + "--seed 1"));
    CHECK(one["backlog"] != program.superposed(jobs + "--seed 2")["backlog"]);
}

TEST_CASE("given offsets are one draw", "[cli][superpose]") {
    const SuperposeProgram program;
    const std::string both = program.trace("a") + " " + program.trace("b") + " --rate 1Gbit --buffer 600kB ";
    const Json aligned = program.superposed(both + "--offsets 0,0");
    CHECK(aligned["backlog"]["bytes"]["max"] == 625'000.0); // C L
    CHECK(aligned["buffers"][0]["probability"]["share"] == 1.0);
    const Json half = program.superposed(both + "--offsets 0,2.5ms");
    CHECK(half["backlog"]["bytes"]["max"] == 312'500.0);
    CHECK(half["overlap"]["share"] == 1.0);
    const Json apart = program.superposed(both + "--offsets 0,5ms");
    CHECK(apart["backlog"]["bytes"]["max"] == 0.0);
    CHECK(apart["overlap"]["share"] == 0.0);
    CHECK(apart["seed"].is_null());
}

TEST_CASE("mistakes about superpositions are explained", "[cli][superpose]") {
    const SuperposeProgram program;
    const std::string a = "--superpose " + program.trace("a") + " ";
    const auto complains = [&](const std::string& arguments, const std::string& text) {
        const std::string errors = program.complaint(arguments);
        INFO(arguments << ": " << errors);
        CHECK(contains(errors, text));
    };
    complains("--superpose", "run");
    complains("--superpose nowhere.csv", "nowhere.csv: is not there");
    complains(a + "--jobs 0", "--jobs: must be from 1 to 4096, is 0");
    complains(a + program.trace("b") + " --jobs 1", "--jobs 1: 2 traces are given");
    complains(a + "--phases 0", "--phases: must be from 1 to 1000000, is 0");
    complains(a + "--phases 2000000", "--phases: must be from 1 to 1000000, is 2000000");
    complains(a + "--rate 100", "--rate: ");
    complains(a + "--rate 0Gbit", "--rate: must be greater than 0");
    complains(a + "--buffer 16MB", "--buffer: needs --rate");
    complains(a + "--offsets 0,1ms", "--offsets: 2 given for 1 jobs");
    complains(a + "--offsets 0 --phases 3", "--offsets: are given phases");
    complains(a + "--period 1h", "shorter than the period of");
    complains(a + "--period 10us", "the period of 10 us is shorter than a cell of 500 us");
    complains(a + "--cell 0s", "--cell: must be greater than 0");
    complains(a + "--cell 1ns", "give a larger --cell");
    complains(a + "--direction up", "--direction: must be tx or rx");
    complains(a + "--threads 0", "--threads: must be from 1");
    complains(a + "--figure ptm.svg", "with --superpose it is superpose.svg");
    complains(a + "--figure superpose.svg", "there is no queue without --rate");
    complains(a + "--expect 'ptm(5ms) >= 60'", "not with --expect");
    complains(program.trace("a") + " --jobs 8", "--superpose");
    complains(a + "--jobs 4096 --phases 1000000 --cell 1us", "would take hours");
}

TEST_CASE("the distribution of the queue is drawn", "[cli][superpose]") {
    if (std::system("gnuplot --version >/dev/null 2>&1") != 0)
        return;
    const SuperposeProgram program;
    const std::string figure = program.file("superpose.svg").string();
    for (const std::string jobs : {" --jobs 2", " --jobs 1"}) { // of one job there is never a queue
        const Outcome outcome = program.run("--superpose --json " + program.trace("a") + jobs +
                                            " --rate 1Gbit --buffer 100kB --figure '" + figure + "'");
        INFO(outcome.errors);
        CHECK(outcome.exit_code == 0);
        CHECK(contains(tests::text_of(figure), "<svg"));
    }
}
