#include "collectors/trace_file.hpp"
#include "collectors/trace_quality.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "program_folder.hpp"

using namespace collectors;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::contains;
using tests::Outcome;
using tests::text_of;

namespace {

/// Runs gradburst-collect in a folder of its own.
class Program : public tests::ProgramFolder {
public:
    fs::path trace() const { return folder_ / "trace.csv"; }

    pid_t start(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), GRADBURST_COLLECT);
        std::vector<char*> pointers;
        for (std::string& argument : arguments)
            pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        const std::string output = (folder_ / "stdout").string();
        const std::string errors = (folder_ / "stderr").string();
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
            ::dup2(::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
            ::execv(GRADBURST_COLLECT, pointers.data());
            ::_exit(127);
        }
        return child;
    }

    Outcome finish(pid_t child) const {
        int status = 0;
        ::waitpid(child, &status, 0);
        Outcome outcome;
        outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        outcome.output = text_of(folder_ / "stdout");
        outcome.errors = text_of(folder_ / "stderr");
        return outcome;
    }

    Outcome run(std::vector<std::string> arguments) const { return finish(start(std::move(arguments))); }

    Outcome record(std::vector<std::string> more = {"--duration", "500ms"}) const {
        more.insert(more.begin(), {"record", "--iface", "lo", "--out", trace().string()});
        return run(std::move(more));
    }

    /// Records until at least one block is in the file; then the program is in the middle of it.
    pid_t start_recording() const {
        const pid_t child =
            start({"record", "--iface", "lo", "--out", trace().string(), "--interval", "1ms"});
        const auto deadline = std::chrono::steady_clock::now() + 20s;
        std::error_code error;
        while (std::chrono::steady_clock::now() < deadline && (fs::file_size(trace(), error) < 200 || error))
            std::this_thread::sleep_for(5ms);
        return child;
    }
};

} // namespace

TEST_CASE("record leaves a complete trace and says what to do next", "[cli]") {
    const Program program;
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
    const Program program;
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
        const Program program;
        REQUIRE(program.record({"--source", source, "--duration", "20ms"}).exit_code == 0);
        const TraceInfo info = read_trace(program.trace()).info;
        CHECK(info.source == source);
        CHECK(info.source_reason == "asked for");
    }
    const Program program;
    REQUIRE(program.record({"--duration", "20ms"}).exit_code == 0);
    CHECK(read_trace(program.trace()).info.source_reason == "the first choice");
}

TEST_CASE("an RDMA port is recorded from wherever its counters are shown", "[cli]") {
    const Program program;
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

TEST_CASE("a trace is replaced only on request", "[cli]") {
    const Program program;
    REQUIRE(program.record({"--duration", "20ms"}).exit_code == 0);
    const Outcome refused = program.record({"--duration", "20ms"});
    CHECK(refused.exit_code == 2);
    CHECK(contains(refused.errors, "trace.csv: File exists"));
    CHECK(contains(refused.errors, "--overwrite"));
    CHECK(program.record({"--duration", "20ms", "--overwrite"}).exit_code == 0);
}

TEST_CASE("report prints text, or JSON and nothing else on stdout", "[cli]") {
    const Program program;
    REQUIRE(program.record().exit_code == 0);
    const std::string path = program.trace().string();
    const Outcome text = program.run({"report", path});
    CHECK(text.exit_code == 0);
    CHECK(contains(text.output, "lo tx"));
    CHECK(contains(text.output, "lo rx"));
    CHECK(contains(text.output, "recorded"));

    const Outcome json = program.run({"report", "--tau", "5ms,100ms", "--rate", "1Gbit", path, "--json"});
    INFO(json.errors);
    REQUIRE(json.exit_code == 0);
    const nlohmann::ordered_json document = nlohmann::ordered_json::parse(json.output);
    CHECK(document["interfaces"].size() == 2);
    CHECK(document["interfaces"][0]["burstiness"].size() == 2);
    CHECK(document["interfaces"][0]["backlog"][0]["rate_bits_per_second"] == 1'000'000'000);
}

TEST_CASE("SIGINT, SIGTERM and SIGHUP end a recording soon and properly", "[cli]") {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const Program program;
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
    const Program program;
    ::signal(SIGINT, SIG_IGN); // inherited by the child, as in a script
    const pid_t child = program.start_recording();
    ::signal(SIGINT, SIG_DFL);
    ::kill(child, SIGINT);
    CHECK(program.finish(child).exit_code == 0);
    CHECK(read_trace(program.trace()).info.reason == "signal 2");
}

TEST_CASE("a sampler that was stopped for 60 ms leaves a gap with true stamps", "[cli]") {
    const Program program;
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
    const Program program;
    const pid_t child = program.start_recording();
    ::kill(child, SIGKILL);
    CHECK(program.finish(child).exit_code == -SIGKILL);
    CHECK_FALSE(read_trace(program.trace()).samples.empty());
    const Outcome report = program.run({"report", program.trace().string()});
    CHECK(report.exit_code == 0);
    CHECK(contains(report.output, "INCOMPLETE TRACE"));
}

TEST_CASE("the user's mistakes exit with 2 and one message that says which", "[cli]") {
    const Program program;
    const std::string path = program.trace().string();
    struct Mistake {
        std::vector<std::string> arguments;
        std::string message;
    };
    const std::vector<Mistake> mistakes{
        {{"record", "--iface", "eth9", "--out", path}, "no interface eth9 on host"},
        {{"record", "--iface", "lo,wlan*", "--out", path}, "no interface wlan* on host"},
        {{"record", "--iface", "lo", "--out", path, "--source", "ebpf"}, "--source: 'ebpf' is none of"},
        {{"record", "--iface", "lo", "--out", path, "--source", "rdma"}, "lo is no RDMA port"},
        {{"record", "--iface", "lo", "--out", "/nowhere/trace.csv"}, "/nowhere/trace.csv: No such file"},
        {{"record", "--iface", "lo", "--out", path, "--interval", "500"}, "--interval: '500': has no unit"},
        {{"record", "--iface", "lo", "--out", path, "--interval", "0ms"},
         "--interval: must be greater than 0"},
        {{"record", "--iface", "lo"}, "--out"},
        {{"record", "--iface", "lo", "--out", path, "--tua", "3"}, "--tua"},
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
    }
}

TEST_CASE("a part of the trace in which nothing was recorded is no quiet network", "[cli]") {
    const Program program;
    REQUIRE(program.record({"--duration", "20ms"}).exit_code == 0);
    const Outcome outcome = program.run({"report", program.trace().string(), "--from", "1h"});
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.errors, "leave no sample: the trace reaches from"));
    CHECK(outcome.output.empty());
}

TEST_CASE("a full disk is told with exit code 1 or found before the start", "[cli]") {
    const Program program;
    const Outcome outcome = program.run({"record", "--iface", "lo", "--out", "/dev/full", "--overwrite"});
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.errors, "/dev/full: No space left on device"));
}

TEST_CASE("help, version and the list of interfaces", "[cli]") {
    const Program program;
    const Outcome help = program.run({"--help"});
    CHECK(help.exit_code == 0);
    CHECK(contains(help.output, "Examples:"));
    CHECK(contains(program.run({"--version"}).output, "gradburst-collect " GRADBURST_VERSION));
    CHECK(contains(program.run({"interfaces"}).output, "lo"));
}
