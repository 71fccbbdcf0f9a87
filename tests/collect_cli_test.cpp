#include "collectors/trace_file.hpp"
#include "collectors/trace_quality.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

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

TEST_CASE("record leaves a complete trace and says what to do next", "[cli]") {
    const CollectProgram program;
    const Outcome outcome = program.record();
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "samples in"));
    CHECK(contains(outcome.output, "next: gradburst-collect report"));
    const Trace trace = read_trace(program.trace());
    CHECK(trace.info.complete);
    CHECK(trace.info.reason == "duration");
    CHECK(trace.info.interface == "lo");
    CHECK(trace.info.driver == "loopback");
    CHECK(trace.info.interval == 500us);
    REQUIRE(trace.samples.size() > 50); // 1000 on a quiet host
    CHECK(trace.samples.back().t_ns >= 490'000'000);
}

TEST_CASE("a pattern gives one trace and one queue file per interface", "[cli]") {
    const CollectProgram program;
    const Outcome outcome = program.run(
        {"record", "--iface", "l[o]", "--out", program.trace().string(), "--queue", "--duration", "50ms"});
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    const fs::path folder = program.trace().parent_path();
    CHECK_FALSE(fs::exists(program.trace()));
    CHECK(read_trace(folder / "trace.lo.csv").info.interface == "lo");
    CHECK(fs::exists(folder / "trace.lo.queue.csv"));
    CHECK(fs::exists(folder / "trace.lo.queue.json"));
    CHECK(contains(outcome.output, "trace.lo.csv: "));
}

TEST_CASE("--source forces a source, and the sidecar says which and why", "[cli]") {
    for (const std::string source : {"sysfs", "procfs", "rtnetlink"}) {
        const CollectProgram program;
        REQUIRE(program.record({"--source", source, "--duration", "20ms"}).exit_code == 0);
        const TraceInfo info = read_trace(program.trace()).info;
        CHECK(info.source == source);
        CHECK(info.source_reason == "asked for");
    }
    const CollectProgram program;
    REQUIRE(program.record({"--duration", "20ms"}).exit_code == 0);
    CHECK(read_trace(program.trace()).info.source_reason == "the first choice");
}

TEST_CASE("an RDMA port is recorded from wherever its counters are shown", "[cli]") {
    const CollectProgram program;
    const fs::path folder = program.trace().parent_path() / "infiniband";
    fs::create_directories(folder / "mlx5_0/ports/1/counters");
    std::ofstream(folder / "mlx5_0/ports/1/counters/port_rcv_data") << "1000\n";
    std::ofstream(folder / "mlx5_0/ports/1/counters/port_xmit_data") << "3\n";
    const Outcome outcome = program.run({"record", "--iface", "mlx5_0/1", "--rdma-folder", folder.string(),
                                         "--out", program.trace().string(), "--duration", "20ms"});
    INFO(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    const Trace trace = read_trace(program.trace());
    CHECK(trace.info.source == "rdma");
    CHECK(trace.info.interface == "mlx5_0/1");
    CHECK(contains(trace.info.byte_unit, "words of 4"));
    REQUIRE_FALSE(trace.samples.empty());
    CHECK(trace.samples[0].rx_bytes == 4000);
    CHECK(trace.samples[0].tx_bytes == 12);
}

TEST_CASE("--prometheus without a value is the usual port of loopback", "[cli]") {
    const CollectProgram program;
    const Outcome outcome = program.record({"--prometheus", "--duration", "20ms"});
    INFO(outcome.errors);
    // Somebody else may hold that port; a build without prometheus-cpp says so.
    CHECK((contains(outcome.errors, "127.0.0.1:9464") || contains(outcome.errors, "cannot serve metrics")));
}

TEST_CASE("a trace is replaced only on request", "[cli]") {
    const CollectProgram program;
    REQUIRE(program.record({"--duration", "20ms"}).exit_code == 0);
    const Outcome refused = program.record({"--duration", "20ms"});
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.errors, "trace.csv: File exists"));
    CHECK(contains(refused.errors, "--overwrite"));
    CHECK(program.record({"--duration", "20ms", "--overwrite"}).exit_code == 0);
}

