#include "tools/plan_traffic.hpp"

#include "generator/peers.hpp"
#include "generator/saturating.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

namespace tools {

using namespace generator;

namespace {

constexpr int most_counted = 1024; // beyond it the plans of all ranks of a ring take minutes

/// One rank's.
struct Sent {
    std::uint64_t bytes = 0;
    std::uint64_t transfers = 0;
};

std::vector<int> counted_ranks(int ranks, int block_size) {
    if (ranks > most_counted && block_size < ranks) {
        const int blocks = ranks / block_size;
        std::vector<int> counted;
        for (const int block : std::set{0, 1, blocks / 2, blocks - 1})
            for (int place = 0; place < block_size; ++place)
                counted.push_back(block * block_size + place);
        return counted;
    }
    std::vector<int> all(static_cast<std::size_t>(ranks));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

Range range_of(const std::vector<std::uint64_t>& values) {
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return {*least, *most};
}

/// Of all ranks: the sum, or as many times what each of the counted ones has on average.
std::uint64_t sum_of(const std::vector<std::uint64_t>& values, int ranks) {
    const std::uint64_t sum = std::accumulate(values.begin(), values.end(), std::uint64_t{0}, saturating_sum);
    return values.size() == static_cast<std::size_t>(ranks)
               ? sum
               : saturating_product(sum / values.size(), static_cast<std::uint64_t>(ranks));
}

/// Without what differs between ranks and iterations.
IterationPlan list_buckets(const Profile& profile, const Workload& workload, std::uint32_t iteration) {
    IterationPlan plan;
    std::map<std::pair<std::uint32_t, Collective>, CollectiveRow> collectives; // by group
    for (const WorkloadBucket& bucket : workload.buckets(iteration)) {
        const std::string& group = workload.groups.at(bucket.group).name;
        plan.buckets.push_back(
            {bucket.collective, bucket.bytes, bucket.tensors,
             nanoseconds(std::llround(static_cast<double>(bucket.ready_after.count()) * profile.scale.time)),
             group});
        CollectiveRow& row = collectives[{bucket.group, bucket.collective}];
        row = {bucket.collective, group, row.count + 1, row.bytes + bucket.bytes};
    }
    for (const auto& [key, row] : collectives)
        plan.collectives.push_back(row);
    return plan;
}

void add_counts(IterationPlan& plan, const std::vector<Sent>& sent, int ranks) {
    std::vector<std::uint64_t> bytes;
    std::vector<std::uint64_t> transfers;
    for (const Sent& of_rank : sent) {
        bytes.push_back(of_rank.bytes);
        transfers.push_back(of_rank.transfers);
    }
    plan.sent_bytes = range_of(bytes);
    plan.transfers = range_of(transfers);
    plan.all_sent_bytes = sum_of(bytes, ranks);
}

} // namespace

Traffic count_traffic(const Profile& profile, const Workload& workload, int ranks, int block_size) {
    Traffic traffic;
    traffic.first = list_buckets(profile, workload, 0);
    traffic.later = list_buckets(profile, workload, 1);
    const std::vector<int> counted = counted_ranks(ranks, block_size);
    traffic.counted_ranks = static_cast<int>(counted.size());
    std::vector<Sent> first, later;
    std::vector<std::uint64_t> outgoing, incoming;
    for (const int rank : counted) {
        std::map<BucketKind, Sent> by_kind;
        Peers peers;
        for (const auto& [kind, slot] : queued_kinds(workload)) {
            const RankPlan plan = bucket_plan(workload, kind, rank, ranks);
            std::uint64_t transfers = 0;
            for (const Operation& operation : plan.operations) {
                transfers += operation.is_send() ? 1u : 0u;
                (operation.is_send() ? peers.outgoing : peers.incoming)
                    .insert(
                        {operation.peer, job_lane(workload.collective, {kind.group, slot}, operation.lane)});
            }
            by_kind[kind] = {plan.sent_bytes(), transfers};
        }
        const auto total = [&by_kind](const std::vector<WorkloadBucket>& buckets) {
            Sent sum;
            for (const WorkloadBucket& bucket : buckets) {
                sum.bytes = saturating_sum(sum.bytes, by_kind[bucket].bytes);
                sum.transfers += by_kind[bucket].transfers;
            }
            return sum;
        };
        first.push_back(total(workload.first_iteration));
        later.push_back(total(workload.later_iterations));
        outgoing.push_back(peers.outgoing.size());
        incoming.push_back(peers.incoming.size());
    }
    add_counts(traffic.first, first, ranks);
    add_counts(traffic.later, later, ranks);
    traffic.connections = {range_of(outgoing), range_of(incoming), sum_of(outgoing, ranks)};
    return traffic;
}

} // namespace tools
