#include "generator/blocks.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace generator {
namespace {

int world_size(const Topology& topology) {
    return static_cast<int>(topology.hosts.size());
}

int ranks_per_host(const Topology& topology) {
    return static_cast<int>(std::count(topology.hosts.begin(), topology.hosts.end(), topology.hosts.front()));
}

/// Ranks 0 to k-1 on host 0, the next k on host 1, and so on, to the last.
bool is_in_order(const Topology& topology) {
    const int per_host = ranks_per_host(topology);
    for (int rank = 0; rank < world_size(topology); ++rank)
        if (topology.hosts[static_cast<std::size_t>(rank)] != rank / per_host)
            return false;
    return world_size(topology) % per_host == 0;
}

bool has_each_rank_on_its_own_host(const Topology& topology) {
    const std::set<int> hosts(topology.hosts.begin(), topology.hosts.end());
    return hosts.size() == topology.hosts.size();
}

} // namespace

int distance(Distance kind, int from, int to, int size) {
    return kind == Distance::rotation ? (to - from + size) % size : from ^ to;
}

int opposite(Distance kind, int distance, int size) {
    return kind == Distance::rotation ? (size - distance) % size : distance;
}

int at_distance(Distance kind, int from, int distance, int size) {
    return kind == Distance::rotation ? (from + distance) % size : from ^ distance;
}

std::vector<RankBlock> equal_blocks(const Topology& topology) {
    if (topology.hosts.size() < 2)
        return {};
    if (!are_uplinks_scarce(topology) && has_each_rank_on_its_own_host(topology))
        return {{.size = 1}};
    const int per_host = ranks_per_host(topology);
    if (!is_in_order(topology) || per_host == world_size(topology))
        return {};
    std::vector<RankBlock> blocks{{.size = per_host}};
    if (are_uplinks_scarce(topology) && world_size(topology) % (per_host * topology.hosts_per_leaf) == 0)
        blocks.push_back({.size = per_host * topology.hosts_per_leaf, .has_uplinks = true});
    return blocks;
}

Topology topology_of_block(const Topology& topology, const RankBlock& block) {
    Topology part = topology;
    part.hosts.resize(static_cast<std::size_t>(block.size));
    if (block.size == 1)
        part.hosts = {0};
    if (!block.has_uplinks)
        part.hosts_per_leaf = 0;
    return part;
}

bool are_uplinks_scarce(const Topology& topology) {
    return topology.hosts_per_leaf > 0 && topology.oversubscription > 1 &&
           std::any_of(topology.hosts.begin(), topology.hosts.end(), [&topology](int host) {
               return host / topology.hosts_per_leaf != topology.hosts.front() / topology.hosts_per_leaf;
           });
}

bool uplinks_suffice(const Topology& topology, int block_size, const std::set<Hop>& hops) {
    if (!are_uplinks_scarce(topology))
        return true;
    const int most_hosts = static_cast<int>(topology.hosts_per_leaf / topology.oversubscription);
    const int size = world_size(topology);
    const int last_leaf = topology.hosts.back() / topology.hosts_per_leaf;
    std::vector<std::set<int>> sending(static_cast<std::size_t>(last_leaf + 1)); // hosts of each leaf
    std::vector<std::set<int>> receiving = sending;
    for (int first = 0; first < size; first += block_size)
        for (const Hop& hop : hops) {
            const int from = first + hop.place;
            const int from_host = topology.hosts[static_cast<std::size_t>(from)];
            const int to_host =
                topology.hosts[static_cast<std::size_t>(at_distance(hop.kind, from, hop.distance, size))];
            const int from_leaf = from_host / topology.hosts_per_leaf;
            const int to_leaf = to_host / topology.hosts_per_leaf;
            if (from_leaf == to_leaf)
                continue;
            auto& senders = sending[static_cast<std::size_t>(from_leaf)];
            auto& receivers = receiving[static_cast<std::size_t>(to_leaf)];
            senders.insert(from_host);
            receivers.insert(to_host);
            if (static_cast<int>(std::max(senders.size(), receivers.size())) > most_hosts)
                return false;
        }
    return true;
}

} // namespace generator
