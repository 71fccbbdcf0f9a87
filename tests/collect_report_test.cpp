#include "collectors/trace_file.hpp"

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "collect_program.hpp"

using namespace collectors;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::CollectProgram;
using tests::contains;
using tests::Outcome;
using tests::text_of;

TEST_CASE("report prints text, or JSON and nothing else on stdout", "[cli]") {
    const CollectProgram program;
    REQUIRE(program.record().exit_code == 0);
    const std::string path = program.trace().string();
    const Outcome text = program.run({"report", path});
    CHECK(text.exit_code == 0);
    CHECK(contains(text.output, "lo tx"));
    CHECK(contains(text.output, "lo rx"));
    CHECK(contains(text.output, "recorded"));
    CHECK(contains(text.output, "tcp_retransmits"));

    const Outcome json = program.run({"report", "--tau", "5ms,100ms", "--rate", "1Gbit", path, "--json"});
    INFO(json.errors);
    REQUIRE(json.exit_code == 0);
    const nlohmann::ordered_json document = nlohmann::ordered_json::parse(json.output);
    CHECK(document["interfaces"].size() == 2);
    CHECK(document["interfaces"][0]["burstiness"].size() == 2);
    CHECK(document["interfaces"][0]["backlog"][0]["rate_bits_per_second"] == 1'000'000'000);
}

TEST_CASE("a binary recording reports and exports what a CSV would", "[cli]") {
    const CollectProgram program;
    const std::string binary = program.folder() + "/trace.bin";
    const Outcome recorded = program.run({"record", "--iface", "lo", "--out", binary, "--format", "bin",
                                          "--duration", "300ms", "--interval", "1ms"});
    INFO(recorded.errors);
    REQUIRE(recorded.exit_code == 0);
    const Outcome direct = program.run({"report", binary, "--json"});
    REQUIRE(direct.exit_code == 0);

    const Outcome exported = program.run({"export", binary, "--out", program.trace().string()});
    CHECK(exported.exit_code == 0);
    CHECK(contains(exported.output, "samples of"));
    CHECK(read_trace(program.trace()).samples == read_trace(binary).samples);
    CHECK(read_trace(program.trace()).info == read_trace(binary).info); // one sidecar explains both
    auto from_binary = nlohmann::json::parse(direct.output);
    auto from_text =
        nlohmann::json::parse(program.run({"report", program.trace().string(), "--json"}).output);
    CHECK(from_binary["interfaces"] == from_text["interfaces"]);

    CHECK(program.run({"export", binary, "--out", program.trace().string()}).exit_code == 2); // exists
    CHECK(program.run({"export", binary, "--out", binary}).exit_code == 2);
    const std::string spelt = program.folder() + "/./trace.bin";
    const Outcome itself = program.run({"export", binary, "--out", spelt, "--overwrite"});
    CHECK(itself.exit_code == 2);
    CHECK(contains(itself.errors, "is the trace itself"));
    CHECK_FALSE(read_trace(binary).samples.empty());
    const std::string elsewhere = program.folder() + "/other.csv";
    CHECK(program.run({"export", binary, "--out", elsewhere}).exit_code == 0);
    CHECK(read_trace(elsewhere).info == read_trace(binary).info);
}

TEST_CASE("export takes the lanes beside a trace along", "[cli]") {
    const CollectProgram program;
    REQUIRE(program.record().exit_code == 0);
    const fs::path other = fs::path(program.folder()) / "other.bin";
    const fs::path lane = fs::path(program.folder()) / "other.slow.csv";
    const Outcome exported = program.run({"export", program.trace().string(), "--out", other.string()});
    INFO(exported.errors);
    REQUIRE(exported.exit_code == 0);
    CHECK(contains(exported.output, "other.slow.csv"));
    CHECK(text_of(lane) == text_of(fs::path(program.folder()) / "trace.slow.csv"));
    CHECK(nlohmann::json::parse(text_of(fs::path(lane).replace_extension(".json")))["trace"] ==
          "other.slow.csv");
    CHECK(contains(program.run({"report", other.string()}).output, "tcp_retransmits"));

    // A lane of somebody else's trace is not replaced unasked, nor is anything written then.
    fs::remove(other);
    const Outcome refused = program.run({"export", program.trace().string(), "--out", other.string()});
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.errors, "other.slow.csv: File exists"));
    CHECK_FALSE(fs::exists(other));
    CHECK(
        program.run({"export", program.trace().string(), "--out", other.string(), "--overwrite"}).exit_code ==
        0);
    // Beside the original there is nothing to take along.
    const std::string beside = program.folder() + "/trace.bin";
    CHECK(program.run({"export", program.trace().string(), "--out", beside}).exit_code == 0);
}

