#include "generator/plan_forms.hpp"
#include "generator/plan_parts.hpp"

#include <algorithm>
#include <map>
#include <numeric>

namespace generator {
namespace {

/// The positions on each host, hosts in order of their numbers.
std::vector<std::vector<int>> by_host(int size, const std::vector<int>& hosts) {
    std::map<int, std::vector<int>> on;
    for (int position = 0; position < size; ++position)
        on[hosts.empty() ? position : hosts[static_cast<std::size_t>(position)]].push_back(position);
    std::vector<std::vector<int>> groups;
    for (auto& [host, positions] : on)
        groups.push_back(std::move(positions));
    return groups;
}

} // namespace

RankPlan hierarchical_all_reduce(int position, int size, std::uint64_t bytes, std::uint64_t element_bytes,
                                 const std::vector<int>& hosts) {
    const std::vector<std::vector<int>> groups = by_host(size, hosts);
    std::size_t host = 0;
    std::size_t index = groups[0].size(); // of the rank on its host
    for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto found = std::find(groups[i].begin(), groups[i].end(), position);
        if (found == groups[i].end())
            continue;
        host = i;
        index = static_cast<std::size_t>(found - groups[i].begin());
    }
    std::vector<int> across; // the ranks with the same index
    for (const std::vector<int>& group : groups)
        across.push_back(group[index]);
    const int on_host = static_cast<int>(groups[host].size());
    const int own = static_cast<int>(index);
    const ByteRange chunk = chunk_range(bytes, element_bytes, on_host, own, own + 1);

    RankPlan plan = for_members(ring_reduce_scatter(own, on_host, bytes, element_bytes), groups[host]);
    // The chunk's sum on this host is complete with the last receive.
    IndexList sum = receives(plan);
    sum = sum.empty() ? IndexList{} : IndexList{sum.back()};

    const std::size_t across_first = plan.operations.size();
    append_part(plan,
                for_members(ring_all_reduce(static_cast<int>(host), static_cast<int>(groups.size()),
                                            chunk.bytes, element_bytes),
                            across),
                chunk.offset, 0);
    for (std::size_t i = across_first; i < plan.operations.size(); ++i)
        if (plan.operations[i].is_send())
            plan.operations[i].after.append(sum);
    sum.append(receives(plan, across_first)); // now of all hosts

    const std::size_t gather_first = plan.operations.size();
    append_part(plan, for_members(ring_all_gather(own, on_host, bytes, element_bytes), groups[host]), 0, 0);
    for (std::size_t i = gather_first; i < plan.operations.size(); ++i)
        if (plan.operations[i].is_send() && plan.operations[i].behind.empty()) // the own chunk
            plan.operations[i].after.append(sum);
    return plan;
}

} // namespace generator
