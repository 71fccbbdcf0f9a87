#include "tools/plan_report.hpp"

#include "collectors/summary_json.hpp"
#include "collectors/units.hpp"
#include "generator/saturating.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

Json counted_json(std::uint64_t bytes) {
    const auto counted = generator::if_counted(bytes);
    return counted ? Json(*counted) : Json();
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
                           {"group", bucket.group},
                           {"bytes", bucket.bytes},
                           {"tensors", bucket.tensors},
                           {"ready_after_seconds", collectors::in_seconds(bucket.ready_after)}});
    }
    Json collectives = Json::array();
    for (const CollectiveRow& row : plan.collectives)
        collectives.push_back({{"collective", std::string(generator::collective_name(row.collective))},
                               {"group", row.group},
                               {"count", row.count},
                               {"bytes", row.bytes}});
    return {{"buckets", buckets},
            {"collectives", collectives},
            {"sent_bytes_per_rank", range_json(plan.sent_bytes)},
            {"transfers_per_rank", range_json(plan.transfers)},
            {"sent_bytes_all_ranks", plan.all_sent_bytes}};
}

Json bandwidth_json(const PlanReport& report) {
    if (!report.bandwidth)
        return nullptr;
    const BandwidthEstimate& bandwidth = *report.bandwidth;
    Json json{{"collective", std::string(generator::collective_name(bandwidth.kind.collective))},
              {"bytes", bandwidth.kind.bytes},
              {"seconds", collectors::in_seconds(bandwidth.time)},
              {"ranks", bandwidth.members},
              {"algorithm_bytes_per_second", bandwidth.algorithm_bytes_per_second()},
              {"bus_bytes_per_second", bandwidth.bus_bytes_per_second()},
              {"formula",
               "algorithm = bytes / time; bus = algorithm x 2(N-1)/N for all_reduce, (N-1)/N for "
               "reduce_scatter, all_gather and all_to_all, 1 for broadcast and send (nccl-tests)"}};
    if (bandwidth.kind.collective == generator::Collective::all_reduce) {
        json["all_reduce_bytes"] = bandwidth.kind.bytes;
        json["all_reduce_seconds"] = collectors::in_seconds(bandwidth.time);
    }
    return json;
}

Json groups_json(const PlanReport& report) {
    Json groups = Json::array();
    for (const generator::Group& group : report.groups) {
        Json entry{{"group", group.name}, {"communicators", std::max<std::size_t>(1, group.members.size())}};
        entry["members"] = group.members.empty() ? Json("all") : Json(group.members);
        groups.push_back(std::move(entry));
    }
    return groups;
}

Json iterations_json(const PlanReport& report) {
    Json times = Json::array();
    for (const nanoseconds time : report.prediction.iteration_times)
        times.push_back(collectors::in_seconds(time));
    return {{"count", report.iterations},
            {"count_estimated", report.iterations_estimated},
            {"warmup", report.prediction.warmup},
            {"predicted_mean_seconds", collectors::in_seconds(report.prediction.iteration_mean)},
            {"predicted_seconds", times},
            {"one_rank_for_all", report.prediction.executed_ranks < report.settings.ranks &&
                                     report.prediction.executed_ranks == 1},
            {"executed_ranks", report.prediction.executed_ranks},
            {"left_out_buckets", report.prediction.left_out.size()}};
}

Json background_json(const PlanReport& report) {
    if (report.background.empty())
        return nullptr;
    Json hosts = Json::array();
    for (const generator::BackgroundLoad& load : report.background)
        hosts.push_back(
            {{"offered_bits_per_second", load.sent},
             {"received_bits_per_second", load.received},
             {"run_offered_bytes", load.sent / 8 * collectors::in_seconds(report.run_time())},
             {"run_received_bytes", load.received / 8 * collectors::in_seconds(report.run_time())}});
    return {{"meaning", "on average, between hosts, beside all else that is counted and predicted here"},
            {"run_seconds", collectors::in_seconds(report.run_time())},
            {"hosts", hosts}};
}

} // namespace

std::string report_json(const PlanReport& report) {
    const Json document{{"format", "gradburst-plan/1"},
                        {"version", GRADBURST_VERSION},
                        {"profile", Json::parse(generator::effective_profile_json(report.profile))},
                        {"profile_hash", generator::profile_hash(report.profile)},
                        {"world_size", report.settings.ranks},
                        {"ranks_per_host", report.settings.ranks_per_host},
                        {"link",
                         {{"line_rate_bits_per_second", report.link.line_rate.bits_per_second},
                          {"goodput_share", report.link.goodput_share},
                          {"step_latency_seconds", collectors::in_seconds(report.link.step_latency)},
                          {"hosts_per_leaf", report.link.hosts_per_leaf},
                          {"oversubscription", report.link.oversubscription}}},
                        {"byte_scale", report.byte_scale},
                        {"first_iteration", iteration_json(report.traffic.first)},
                        {"later_iterations", iteration_json(report.traffic.later)},
                        {"iterations", iterations_json(report)},
                        {"run_sent_bytes", counted_json(report.run_bytes())},
                        {"background", background_json(report)},
                        {"groups", groups_json(report)},
                        {"counted_ranks", report.traffic.counted_ranks},
                        {"connections_per_rank", range_json(report.traffic.connections.outgoing)},
                        {"incoming_connections_per_rank", range_json(report.traffic.connections.incoming)},
                        {"connections", report.traffic.connections.all},
                        {"listening_ports_per_host", report.ports_per_host},
                        {"memory_bytes",
                         {{"likely", counted_json(report.needs.memory.likely)},
                          {"least", counted_json(report.needs.memory.least)}}},
                        {"disk_bytes",
                         {{"likely", counted_json(report.needs.disk.likely)},
                          {"least", counted_json(report.needs.disk.least)}}},
                        {"burst_length_seconds", collectors::in_seconds(report.burst_length())},
                        {"bandwidth", bandwidth_json(report)},
                        {"interfaces", Json::array({collectors::summary_json(report.summary)})}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace tools
