#include "generator/transfer_plan.hpp"

#include "generator/failure.hpp"
#include "generator/saturating.hpp"

#include <map>
#include <stdexcept>
#include <string>

#include <fmt/format.h>

namespace generator {
namespace {

using Indices = std::vector<std::uint32_t>;

/// Which transfer each operation of each rank is a part of.
using TransferOf = std::vector<Indices>;

[[noreturn]] void misfit(int from, int to, const std::string& why) {
    throw std::logic_error("plans do not fit: rank " + std::to_string(from) + " to rank " +
                           std::to_string(to) + ": " + why);
}

/// The model looks at each of them.
void require_few_segments(const Transfer& transfer) {
    constexpr std::uint64_t most_segments = 1 << 20;
    if (transfer.bytes <= saturating_product(most_segments, transfer.segment_bytes))
        return;
    throw UserError(
        fmt::format("a prediction would take too long: a transfer of {} B goes in segments of {} B, "
                    "at most {} of them are possible; give smaller buckets or a larger "
                    "collective.segment_bytes",
                    transfer.bytes, transfer.segment_bytes, most_segments));
}

void add_sends(TransferPlan& joined, TransferOf& transfer_of, std::map<TransferConnection, Indices>& on,
               std::span<const RankPlan> plans, std::optional<std::uint64_t> segment_bytes) {
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
        transfer_of.emplace_back(plans[rank].operations.size());
        for (std::size_t i = 0; i < plans[rank].operations.size(); ++i) {
            const Operation& send = plans[rank].operations[i];
            if (!send.is_send())
                continue;
            const auto number = static_cast<std::uint32_t>(joined.transfers.size());
            Transfer transfer;
            transfer.from = static_cast<int>(rank);
            transfer.to = send.peer;
            transfer.bytes = send.range.bytes;
            transfer.is_signal = send.is_signal();
            transfer.segment_bytes =
                segment_bytes ? segment_size(send.range.bytes, *segment_bytes) : send.range.bytes;
            require_few_segments(transfer);
            Indices& before = on[{transfer.from, transfer.to, send.lane}];
            transfer.first_on_connection = before.empty();
            if (!before.empty())
                joined.transfers[before.back()].next_on_connection = number;
            before.push_back(number);
            transfer_of[rank][i] = number;
            joined.transfers.push_back(std::move(transfer));
        }
    }
}

void meet_receives(const TransferPlan& joined, TransferOf& transfer_of,
                   const std::map<TransferConnection, Indices>& on, std::span<const RankPlan> plans) {
    std::map<TransferConnection, std::size_t> met;
    for (std::size_t rank = 0; rank < plans.size(); ++rank)
        for (std::size_t i = 0; i < plans[rank].operations.size(); ++i) {
            const Operation& receive = plans[rank].operations[i];
            if (receive.is_send())
                continue;
            const TransferConnection connection{receive.peer, static_cast<int>(rank), receive.lane};
            const auto sends = on.find(connection);
            const std::size_t k = met[connection]++;
            if (sends == on.end() || k >= sends->second.size())
                misfit(connection.from, connection.to, "a receive without a send");
            transfer_of[rank][i] = sends->second[k];
            if (joined.transfers[sends->second[k]].bytes != receive.range.bytes)
                misfit(connection.from, connection.to, "a receive of another size than its send");
            if (joined.transfers[sends->second[k]].is_signal != receive.is_signal())
                misfit(connection.from, connection.to, "a signal that meets data");
        }
    for (const auto& [connection, sends] : on)
        if (met[connection] != sends.size())
            misfit(connection.from, connection.to, "a send that nobody receives");
}

void add_conditions(TransferPlan& joined, const TransferOf& transfer_of, std::span<const RankPlan> plans) {
    for (std::size_t rank = 0; rank < plans.size(); ++rank)
        for (std::size_t i = 0; i < plans[rank].operations.size(); ++i) {
            const Operation& operation = plans[rank].operations[i];
            const std::uint32_t number = transfer_of[rank][i];
            Transfer& transfer = joined.transfers[number];
            for (const std::uint32_t before : operation.after) {
                const std::uint32_t condition = transfer_of[rank].at(before);
                transfer.after.push_back({condition, !plans[rank].operations[before].is_send()});
                joined.transfers[condition].followers.push_back(number);
            }
            for (const std::uint32_t before : operation.behind) {
                const std::uint32_t condition = transfer_of[rank].at(before);
                if (joined.transfers[condition].bytes != transfer.bytes)
                    misfit(transfer.from, transfer.to, "a send that follows a receive of another size");
                transfer.behind.push_back(condition);
                joined.transfers[condition].followers.push_back(number);
            }
        }
}

} // namespace

TransferPlan join_plans(std::span<const RankPlan> plans, std::optional<std::uint64_t> segment_bytes) {
    TransferPlan joined;
    TransferOf transfer_of;
    std::map<TransferConnection, Indices> on; // transfers of each connection, in order
    add_sends(joined, transfer_of, on, plans, segment_bytes);
    meet_receives(joined, transfer_of, on, plans);
    add_conditions(joined, transfer_of, plans);
    joined.first.resize(plans.size());
    joined.participants = plans.size();
    for (const RankPlan& plan : plans)
        joined.transfers_of_rank.push_back(static_cast<std::uint32_t>(plan.operations.size()));
    for (const auto& [connection, transfers] : on) {
        for (const std::uint32_t transfer : transfers)
            joined.transfers[transfer].connection = static_cast<std::uint32_t>(joined.connections.size());
        joined.connections.push_back(connection);
        joined.first[static_cast<std::size_t>(connection.from)].push_back(transfers.front());
        joined.first[static_cast<std::size_t>(connection.to)].push_back(transfers.front());
    }
    return joined;
}

} // namespace generator
