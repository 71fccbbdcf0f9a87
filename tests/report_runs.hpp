#pragma once

#include <string>

#include <nlohmann/json.hpp>

/// Small runs for tests of verdicts and reports, written by hand.
namespace tests {

/// One direction of eth0 of a host: 2,000 samples without a gap, 5 ms resolved.
inline nlohmann::ordered_json small_interface(const std::string& host, const std::string& direction,
                                              double lower, double upper) {
    return {{"host", host},
            {"interface", "eth0"},
            {"direction", direction},
            {"nic_bytes", 1'000'000},
            {"mean_bits_per_second", 8e6},
            {"span_seconds", 1.0},
            {"resolved_from_seconds", 0.005},
            {"samples", 2000},
            {"missed", 0},
            {"gaps", 0},
            {"longest_gap_seconds", 0.0},
            {"total_gap_seconds", 0.0},
            {"sampler_cpu_share", 0.05},
            {"burstiness",
             {{{"tau_seconds", 0.001},
               {"e_lower_bytes", nullptr},
               {"e_estimate_bytes", nullptr},
               {"e_upper_bytes", nullptr},
               {"ptm_lower", nullptr},
               {"ptm_estimate", nullptr},
               {"ptm_upper", nullptr},
               {"ptm_predicted", 100.0}},
              {{"tau_seconds", 0.005},
               {"e_lower_bytes", 5000 * lower},
               {"e_estimate_bytes", 5000 * (lower + upper) / 2},
               {"e_upper_bytes", 5000 * upper},
               {"ptm_lower", lower},
               {"ptm_estimate", (lower + upper) / 2},
               {"ptm_upper", upper},
               {"ptm_predicted", 50.0}}}},
            {"backlog",
             {{{"rate_bits_per_second", 100'000'000},
               {"lower_bytes", 40e3},
               {"estimate_bytes", 50e3},
               {"predicted_bytes", 45e3}}}},
            {"warnings", nlohmann::ordered_json::array()}};
}

/// Two ranks on two hosts; three iterations, the first as warm-up, of 100 ms each; PtM(5 ms) is 62 to 64 on
/// one host and 58 to 66 on the other.
inline nlohmann::ordered_json small_run() {
    const auto times = [](double value) {
        return nlohmann::ordered_json{
            {"mean", value}, {"p50", value}, {"p95", value}, {"p99", value}, {"max", value}};
    };
    const auto host = [](const std::string& name, int rank) {
        return nlohmann::ordered_json{
            {"host", name},
            {"kernel", "Linux 6.1"},
            {"cpus_online", 2},
            {"ranks", {{{"rank", rank}, {"interface", "eth0"}, {"start_monotonic_ns", 0}}}}};
    };
    nlohmann::ordered_json run;
    run["format"] = "gradburst-run/1";
    run["status"] = "complete";
    run["error"] = nullptr;
    run["version"] = "0.1.0";
    run["command"] = "gradburst small";
    run["started_at"] = "2026-01-31T12:00:00Z";
    run["context"] = {{"hosts", {host("a", 0), host("b", 1)}},
                      {"build_type", "Release"},
                      {"transport", "kernel TCP"},
                      {"congestion_control", "cubic"},
                      {"line_rate_bits_per_second", 1'000'000'000}};
    run["profile"] = {{"name", "small"}, {"description", ""}, {"expect", nlohmann::ordered_json::array()}};
    run["seed"] = 1;
    run["warnings"] = {"A WARNING OF THE RUN"};
    run["iterations"] = {
        {"count", 3}, {"warmup", 1}, {"measured", 2}, {"seconds", times(0.1)}, {"predicted_seconds", 0.095}};
    run["bytes"] = {{"planned", 6000}, {"sent", 6000}, {"received", 6000}};
    run["bucket_start_lateness_seconds"] = times(0.0001);
    run["all_reduce_seconds"] = times(0.02);
    run["bandwidth"] = {{"algorithm_bytes_per_second", 5e4}, {"bus_bytes_per_second", 5e4}};
    run["gating"] = {{"ranks", {{{"rank", 1}, {"iterations", 2}}}},
                     {"iterations", nlohmann::ordered_json::array()}};
    run["collectives"] = {{{"collective", "all_reduce"}, {"seconds", times(0.02)}}};
    run["cpu_share_of_a_core"] = {{{"rank", 0.2}, {"sampler", 0.05}}, {{"rank", 0.2}, {"sampler", 0.05}}};
    run["interfaces"] = {small_interface("a", "tx", 62, 64), small_interface("b", "tx", 58, 66)};
    run["tcp"] = {{"retransmitted_segments", 3}, {"ecn_marked_segments", 0}, {"rtt_seconds", times(0.001)}};
    run["slow_lane"] = {
        {{"host", "a"}, {"interface", "eth0"}, {"rx_drops", 0}, {"tx_drops", 1}, {"queue_drops", 2}}};
    run["switch_ports"] = nlohmann::ordered_json::array();
    run["verdict"] = {{"result", "none"}, {"reasons", nlohmann::ordered_json::array()}};
    return run;
}

/// timeline.csv of that run: of each rank one bucket an iteration, due at 50 ms. Rank 1 starts 1 ms after
/// rank 0 and is 2 ms longer at it.
inline std::string small_timeline() {
    std::string csv =
        "rank,iteration,bucket,iteration_start_ns,due_ns,start_ns,end_ns,iteration_end_ns,late_ns,"
        "bucket_bytes,sent_bytes,received_bytes\n";
    for (int rank = 0; rank < 2; ++rank)
        for (int i = 0; i < 3; ++i) {
            const auto at = [&](int ms) { return std::to_string(1'000'000LL * (100 * i + ms)) + ","; };
            csv += std::to_string(rank) + "," + std::to_string(i) + ",0," + at(0) + at(50) + at(50 + rank) +
                   at(70 + 3 * rank) + at(100) + "0,1000,1000,1000\n";
        }
    return csv;
}

} // namespace tests
