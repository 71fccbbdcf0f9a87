#pragma once

#include "generator/failure.hpp"
#include "generator/payload.hpp"
#include "generator/plan.hpp"
#include "generator/transport.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace generator {

/// A plan with what the wire needs to know about it, worked out before any traffic flows.
struct WirePlan {
    explicit WirePlan(RankPlan rank_plan, std::uint64_t segment_bytes);

    RankPlan plan;
    std::map<int, std::vector<std::uint32_t>> sends;    ///< by peer, operations in plan order
    std::map<int, std::vector<std::uint32_t>> receives; ///< by peer, operations in plan order
    std::vector<std::uint64_t> segments;                ///< hand-over size of each operation
    std::vector<bool> followed;                         ///< some send is behind this receive
};

/// Executes one plan at a time on the connections of one rank. A connection's stream is driven by callbacks:
/// it moves what it may and what the socket takes, then waits for the socket or for an operation that it
/// depends on. Errors (a peer that left, a socket error) leave the io_context's run() as exceptions that name
/// the peer.
class Wire {
public:
    Wire(asio::io_context& context, Connections& connections, Payload& payload,
         const std::vector<Endpoint>& endpoints);

    /// Starts the plan on bucket number `bucket`; `done` is called when every operation is complete, perhaps
    /// before this returns. Both must outlive the run.
    void start(const WirePlan& plan, std::size_t bucket, std::function<void()> done);

    /// From now on throws when a peer that this rank sends to leaves or passes on a stop, also between two
    /// plans.
    void listen();
    /// Throws if one of them has done so already.
    void hear();
    /// Passes a stop on to the peers that send to this rank. It travels on the way back of their connections,
    /// where no payload goes: never behind anything.
    void pass_on(const Stopped& stopped);

    std::uint64_t sent_bytes() const { return sent_bytes_; }         ///< payload since construction
    std::uint64_t received_bytes() const { return received_bytes_; } ///< payload since construction

    /// What is unfinished in the running plan: "from rank 1 on a (10.0.0.2:4000, eth0): 12 of 64 bytes; ...".
    std::string unfinished() const;

private:
    struct Stream {
        int peer = 0;
        asio::ip::tcp::socket* socket = nullptr;
        std::vector<std::uint32_t> operations; ///< of the running plan
        std::size_t next = 0;                  ///< the one in progress
        bool waiting = false;                  ///< for the socket
        int low_water_mark = 1;                ///< SO_RCVLOWAT as last set
    };

    void continue_all();
    void pump(Stream& stream, bool sending);
    bool move_bytes(Stream& stream, bool sending);
    void wait(Stream& stream, bool sending);
    void set_low_water_mark(Stream& stream);
    std::uint64_t released(std::uint32_t operation) const;
    void advance(Stream& stream, bool sending, std::uint64_t bytes);
    void finish_if_complete();
    void listen(const Stream& stream);
    void hear(const Stream& stream);
    std::string peer_text(const Stream& stream) const;

    asio::io_context& context_;
    Payload& payload_;
    const std::vector<Endpoint>& endpoints_;
    std::vector<Stream> outgoing_;
    std::vector<Stream> incoming_;
    const WirePlan* plan_ = nullptr;
    std::vector<std::uint64_t> progress_; ///< bytes done of each operation
    std::size_t open_operations_ = 0;
    std::size_t bucket_ = 0;
    std::function<void()> done_;
    std::uint64_t sent_bytes_ = 0;
    std::uint64_t received_bytes_ = 0;
};

} // namespace generator