TEST_CASE("sum adds up traces of one host, and of others only with the offsets of their clocks", "[cli]") {
    const CollectProgram program;
    const auto write = [&](const std::string& name, const std::string& host, std::int64_t start_ns) {
        Trace trace;
        trace.info.host = host;
        trace.info.interface = name;
        trace.info.complete = true;
        trace.info.interval = 1ms;
        trace.info.start_monotonic_ns = start_ns;
        for (std::int64_t i = 0; i < 1000; ++i)
            trace.samples.push_back({i * 1'000'000, 1000, 1000, 0, static_cast<std::uint64_t>(i) * 1000, 0});
        write_trace(program.folder() + "/" + name + ".csv", trace);
        return program.folder() + "/" + name + ".csv";
    };
    const std::string first = write("eth0", "node-a", 5'000'000);
    const std::string second = write("eth1", "node-a", 5'000'000);
    const std::string other = write("eth2", "node-b", 905'000'000);

    const Outcome together = program.run({"sum", first, second, "--tau", "100ms", "--json"});
    INFO(together.errors);
    REQUIRE(together.exit_code == 0);
    const auto tx = nlohmann::json::parse(together.output)["interfaces"][0];
    CHECK(tx["interface"] == "node-a:eth0 + node-a:eth1");
    CHECK(tx["nic_bytes"] == 2 * 999'000);
    CHECK(tx["burstiness"][0]["ptm_estimate"].get<double>() == Approx(1).epsilon(0.01));

    const Outcome twice = program.run({"sum", first, first});
    CHECK(twice.exit_code == 2);
    CHECK(contains(twice.errors, "would count twice"));

    Trace rebooted = read_trace(second);
    rebooted.info.start_realtime_ns = 86'400'000'000'000; // a day later
    write_trace(second, rebooted);
    const Outcome apart = program.run({"sum", first, second});
    CHECK(apart.exit_code == 2);
    CHECK(contains(apart.errors, "not of the same time"));

    const Outcome refused = program.run({"sum", first, other});
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.errors, "is of host node-b"));
    const Outcome given = program.run({"sum", first, other, "--offset=-900ms", "--offset-error", "10us"});
    INFO(given.errors);
    CHECK(given.exit_code == 0);
    CHECK(contains(given.output, "clock offset -900000000 ns +- 10000 ns"));
    const Outcome drifting = program.run(
        {"sum", first, other, "--offset=-900ms", "--offset-end=-899.999ms", "--offset-error=9us"});
    INFO(drifting.errors);
    CHECK(drifting.exit_code == 0);
    CHECK(contains(drifting.output, "clock offset -900000000 ns, at the end -899999000 ns, +- 9000 ns"));
    CHECK(program.run({"sum", first, second, other, "--offset=-900ms"}).exit_code == 2); // one for each
    CHECK(program.run({"sum", first, second, "--offset-end=1us"}).exit_code == 2);
}

TEST_CASE("a part of the trace in which nothing was recorded is no quiet network", "[cli]") {
    const CollectProgram program;
    REQUIRE(program.record({"--duration", "20ms"}).exit_code == 0);
    const Outcome outcome = program.run({"report", program.trace().string(), "--from", "1h"});
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.errors, "leave no sample: the trace reaches from"));
    CHECK(outcome.output.empty());
}
