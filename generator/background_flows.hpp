#pragma once

#include "generator/profile.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

/// What background traffic consists of: who sends how much to whom, and when. Pure: the same on every rank,
/// whatever the network does, so that a receiver knows where messages end without being told.
namespace generator {

/// A connection that carries messages of an entry one way, one after another.
struct BackgroundFlow {
    std::uint32_t number = 0; ///< of all flows of the job
    std::uint32_t entry = 0;  ///< of the profile's list
    int from = 0;
    int to = 0;

    bool operator==(const BackgroundFlow&) const = default;
};

/// Of `constant` and `poisson` from each of the one ranks to each of the others; of `incast` from each server
/// to each client.
std::vector<BackgroundFlow> background_flows(const std::vector<BackgroundEntry>& background, int world_size);

struct BackgroundMessage {
    nanoseconds due{0};      ///< from the job's start
    std::uint64_t bytes = 0; ///< at least one
    std::uint64_t query = 0; ///< of the receiver, that it is part of; else the message's number

    bool operator==(const BackgroundMessage&) const = default;
};

/// The messages of a flow in their order, without an end. What is not asked for costs no memory, so that a
/// sender that falls behind has no backlog to keep: it is always at the next message.
class FlowMessages {
public:
    FlowMessages(const BackgroundEntry& entry, const BackgroundFlow& flow, std::uint64_t seed,
                 int world_size);

    BackgroundMessage next();

private:
    BackgroundMessage next_of_flow();
    BackgroundMessage next_of_queries();

    BackgroundEntry entry_;
    BackgroundFlow flow_;
    std::uint64_t seed_;
    std::vector<int> servers_; ///< of the flow's client
    std::int64_t number_ = 0;  ///< of the next message or query
    double due_ns_ = 0;        ///< of the last one
};

/// Messages that fall due within `span`, and their bytes.
struct OfferedTraffic {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};
OfferedTraffic offered(FlowMessages messages, nanoseconds span);

/// Queries of a client of an incast that fall due within `span`.
std::uint64_t queries_within(const BackgroundEntry& entry, std::uint32_t number, int client,
                             std::uint64_t seed, nanoseconds span);

/// Payload that a flow offers on average, in bits per second.
double mean_rate(const BackgroundEntry& entry, int world_size, int to);

/// Mean payload rates of what one host offers to the others and is offered by them, in bits per second.
struct BackgroundLoad {
    double sent = 0;
    double received = 0;
};

/// Of each host; `hosts`: of each rank, numbered from 0.
std::vector<BackgroundLoad> background_loads(const std::vector<BackgroundEntry>& background,
                                             const std::vector<int>& hosts);

/// Ranks that answer a client of an incast.
std::vector<int> servers_of(const BackgroundEntry& entry, int client, int world_size);

} // namespace generator
