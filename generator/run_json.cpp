#include "collectors/summary_json.hpp"
#include "generator/json_values.hpp"
#include "generator/run_record.hpp"
#include "generator/switch_results.hpp"

#include <nlohmann/json.hpp>

#include <map>

namespace generator {
namespace {

using Json = nlohmann::ordered_json;

Json gating_json(const std::vector<Gate>& gates) {
    Json json;
    json["meaning"] =
        "the rank that started the iteration's last collective of most ranks last, and how long "
        "after the median rank; as exact as the clock offsets of context.hosts";
    json["ranks"] = Json::array();
    for (const GatingRank& each : gating_ranks(gates)) {
        Json entry;
        entry["rank"] = each.rank;
        entry["iterations"] = each.iterations;
        entry["p50_seconds"] = each.median_seconds;
        entry["max_seconds"] = each.max_seconds;
        json["ranks"].push_back(std::move(entry));
    }
    json["iterations"] = Json::array();
    for (const Gate& gate : gates) {
        Json entry;
        entry["iteration"] = gate.iteration;
        entry["rank"] = gate.rank;
        entry["seconds"] = 1e-9 * static_cast<double>(gate.behind_ns);
        json["iterations"].push_back(std::move(entry));
    }
    return json;
}

Json collective_json(const CollectiveStatistics& statistics) {
    Json json;
    json["collective"] = collective_name(statistics.collective);
    json["count"] = statistics.count;
    json["bytes"] = statistics.bytes;
    json["seconds"] = distribution_json(statistics.seconds);
    json["algorithm_bytes_per_second"] = or_null(statistics.algorithm_bytes_per_second);
    json["bus_bytes_per_second"] = or_null(statistics.bus_bytes_per_second);
    return json;
}

/// As the kernel says. Buffers that it sizes by itself are null; of others it gives twice what can be used.
Json socket_json(const SocketUse& use, const SocketSettings& asked) {
    Json json;
    json["ranks"] = use.ranks;
    json["congestion_control"] = use.state.congestion_control;
    json["dscp"] = use.state.dscp;
    json["pacing_rate_bits_per_second"] =
        use.state.pacing_rate ? Json(use.state.pacing_rate->bits_per_second) : Json();
    json["send_buffer_bytes"] = asked.send_buffer_bytes ? Json(use.state.send_buffer_bytes / 2) : Json();
    json["receive_buffer_bytes"] =
        asked.receive_buffer_bytes ? Json(use.state.receive_buffer_bytes / 2) : Json();
    json["no_delay"] = use.state.no_delay;
    return json;
}

Json clock_json(const ClockAlignment& clock) {
    const bool same = clock.method == ClockMethod::same_host;
    const auto offset_json = [&](const std::optional<ClockOffset>& measured) {
        Json json;
        if (!measured && !same)
            return json;
        const ClockOffset offset = measured.value_or(ClockOffset{});
        json["offset_seconds"] = 1e-9 * static_cast<double>(offset.offset.count());
        json["error_seconds"] = 1e-9 * static_cast<double>(offset.error.count());
        return json;
    };
    const std::optional<ClockDrift> drift = clock.drift();
    Json json;
    json["method"] = method_text(clock.method);
    json["start"] = offset_json(clock.start);
    json["end"] = offset_json(clock.end);
    json["drift_ppm"] = drift ? Json(drift->ppm) : Json();
    json["drift_error_ppm"] = drift ? Json(drift->error_ppm) : Json();
    return json;
}

Json context_json(const RunRecord& record) {
    Json hosts = Json::array();
    std::map<std::string, std::size_t> known; // by network: ranks in one namespace are one host
    for (std::size_t rank = 0; rank < record.ranks.size(); ++rank) {
        const HostFacts& facts = record.ranks[rank];
        const auto [place, is_new] = known.emplace(facts.addresses.network, hosts.size());
        if (is_new) {
            Json host;
            host["host"] = facts.addresses.host;
            host["kernel"] = facts.kernel;
            host["cpus_online"] = facts.cpus_online;
            host["clock"] = rank < record.clocks.size() ? clock_json(record.clocks[rank]) : Json();
            host["ranks"] = Json::array();
            hosts.push_back(std::move(host));
        }
        Json entry;
        entry["rank"] = rank;
        entry["cpus_allowed"] = facts.cpus_allowed;
        if (rank < record.endpoints.size()) {
            entry["interface"] = record.endpoints[rank].interface;
            entry["address"] = record.endpoints[rank].address;
            entry["port"] = record.endpoints[rank].port;
        }
        entry["start_monotonic_ns"] =
            rank < record.start_monotonic_ns.size() ? or_null(record.start_monotonic_ns[rank]) : Json();
        hosts[place->second]["ranks"].push_back(std::move(entry));
    }
    Json context;
    context["hosts"] = std::move(hosts);
    context["clock_meaning"] =
        "what to add to CLOCK_MONOTONIC of the host to get that of rank 0's host, before and "
        "after the traffic; rank 0's is ahead if positive; in between taken to lie on a line; null: not "
        "measured";
    context["build_type"] = GRADBURST_BUILD_TYPE;
    context["mpi_library"] = record.mpi_library;
    context["transport"] = "kernel TCP";
    context["congestion_control"] =
        record.sockets.empty() ? Json() : Json(congestion_controls(record.sockets));
    context["sockets"] = Json::array();
    for (const SocketUse& use : record.sockets)
        context["sockets"].push_back(socket_json(use, record.profile.network.sockets));
    context["line_rate_bits_per_second"] =
        record.line_rate ? Json(record.line_rate->bits_per_second) : Json();
    context["line_rate_origin"] = record.line_rate_origin;
    context["byte_scale"] = record.byte_scale;
    return context;
}

Json interface_json(const InterfaceResult& result) {
    Json json = collectors::summary_json(result.summary, result.predicted_ratios);
    json["payload_bytes"] = result.payload_bytes;
    if (!result.shared_with.empty()) {
        json["shared_with_jobs"] = result.shared_with;
        json["other_jobs_payload_bytes"]["least"] = result.others.least_bytes;
        json["other_jobs_payload_bytes"]["most"] = or_null(result.others.most_bytes);
    }
    if (result.has_background) {
        json["background_payload_bytes"]["least"] = result.background.least_bytes;
        json["background_payload_bytes"]["most"] = or_null(result.background.most_bytes);
    }
    json["ranks"] = result.ranks;
    for (std::size_t i = 0; i < result.predicted_backlog_bytes.size() && i < json["backlog"].size(); ++i)
        json["backlog"][i]["predicted_bytes"] = or_null(result.predicted_backlog_bytes[i]);
    return json;
}

Json tcp_json(const std::optional<TcpResult>& result) {
    Json json;
    if (!result)
        return json;
    json["method"] = tcp_method(*result);
    json["records"] = result->records;
    json["retransmitted_segments"] = or_null(result->retransmitted_segments);
    json["retransmitted_segments_in_warmup"] =
        result->retransmitted_segments ? Json(result->retransmitted_in_warmup) : Json();
    json["most_retransmitted"] = Json();
    if (const auto& worst = result->worst) {
        Json& entry = json["most_retransmitted"];
        entry["segments"] = worst->segments;
        entry["rank"] = worst->rank;
        entry["peer"] = worst->peer;
        entry["iteration"] = worst->iteration;
        entry["bucket"] = worst->bucket;
    }
    json["delivered_segments"] = or_null(result->delivered_segments);
    json["ecn_marked_segments"] = or_null(result->ecn_marked_segments);
    json["acked_bytes"] = or_null(result->acked_bytes);
    json["rtt_seconds"] = distribution_json(result->rtt_seconds);
    json["min_rtt_seconds"] = or_null(result->min_rtt_seconds);
    json["cwnd_segments"] = distribution_json(result->cwnd_segments);
    json["receiver_limited_share"] = or_null(result->receiver_limited_share);
    json["send_buffer_limited_share"] = or_null(result->send_buffer_limited_share);
    return json;
}

/// A counter that the kernel does not tell is left out, one that was not known to the end is null.
Json slow_lane_json(const SlowLaneResult& result) {
    Json json;
    json["host"] = result.host;
    json["interface"] = result.interface;
    json["file"] = result.file;
    json["covers"] = slow_lane_covers;
    for (const collectors::SlowTotal& total : result.totals)
        json[total.name + (total.is_level ? "_max" : "")] = or_null(total.total);
    return json;
}

Json switch_port_json(const SwitchPortResult& port) {
    Json json = collectors::summary_json(port.summary, port.predicted_ratios);
    json["port"] = port.port;
    json["leads_to"] = port.host;
    json["ranks"] = port.ranks;
    json["queueing_discipline"] = port.queue_kind;
    json["counted"] = "after the port's queue";
    json["queue_samples"] = port.queue_samples;
    json["max_backlog_bytes"] = port.max_backlog_bytes;
    json["drops"] = port.drops;
    json["active_senders"]["max"] = port.most_active_senders;
    json["active_senders"]["p50"] = port.typical_active_senders;
    json["active_senders"]["possible"] = port.possible_senders;
    json["active_senders"]["method"] = active_senders_method;
    return json;
}

Json run_document(const RunRecord& record) {
    const RunStatistics& statistics = record.statistics;
    Json json;
    json["format"] = "gradburst-run/1";
    json["status"] = status_name(record.status);
    json["error"] = record.error.empty() ? Json() : Json(record.error);
    json["version"] = GRADBURST_VERSION;
    if (!record.job.empty())
        json["job"] = record.job;
    json["run_id"] = record.run_id;
    json["command"] = record.command;
    json["started_at"] = record.started_at;
    json["start_at"] = record.start_at ? Json::parse(start_at_json(*record.start_at)) : Json();
    json["context"] = context_json(record);
    json["profile"] = Json::parse(effective_profile_json(record.profile));
    json["profile_hash"] = profile_hash(record.profile);
    json["world_size"] = record.ranks.size();
    json["seed"] = record.profile.run.seed;
    json["warnings"] = record.warnings;
    json["iterations"]["count"] = statistics.finished_iterations;
    json["iterations"]["warmup"] = record.profile.run.warmup;
    json["iterations"]["measured"] = statistics.measured_iterations;
    json["iterations"]["seconds"] = distribution_json(statistics.iteration_seconds);
    json["iterations"]["predicted_seconds"] = or_null(record.predicted_iteration_seconds);
    json["bytes"]["planned"] = or_null(record.planned_bytes);
    json["bytes"]["sent"] = statistics.sent_bytes;
    json["bytes"]["received"] = statistics.received_bytes;
    json["bytes"]["meaning"] =
        "payload of all ranks, warm-up included; planned: of the iterations that all finished";
    json["checked_elements"] =
        record.profile.run.verify ? Json(record.checked_elements) : Json(); // a wrong one is the error
    json["bucket_start_lateness_seconds"] = distribution_json(statistics.lateness_seconds);
    const CollectiveStatistics all_reduces = statistics.of(Collective::all_reduce);
    json["all_reduce_seconds"] = distribution_json(all_reduces.seconds);
    json["bandwidth"]["algorithm_bytes_per_second"] = or_null(all_reduces.algorithm_bytes_per_second);
    json["bandwidth"]["bus_bytes_per_second"] = or_null(all_reduces.bus_bytes_per_second);
    json["bandwidth"]["formula"] = bandwidth_formula;
    json["gating"] = gating_json(statistics.gates);
    json["collectives"] = Json::array();
    for (const CollectiveStatistics& each : statistics.collectives)
        json["collectives"].push_back(collective_json(each));
    json["cpu_share_of_a_core"] = Json::array();
    for (const RankCpu& cpu : record.cpu) {
        Json entry;
        entry["rank"] = cpu.rank;
        entry["sampler"] = cpu.sampler;
        json["cpu_share_of_a_core"].push_back(std::move(entry));
    }
    json["background"] = background_results_json(record.background, record.profile.background);
    json["interfaces"] = Json::array();
    for (const InterfaceResult& result : record.interfaces)
        json["interfaces"].push_back(interface_json(result));
    json["tcp"] = tcp_json(record.tcp);
    json["slow_lane"] = Json::array();
    for (const SlowLaneResult& result : record.slow_lanes)
        json["slow_lane"].push_back(slow_lane_json(result));
    json["switch_ports"] = Json::array();
    for (const SwitchPortResult& port : record.switch_ports)
        json["switch_ports"].push_back(switch_port_json(port));
    json["verdict"] = verdict_json(record.verdict);
    return json;
}

} // namespace

std::string_view status_name(RunStatus status) {
    switch (status) {
    case RunStatus::complete:
        return "complete";
    case RunStatus::interrupted:
        return "interrupted";
    case RunStatus::failed:
        break;
    }
    return "failed";
}

std::vector<Expectation> expectations_of(const RunRecord& record) {
    std::vector<Expectation> expectations;
    for (const std::string& text : record.profile.expect)
        expectations.push_back(parse_expectation(text));
    return expectations;
}

Verdict verdict_on(const RunRecord& record) {
    if (record.profile.expect.empty())
        return {};
    return judge(expectations_of(record), run_document(record));
}

std::string run_json(const RunRecord& record) {
    return run_document(record).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace generator
