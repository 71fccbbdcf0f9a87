#include "generator/background_flows.hpp"

#include "generator/draws.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace generator {
namespace {

constexpr std::uint64_t background_stream = std::uint64_t{1} << 40; // entry number i: plus i

std::vector<int> ranks_of(const std::vector<int>& named, int world_size) {
    if (!named.empty())
        return named;
    std::vector<int> all(static_cast<std::size_t>(world_size));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

/// Mean 1.
double exponential(Draws& draws) {
    return -std::log1p(-draws.uniform());
}

/// Of a query: when it falls due, who answers, how much.
Draws query_draws(std::uint64_t seed, std::uint32_t entry, int client, std::int64_t query) {
    return {seed, background_stream + entry, static_cast<std::uint64_t>(client), query};
}

double query_gap_ns(const BackgroundEntry& entry, Draws& draws) {
    return 1e9 / entry.queries_per_second * exponential(draws);
}

nanoseconds rounded(double time_ns) {
    return nanoseconds(std::llround(time_ns));
}

} // namespace

std::vector<int> servers_of(const BackgroundEntry& entry, int client, int world_size) {
    std::vector<int> servers = ranks_of(entry.from, world_size);
    std::erase(servers, client);
    return servers;
}

std::vector<BackgroundFlow> background_flows(const std::vector<BackgroundEntry>& background, int world_size) {
    std::vector<BackgroundFlow> flows;
    for (std::size_t entry = 0; entry < background.size(); ++entry)
        for (const int from : ranks_of(background[entry].from, world_size))
            for (const int to : ranks_of(background[entry].to, world_size))
                if (from != to)
                    flows.push_back({static_cast<std::uint32_t>(flows.size()),
                                     static_cast<std::uint32_t>(entry), from, to});
    return flows;
}

FlowMessages::FlowMessages(const BackgroundEntry& entry, const BackgroundFlow& flow, std::uint64_t seed,
                           int world_size)
    : entry_(entry), flow_(flow), seed_(seed) {
    if (entry.pattern == BackgroundPattern::incast)
        servers_ = servers_of(entry, flow.to, world_size);
}

BackgroundMessage FlowMessages::next() {
    return entry_.pattern == BackgroundPattern::incast ? next_of_queries() : next_of_flow();
}

/// At a constant rate each message takes its own size's time, and the first begins somewhere in the time of
/// one, so that flows are not in step.
BackgroundMessage FlowMessages::next_of_flow() {
    const double ns_per_byte = 8e9 / static_cast<double>(entry_.rate.bits_per_second);
    Draws draws(seed_, background_stream + flow_.entry, flow_.number, number_);
    const std::uint64_t bytes = entry_.sizes.quantile(draws.uniform());
    const double mean_gap_ns = entry_.sizes.mean_bytes * ns_per_byte;
    const bool poisson = entry_.pattern == BackgroundPattern::poisson;
    if (poisson)
        due_ns_ += mean_gap_ns * exponential(draws);
    else if (number_ == 0)
        due_ns_ = mean_gap_ns * draws.uniform();
    const BackgroundMessage message{rounded(due_ns_), bytes, static_cast<std::uint64_t>(number_)};
    if (!poisson)
        due_ns_ += static_cast<double>(bytes) * ns_per_byte;
    ++number_;
    return message;
}

/// Each server walks through all queries of the client and stops at the ones that it has to answer.
BackgroundMessage FlowMessages::next_of_queries() {
    while (true) {
        Draws draws = query_draws(seed_, flow_.entry, flow_.to, number_);
        due_ns_ += query_gap_ns(entry_, draws);
        const auto query = static_cast<std::uint64_t>(number_++);
        std::vector<int> servers = servers_;
        const std::size_t asked =
            std::min<std::size_t>(entry_.fan_in.value_or(servers.size()), servers.size());
        for (std::size_t i = 0; i < asked; ++i) { // the first steps of a shuffle
            const auto left = static_cast<double>(servers.size() - i);
            std::swap(servers[i], servers[i + static_cast<std::size_t>(draws.uniform() * left)]);
            const std::uint64_t bytes = entry_.sizes.quantile(draws.uniform());
            if (servers[i] == flow_.from)
                return {rounded(due_ns_), bytes, query};
        }
    }
}

OfferedTraffic offered(FlowMessages messages, nanoseconds span) {
    OfferedTraffic traffic;
    for (BackgroundMessage message = messages.next(); message.due < span; message = messages.next()) {
        ++traffic.messages;
        traffic.bytes += message.bytes;
    }
    return traffic;
}

std::uint64_t queries_within(const BackgroundEntry& entry, std::uint32_t number, int client,
                             std::uint64_t seed, nanoseconds span) {
    double due_ns = 0;
    for (std::int64_t query = 0;; ++query) {
        Draws draws = query_draws(seed, number, client, query);
        due_ns += query_gap_ns(entry, draws);
        if (rounded(due_ns) >= span)
            return static_cast<std::uint64_t>(query);
    }
}

double mean_rate(const BackgroundEntry& entry, int world_size, int to) {
    if (entry.pattern != BackgroundPattern::incast)
        return static_cast<double>(entry.rate.bits_per_second);
    const auto servers = static_cast<double>(servers_of(entry, to, world_size).size());
    const double asked = std::min(servers, static_cast<double>(entry.fan_in.value_or(~0u)));
    return 8 * entry.sizes.mean_bytes * entry.queries_per_second * asked / servers;
}

std::vector<BackgroundLoad> background_loads(const std::vector<BackgroundEntry>& background,
                                             const std::vector<int>& hosts) {
    const int world_size = static_cast<int>(hosts.size());
    std::vector<BackgroundLoad> loads(
        hosts.empty() ? 0 : static_cast<std::size_t>(*std::max_element(hosts.begin(), hosts.end())) + 1);
    for (const BackgroundFlow& flow : background_flows(background, world_size)) {
        const auto from = static_cast<std::size_t>(hosts[static_cast<std::size_t>(flow.from)]);
        const auto to = static_cast<std::size_t>(hosts[static_cast<std::size_t>(flow.to)]);
        if (from == to)
            continue;
        const double rate = mean_rate(background[flow.entry], world_size, flow.to);
        loads[from].sent += rate;
        loads[to].received += rate;
    }
    return loads;
}

} // namespace generator