TEST_CASE("a recording ends after --max-samples, or goes on in further files", "[cli]") {
    const CollectProgram program;
    const Outcome limited = program.record({"--max-samples", "50", "--interval", "1ms", "--duration", "10s"});
    CHECK(limited.exit_code == 0);
    CHECK(read_trace(program.trace()).samples.size() == 50);
    CHECK(read_trace(program.trace()).info.reason == "max-samples");

    const Outcome rotated = program.record(
        {"--max-samples", "50", "--rotate", "--interval", "1ms", "--duration", "400ms", "--overwrite"});
    CHECK(rotated.exit_code == 0);
    CHECK(fs::exists(part_path(program.trace(), 1)));
    const Trace trace = read_trace(program.trace());
    CHECK(trace.samples.size() > 50);
    CHECK(trace.info.reason == "duration");
    CHECK(contains(rotated.output, std::to_string(trace.samples.size()) + " samples"));
    CHECK(trace.info.samples == trace.samples.size());

    // What is left of the trace without its further files, or in the middle of one, is not the whole.
    const Outcome alone = program.run({"report", part_path(program.trace(), 1).string()});
    CHECK(alone.exit_code == 0);
    CHECK(contains(alone.output, "lateness    not known"));
    CHECK_FALSE(contains(alone.output, "NOT WHOLE"));
    fs::remove(part_path(program.trace(), 1));
    CHECK(contains(program.run({"report", program.trace().string()}).output,
                   "TRACE IS NOT WHOLE: 50 samples of "));
}

TEST_CASE("SIGINT, SIGTERM and SIGHUP end a recording soon and properly", "[cli]") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const CollectProgram program;
        const pid_t child = program.start_recording();
        const auto before = std::chrono::steady_clock::now();
        ::kill(child, signal);
        const Outcome outcome = program.finish(child);
        CHECK(std::chrono::steady_clock::now() - before < 2s); // usually below 20 ms
        CHECK(outcome.exit_code == 0);
        const Trace trace = read_trace(program.trace());
        CHECK(trace.info.complete);
        CHECK(trace.info.reason == "signal " + std::to_string(signal));
        CHECK(trace.info.driver == "loopback");
    }
}

TEST_CASE("SIGINT ends a recording that a shell script put in the background", "[cli]") {
    const CollectProgram program;
    ::signal(SIGINT, SIG_IGN); // inherited by the child, as in a script
    const pid_t child = program.start_recording();
    ::signal(SIGINT, SIG_DFL);
    ::kill(child, SIGINT);
    CHECK(program.finish(child).exit_code == 0);
    CHECK(read_trace(program.trace()).info.reason == "signal 2");
}

TEST_CASE("a sampler that was stopped for 60 ms leaves a gap with true stamps", "[cli]") {
    const CollectProgram program;
    const pid_t child = program.start_recording();
    ::kill(child, SIGSTOP);
    std::this_thread::sleep_for(60ms);
    ::kill(child, SIGCONT);
    std::this_thread::sleep_for(20ms);
    ::kill(child, SIGTERM);
    CHECK(program.finish(child).exit_code == 0);
    const TraceQuality quality = trace_quality(read_trace(program.trace()));
    CHECK(quality.gaps.longest >= 55ms);
    CHECK(quality.missed >= 50); // of the ticks each millisecond
}

TEST_CASE("after SIGKILL the trace is readable and its report says that it is incomplete", "[cli]") {
    const CollectProgram program;
    const pid_t child = program.start_recording();
    ::kill(child, SIGKILL);
    CHECK(program.finish(child).exit_code == -SIGKILL);
    CHECK_FALSE(read_trace(program.trace()).samples.empty());
    const Outcome report = program.run({"report", program.trace().string()});
    CHECK(report.exit_code == 0);
    CHECK(contains(report.output, "INCOMPLETE TRACE"));
}

