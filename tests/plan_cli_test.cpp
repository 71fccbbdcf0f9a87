#include "collectors/trace_file.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "program_folder.hpp"

namespace fs = std::filesystem;
using tests::contains;
using tests::Outcome;

namespace {

/// gradburst-plan in a folder of its own.
struct PlanProgram : tests::ShellProgram {
    PlanProgram() : ShellProgram("'" GRADBURST_PLAN "'") {}
};

} // namespace

TEST_CASE("a plan shows bytes, times and burstiness with their units", "[cli]") {
    const Outcome outcome = PlanProgram().run("resnet50 --ranks 4 --line-rate 100Gbit --ideal");
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    // 2 x 3/4 x 102,228,128 bytes
    CHECK(contains(outcome.output, "each rank sends 153.3 MB (153342192 B) in 6 transfers"));
    CHECK(contains(outcome.output, "bytes x 1 = 1 x line rate / reference rate 100 Gbit/s"));
    CHECK(contains(outcome.output, "connections opened  1 per rank"));
    CHECK(contains(outcome.output, "burst length L      12.27 ms"));
}

TEST_CASE("JSON carries the same numbers", "[cli]") {
    const Outcome outcome =
        PlanProgram().run("smoke --ranks 4 --line-rate 1Gbit --ideal --step-latency 0us --tau 5ms --json");
    INFO(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    const auto plan = nlohmann::json::parse(outcome.output);
    CHECK(plan.at("format") == "gradburst-plan/1");
    CHECK(plan.at("later_iterations").at("sent_bytes_per_rank").at("min") == 1572864); // 2 x 3/4 x 1 MiB
    CHECK(plan.at("run_sent_bytes") == 100 * 4 * 1572864);
    // 12 ms + 1,572,864 B / 125 MB/s = 24.583 ms, without an optimizer; smoke has 3 % of 20 ms.
    CHECK(plan.at("iterations").at("predicted_mean_seconds").get<double>() ==
          Approx(0.012 + 0.012582912 + 0.0006).epsilon(1e-3));
    CHECK(plan.at("bandwidth").at("bus_bytes_per_second").get<double>() == Approx(125e6).epsilon(1e-6));
    // Half of the time the line is busy: PtM = T / L for tau < L.
    CHECK(plan.at("interfaces").at(0).at("burstiness").at(0).at("ptm_estimate").get<double>() ==
          Approx(0.025182912 / 0.012582912).epsilon(1e-3));
}

TEST_CASE("the profile's algorithm is what is counted and predicted", "[cli]") {
    const Outcome outcome = PlanProgram().run("resnet50-server --ranks 4 --line-rate 100Gbit --json");
    INFO(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    const auto plan = nlohmann::json::parse(outcome.output);
    const auto& iteration = plan.at("later_iterations");
    // Rank 0 sends the sum to three workers, each of them its gradients; signals come on top.
    const std::uint64_t bytes = iteration.at("buckets").at(0).at("bytes");
    CHECK(iteration.at("sent_bytes_per_rank").at("max").get<std::uint64_t>() / 1000 == 3 * bytes / 1000);
    CHECK(iteration.at("sent_bytes_per_rank").at("min").get<std::uint64_t>() / 1000 == bytes / 1000);
    CHECK(plan.at("connections_per_rank").at("max") == 3);
    // The largest all-reduce takes as long as the server's NIC needs for 3 S in and 3 S out.
    const double line = 12.5e9 * 1448 / 1538;
    CHECK(plan.at("bandwidth").at("all_reduce_seconds").get<double>() >=
          3 * static_cast<double>(bytes) / line);
}

TEST_CASE("options that decide what a run sends decide what is planned", "[cli]") {
    const PlanProgram program;
    const auto plan = [&program](const std::string& options) {
        const Outcome outcome = program.run("smoke --ranks 4 --line-rate 1Gbit --json " + options);
        INFO(options << ": " << outcome.errors);
        REQUIRE(outcome.exit_code == 0);
        return nlohmann::json::parse(outcome.output);
    };
    CHECK(plan("").at("connections") == 4);
    CHECK(plan("--channels 2 --sockets-per-channel 3").at("connections") == 24);
    CHECK(plan("--algorithm halving_doubling").at("connections") == 8); // each rank to two others
    // The server sends three times what a worker does.
    const auto sent =
        plan("--algorithm server --server-rank 2").at("later_iterations").at("sent_bytes_per_rank");
    CHECK(sent.at("max").get<double>() > 2.9 * sent.at("min").get<double>());
    CHECK(plan("--set /collective/channels=2").at("connections") == 8);
    CHECK(contains(
        program.run("smoke --ranks 4 --line-rate 1Gbit --algorithm server --server-rank 2 --channels 3")
            .output,
        "collective  server on rank 2, one worker after another, segments of at most 262.1 kB, 3 channels"));
}

TEST_CASE("connections, collectives and groups are listed", "[cli]") {
    const PlanProgram program;
    const Outcome outcome = program.run("resnet50-ddp --ranks 4 --line-rate 100Gbit --json");
    INFO(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    const auto plan = nlohmann::json::parse(outcome.output);
    CHECK(plan.at("connections") == 4); // a ring: one to the right neighbour
    CHECK(plan.at("connections_per_rank").at("max") == 1);
    CHECK(plan.at("incoming_connections_per_rank").at("max") == 1);
    CHECK(plan.at("counted_ranks") == 4);
    REQUIRE(plan.at("groups").size() == 1);
    CHECK(plan.at("groups").at(0).at("members") == "all");
    const auto& collectives = plan.at("later_iterations").at("collectives");
    REQUIRE(collectives.size() == 2);
    CHECK(collectives.at(0).at("collective") == "all_reduce");
    CHECK(collectives.at(0).at("count") == 5);
    CHECK(collectives.at(0).at("bytes") == 102'228'128);
    CHECK(collectives.at(1).at("collective") == "broadcast");
    CHECK(collectives.at(1).at("bytes") == 212'480 + 424);
    CHECK(contains(program.run("resnet50-ddp --ranks 4 --line-rate 100Gbit").output,
                   "connections opened  1 per rank, 1 come in; 4 in all"));
}

TEST_CASE("an oversubscribed uplink slows what crosses it", "[cli]") {
    const PlanProgram program;
    const auto seconds = [&program](const std::string& options) {
        const Outcome outcome = program.run(
            "resnet50-server --ranks 8 --line-rate 100Gbit --ideal --step-latency 0us --json " + options);
        INFO(outcome.errors);
        REQUIRE(outcome.exit_code == 0);
        return nlohmann::json::parse(outcome.output).at("bandwidth").at("seconds").get<double>();
    };
    const double one_switch = seconds("");
    CHECK(seconds("--hosts-per-leaf 4") == Approx(one_switch).epsilon(1e-9));
    // One worker after another: 3 of 7 are on the server's leaf, 4 come through an uplink of 4 C / 8 = C / 2.
    CHECK(seconds("--hosts-per-leaf 4 --oversubscription 8") ==
          Approx(one_switch * (3 + 4 * 2) / 7).epsilon(1e-3));
}

TEST_CASE("thousands of ranks are planned by the one that stands for all", "[cli]") {
    const Outcome outcome = PlanProgram().run("resnet50 --ranks 4096 --line-rate 100Gbit");
    INFO(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "plans of one rank that stands for all"));
    CHECK(contains(outcome.output, "4096 in all"));
    const Outcome server =
        PlanProgram().run("resnet50-server --ranks 4096 --ranks-per-host 2 --line-rate 100Gbit");
    CHECK(server.exit_code == 0); // few transfers, although ranks differ
}

TEST_CASE("a leaf of ranks stands for all where its uplink limits them", "[cli]") {
    const auto plan = [](const std::string& options) {
        const Outcome outcome = PlanProgram().run("resnet50 --line-rate 100Gbit --json " + options);
        INFO(options << outcome.errors);
        REQUIRE(outcome.exit_code == 0);
        return nlohmann::json::parse(outcome.output);
    };
    const auto ring = plan("--ranks 1024 --hosts-per-leaf 32 --oversubscription 4");
    CHECK(ring.at("iterations").at("one_rank_for_all") == true); // one rank of each leaf sends up
    const auto halving =
        plan("--ranks 2048 --hosts-per-leaf 32 --oversubscription 4 --algorithm halving_doubling");
    CHECK(halving.at("iterations").at("executed_ranks") == 32);
    CHECK(halving.at("counted_ranks") == 4 * 32);
    const auto hierarchical = plan("--ranks 1024 --ranks-per-host 8 --algorithm hierarchical");
    CHECK(hierarchical.at("iterations").at("executed_ranks") == 8);
    CHECK(contains(PlanProgram()
                       .run("resnet50 --ranks 1024 --ranks-per-host 8 --algorithm hierarchical "
                            "--line-rate 100Gbit")
                       .output,
                   "plans of 8 ranks that stand for all"));
}

TEST_CASE("the trace of a plan is an ordinary trace", "[cli]") {
    const PlanProgram program;
    const fs::path path = program.file("plan.csv");
    const Outcome outcome =
        program.run("smoke --ranks 4 --line-rate 1Gbit --iterations 5 --trace '" + path.string() + "'");
    INFO(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    const collectors::Trace trace = collectors::read_trace(path);
    CHECK(trace.info.source == "prediction");
    CHECK(trace.info.complete);
    CHECK(trace.samples.back().tx_bytes == 4 * 1572864); // 1 of 5 iterations is warm-up
}

TEST_CASE("a plan says what a run takes, and what cannot fit", "[cli]") {
    const PlanProgram program;
    const std::string small = program.run("smoke --ranks 4 --line-rate 1Gbit").output;
    CHECK(contains(small, "beside the programs themselves"));
    CHECK(contains(small, "in the run directory: NIC traces and timeline"));
    CHECK_FALSE(contains(small, "WARNING"));
    const fs::path path = program.file("long.json"); // a year, sampled every 20 us: 1.6e12 lines
    std::ofstream(path) << R"({"compute": {"time": "1s"}, "gradients": {"bucketing": "explicit",
        "buckets": [{"bytes": 4000}]}, "run": {"duration": "8784h"}, "sampling": {"interval": "20us"}})";
    const std::string large = program.run("'" + path.string() + "' --ranks 2 --line-rate 1Gbit").output;
    CHECK(contains(large, "WARNING: on a host like this one: DISK"));
}

TEST_CASE("odd sizes of a job are planned", "[cli]") {
    const PlanProgram program;
    CHECK(contains(program.run("smoke --ranks 1 --line-rate 1Gbit").output, "no traffic"));
    CHECK(contains(program.run("smoke --ranks 2 --ranks-per-host 4 --line-rate 1Gbit").output,
                   "over loopback"));
    CHECK(program.run("smoke --ranks 2 --line-rate 1Gbit --iterations 2").exit_code == 0);
    CHECK(program.run("smoke --ranks 2 --line-rate 1Gbit --iterations 2 --tau 10min --json").exit_code == 0);
}

TEST_CASE("gradburst-plan answers the user's mistakes with one message and exit code 2", "[cli]") {
    const PlanProgram program;
    CHECK(contains(program.complaint("smoke --ranks 4"), "--line-rate: required"));
    CHECK(contains(program.complaint("smoke --line-rate 1Gbit"), "--ranks"));
    CHECK(contains(program.complaint("nosuch --ranks 4 --line-rate 1Gbit"), "nosuch"));
    CHECK(contains(program.complaint("smoke --ranks 0 --line-rate 1Gbit"), "--ranks: must be 1 to"));
    CHECK(contains(program.complaint("smoke --ranks 4 --line-rate 1"), "--line-rate"));
    CHECK(contains(program.complaint("smoke --ranks 4 --line-rate 1Gbit --oversubscription 2"),
                   "needs --hosts-per-leaf"));
    CHECK(contains(
        program.complaint("smoke --ranks 4 --line-rate 1Gbit --hosts-per-leaf 2 --oversubscription 0.5"),
        "--oversubscription: must be 1 to 1000"));
    CHECK(contains(program.complaint("resnet50-ddp --ranks 4097 --ranks-per-host 2 --line-rate 1Gbit"),
                   "ranks that are not alike"));
    CHECK(contains(program.complaint("smoke --ranks 4 --line-rate 1Gbit --mtu 20"), "--mtu: must be"));
    CHECK(contains(program.complaint("smoke --ranks 4 --line-rate 1Gbit --iterations 0"), "--iterations"));
    CHECK(contains(program.complaint("smoke --ranks 4 --line-rate 1Gbit --tau 5"), "--tau"));
    CHECK(
        contains(program.complaint("smoke --ranks 4 --line-rate 1Gbit --tau 0ms"), "--tau: must be greater"));
    CHECK(contains(program.complaint("smoke --ranks 4 --line-rate 1Gbit --scale-bytes x\\\"y"),
                   "--scale-bytes"));
    CHECK(contains(program.complaint("--nosuch"), "--help"));
}

TEST_CASE("help and version of gradburst-plan are no mistakes", "[cli]") {
    const PlanProgram program;
    program.check_help_and_version("gradburst-plan");
}

namespace {

std::string profile_of_one_bucket(const std::string& bytes, const std::string& iterations) {
    return R"({"name": "one", "compute": {"time": "20ms"}, "gradients": {"bucketing": "explicit",
              "buckets": [{"ready_after": "12ms", "bytes": )" +
           bytes + "}]}, \"run\": {\"iterations\": " + iterations + "}}";
}

} // namespace

TEST_CASE("a bucket too large to be looked at segment by segment is refused, with the limit", "[cli]") {
    const PlanProgram program;
    for (const char* size : {"\"16TiB\"", "9223372036854775807"}) {
        const std::string profile = program.write("large.json", profile_of_one_bucket(size, "3"));
        const std::string complaint = program.complaint(profile + " --ranks 4 --line-rate 100Gbit");
        CHECK(contains(complaint, "at most 1048576 of them are possible"));
        CHECK(contains(complaint, "collective.segment_bytes"));
    }
    const std::string profile = program.write("large.json", profile_of_one_bucket("\"1TiB\"", "3"));
    CHECK(contains(program.complaint(profile + " --ranks 4 --line-rate 1kbit"), "more than 100 years"));
}

TEST_CASE("more bytes than can be counted are told as more", "[cli]") {
    const PlanProgram program;
    const std::string options =
        program.write("endless.json", profile_of_one_bucket("\"100GiB\"", "4294967295")) +
        " --ranks 4 --line-rate 100Gbit";
    CHECK(contains(program.run(options).output, "(more than 18446744073709551615 B) by all ranks"));
    CHECK(nlohmann::json::parse(program.run(options + " --json").output).at("run_sent_bytes").is_null());
}
