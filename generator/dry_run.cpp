#include "generator/dry_run.hpp"

#include "collectors/units.hpp"
#include "generator/json_values.hpp"
#include "generator/plan_book.hpp"
#include "generator/saturating.hpp"

#include <iterator>
#include <numeric>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace generator {
namespace {

using Json = nlohmann::ordered_json;

/// What one rank would send.
struct RankTraffic {
    std::uint64_t first_bytes = 0; ///< in iteration 0
    std::uint64_t later_bytes = 0; ///< in each later one
    std::size_t peers = 0;         ///< different ranks that it sends to
    std::size_t connections = 0;   ///< that it opens
};

std::vector<RankTraffic> traffic(const Agreement& agreement) {
    const int world_size = static_cast<int>(agreement.record.ranks.size());
    std::vector<RankTraffic> ranks;
    for (int rank = 0; rank < world_size; ++rank) {
        RankTraffic each;
        each.first_bytes = planned_bytes(agreement.workload, rank, world_size, 1);
        each.later_bytes = planned_bytes(agreement.workload, rank, world_size, 2) - each.first_bytes;
        const Peers needed = needed_peers(agreement.workload, rank, world_size);
        each.connections = needed.outgoing.size();
        std::set<int> peers;
        for (const PeerLane& connection : needed.outgoing)
            peers.insert(connection.peer);
        each.peers = peers.size();
        ranks.push_back(each);
    }
    return ranks;
}

/// nullopt: a duration ends the run, not a number of iterations.
std::optional<std::uint64_t> run_bytes(const Agreement& agreement, const std::vector<RankTraffic>& ranks) {
    const RunSettings& run = agreement.record.profile.run;
    if (!run.iterations)
        return std::nullopt;
    std::uint64_t bytes = 0;
    for (const RankTraffic& rank : ranks)
        bytes = saturating_sum(bytes, saturating_sum(rank.first_bytes, saturating_product(*run.iterations - 1,
                                                                                          rank.later_bytes)));
    return bytes;
}

/// Empty without background traffic.
std::vector<BackgroundLoad> background_of_ranks(const RunRecord& record) {
    std::vector<int> ranks(record.profile.background.empty() ? 0 : record.ranks.size());
    std::iota(ranks.begin(), ranks.end(), 0);
    return background_loads(record.profile.background, ranks);
}

std::string plural(std::size_t count, const char* noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

Json buckets_json(const std::vector<WorkloadBucket>& buckets, const Workload& workload) {
    Json list = Json::array();
    for (const WorkloadBucket& bucket : buckets)
        list.push_back({{"collective", std::string(collective_name(bucket.collective))},
                        {"group", workload.groups.at(bucket.group).name},
                        {"bytes", bucket.bytes},
                        {"tensors", bucket.tensors},
                        {"ready_after_seconds", collectors::in_seconds(bucket.ready_after)},
                        {"needed_at_seconds", collectors::in_seconds(bucket.needed_at)}});
    return list;
}

} // namespace

std::string dry_run_text(const Agreement& agreement) {
    const RunRecord& record = agreement.record;
    std::string text = settings_text(record, agreement.workload, "none (dry run)");
    auto append = std::back_inserter(text);
    const std::vector<RankTraffic> ranks = traffic(agreement);
    if (ranks.size() == 1)
        text += "rank 0           sends nothing: one rank has nobody to send to\n";
    else
        for (std::size_t rank = 0; rank < ranks.size(); ++rank)
            fmt::format_to(append, "rank {:<11} sends {} B per iteration to {}\n", rank,
                           ranks[rank].later_bytes, plural(ranks[rank].peers, "peer"));
    if (const auto bytes = run_bytes(agreement, ranks); bytes && ranks.size() > 1)
        fmt::format_to(append, "all ranks        send {} in {} iterations\n", bytes_in_full(*bytes),
                       *record.profile.run.iterations);
    const std::vector<BackgroundLoad> background = background_of_ranks(record);
    for (std::size_t rank = 0; rank < background.size(); ++rank)
        fmt::format_to(append, "rank {:<11} and on average offers {} of background traffic, receives {}\n",
                       rank, collectors::format_bit_rate(background[rank].sent),
                       collectors::format_bit_rate(background[rank].received));
    const Needs& needs = agreement.needs;
    fmt::format_to(
        append, "memory           about {} on the fullest host, beside the programs themselves{}\n",
        size_text(needs.memory.likely),
        agreement.free.memory_bytes ? fmt::format(" ({} free)", size_text(*agreement.free.memory_bytes))
                                    : "");
    fmt::format_to(
        append, "disk             about {} in the run directory{}\n", size_text(needs.disk.likely),
        agreement.free.disk_bytes ? fmt::format(" ({} free)", size_text(*agreement.free.disk_bytes)) : "");
    for (const std::string& warning : record.warnings)
        fmt::format_to(append, "WARNING: {}\n", warning);
    return text;
}

std::string dry_run_json(const Agreement& agreement) {
    const RunRecord& record = agreement.record;
    const std::vector<RankTraffic> traffic_of = traffic(agreement);
    const std::vector<BackgroundLoad> background = background_of_ranks(record);
    Json ranks = Json::array();
    for (std::size_t rank = 0; rank < traffic_of.size(); ++rank) {
        ranks.push_back({{"rank", rank},
                         {"host", record.endpoints.at(rank).host},
                         {"interface", record.endpoints.at(rank).interface},
                         {"address", record.endpoints.at(rank).address},
                         {"sent_bytes_first_iteration", traffic_of[rank].first_bytes},
                         {"sent_bytes_per_iteration", traffic_of[rank].later_bytes},
                         {"peers", traffic_of[rank].peers},
                         {"connections", traffic_of[rank].connections}});
        if (!background.empty()) {
            ranks.back()["background_offered_bits_per_second"] = background[rank].sent;
            ranks.back()["background_received_bits_per_second"] = background[rank].received;
        }
    }
    const auto bytes = run_bytes(agreement, traffic_of);
    const Needs& needs = agreement.needs;
    const Json document{
        {"format", "gradburst-dry-run/1"},
        {"version", GRADBURST_VERSION},
        {"command", record.command},
        {"profile", Json::parse(effective_profile_json(record.profile))},
        {"profile_hash", profile_hash(record.profile)},
        {"world_size", record.ranks.size()},
        {"line_rate_bits_per_second",
         record.line_rate ? Json(record.line_rate->bits_per_second) : Json(nullptr)},
        {"byte_scale", record.byte_scale},
        {"first_iteration", buckets_json(agreement.workload.first_iteration, agreement.workload)},
        {"later_iterations", buckets_json(agreement.workload.later_iterations, agreement.workload)},
        {"ranks", std::move(ranks)},
        {"run_sent_bytes", or_null(bytes ? if_counted(*bytes) : std::nullopt)},
        {"memory_bytes",
         {{"likely", or_null(if_counted(needs.memory.likely))},
          {"least", or_null(if_counted(needs.memory.least))},
          {"free", or_null(agreement.free.memory_bytes)}}},
        {"disk_bytes",
         {{"likely", or_null(if_counted(needs.disk.likely))},
          {"least", or_null(if_counted(needs.disk.least))},
          {"free", or_null(agreement.free.disk_bytes)}}},
        {"warnings", record.warnings}};
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace generator