TEST_CASE("the user's mistakes exit with 2 and one message that says which", "[cli]") {
    const CollectProgram program;
    const std::string path = program.trace().string();
    struct Mistake {
        std::vector<std::string> arguments;
        std::string message;
    };
    const std::vector<Mistake> mistakes{
        {{"record", "--iface", "eth9", "--out", path}, "no interface eth9 on host"},
        {{"record", "--iface", "lo,wlan*", "--out", path}, "no interface wlan* on host"},
        {{"record", "--iface", "lo", "--out", path, "--source", "xdp"}, "--source: 'xdp' is none of"},
        {{"record", "--iface", "lo", "--out", path, "--source", "rdma"}, "lo is no RDMA port"},
        {{"record", "--iface", "lo", "--out", "/nowhere/trace.csv"},
         "write into folder /nowhere: No such file or directory; check --out"},
        {{"record", "--iface", "lo", "--out", path, "--interval", "500"}, "--interval: '500': has no unit"},
        {{"record", "--iface", "lo", "--out", path, "--interval", "0ms"},
         "--interval: must be greater than 0"},
        {{"record", "--iface", "lo", "--out", path, "--interval", "10us"},
         "--interval: the interval must be from 20 us to 10 s, is 10 us"},
        {{"record", "--iface", "lo", "--out", path, "--fifo"}, "SCHED_FIFO needs an interval of at least"},
        {{"record", "--iface", "lo", "--out", path, "--cpu", "4096"}, "--cpu: 4096 is none of the CPUs"},
        {{"record", "--iface", "lo"}, "--out"},
        {{"record", "--iface", "lo", "--out", path, "--tua", "3"}, "--tua"},
        {{"record", "--iface", "lo", "--out", path, "--format", "bin"}, "must end with .bin"},
        {{"record", "--iface", "lo", "--out", path, "--rotate"}, "--rotate: needs --max-samples"},
        {{"record", "--iface", "lo", "--out", path, "--max-samples", "0"},
         "--max-samples: must be greater than 0\n"},
        {{"record", "--iface", "lo", "--out", path, "--max-samples=-3"}, "--max-samples: must be"},
        {{"frob"}, "no command 'frob'; the commands are record, report, interfaces, sum, export"},
        {{"reprot", path}, "no command 'reprot'"},
        {{"export", path, "--out", path + ".csv"}, "trace.csv: No such file"},
        {{"report", path}, "trace.csv: No such file"},
        {{"report", "/etc/hostname"}, "is not a trace"},
        {{"report", path, "--rate", "10GB/s"}, "--rate"},
        {{"report", path, "--from", "2s", "--to", "1s"}, "--from must be before --to"},
        {{}, "subcommand"},
    };
    for (const Mistake& mistake : mistakes) {
        const Outcome outcome = program.run(mistake.arguments);
        INFO(outcome.errors);
        CHECK(outcome.exit_code == 2);
        CHECK(contains(outcome.errors, mistake.message));
        CHECK(outcome.output.empty());
        CHECK_FALSE(fs::exists(program.trace()));
        CHECK_FALSE(fs::exists(path + ".csv"));
    }
}

TEST_CASE("a full disk is told with exit code 1 or found before the start", "[cli]") {
    const CollectProgram program;
    const Outcome outcome = program.run({"record", "--iface", "lo", "--out", "/dev/full", "--overwrite"});
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.errors, "/dev/full: No space left on device"));
}

TEST_CASE("help, version and the list of interfaces", "[cli]") {
    const CollectProgram program;
    const Outcome help = program.run({"--help"});
    CHECK(help.exit_code == 0);
    CHECK(contains(help.output, "Examples:"));
    CHECK(contains(program.run({"--version"}).output, "gradburst-collect " GRADBURST_VERSION));
    CHECK(contains(program.run({"interfaces"}).output, "lo"));
}
