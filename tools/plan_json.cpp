#include "tools/plan_report.hpp"

#include "collectors/summary_json.hpp"

#include <nlohmann/json.hpp>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

double seconds(nanoseconds duration) {
    return std::chrono::duration<double>(duration).count();
}

Json range_json(const Range& range) {
    return {{"min", range.least}, {"max", range.most}};
}

Json iteration_json(const IterationPlan& plan) {
    Json buckets = Json::array();
    for (std::size_t i = 0; i < plan.buckets.size(); ++i) {
        const BucketRow& bucket = plan.buckets[i];
        buckets.push_back({{"bucket", i},
                           {"collective", std::string(generator::collective_name(bucket.collective))},
                           {"bytes", bucket.bytes},
                           {"tensors", bucket.tensors},
                           {"ready_after_seconds", seconds(bucket.ready_after)}});
    }
    return {{"buckets", buckets},
            {"sent_bytes_per_rank", range_json(plan.sent_bytes)},
            {"transfers_per_rank", range_json(plan.transfers)},
            {"sent_bytes_all_ranks", plan.all_sent_bytes}};
}

Json bandwidth_json(const PlanReport& report) {
    if (!report.bandwidth)
        return nullptr;
    return {{"all_reduce_bytes", report.bandwidth->bytes},
            {"all_reduce_seconds", seconds(report.bandwidth->time)},
            {"algorithm_bytes_per_second", report.bandwidth->algorithm_bytes_per_second()},
            {"bus_bytes_per_second", report.bandwidth->bus_bytes_per_second(report.settings.ranks)},
            {"formula", "algorithm = bytes / time; bus = 2(N-1)/N x algorithm (nccl-tests)"}};
}

Json iterations_json(const PlanReport& report) {
    Json times = Json::array();
    for (const nanoseconds time : report.prediction.iteration_times)
        times.push_back(seconds(time));
    return {{"count", report.iterations},
            {"count_estimated", report.iterations_estimated},
            {"warmup", report.prediction.warmup},
            {"predicted_mean_seconds", seconds(report.prediction.iteration_mean)},
            {"predicted_seconds", times}};
}

} // namespace

std::string report_json(const PlanReport& report) {
    const Json document{
        {"format", "gradburst-plan/1"},
        {"version", GRADBURST_VERSION},
        {"profile", Json::parse(generator::effective_profile_json(report.profile))},
        {"profile_hash", generator::profile_hash(report.profile)},
        {"world_size", report.settings.ranks},
        {"ranks_per_host", report.settings.ranks_per_host},
        {"link",
         {{"line_rate_bits_per_second", report.link.line_rate.bits_per_second},
          {"goodput_share", report.link.goodput_share},
          {"step_latency_seconds", seconds(report.link.step_latency)}}},
        {"byte_scale", report.byte_scale},
        {"first_iteration", iteration_json(report.first)},
        {"later_iterations", iteration_json(report.later)},
        {"iterations", iterations_json(report)},
        {"run_sent_bytes", report.run_bytes()},
        {"connections_per_rank", range_json(report.connections)},
        {"listening_ports_per_host", report.ports_per_host},
        {"memory_bytes", {{"likely", report.needs.memory.likely}, {"least", report.needs.memory.least}}},
        {"disk_bytes", {{"likely", report.needs.disk.likely}, {"least", report.needs.disk.least}}},
        {"burst_length_seconds", seconds(report.burst_length())},
        {"bandwidth", bandwidth_json(report)},
        {"interfaces", Json::array({collectors::summary_json(report.summary)})}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tools
