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
    /// By peer and lane of the plan: operations in plan order.
    std::map<PeerLane, std::vector<std::uint32_t>> sends;
    std::map<PeerLane, std::vector<std::uint32_t>> receives;
    std::vector<std::uint64_t> segments; ///< hand-over size of each operation
    std::vector<bool> followed;          ///< some send is behind this receive
};

/// Executes one plan at a time on the connections of one queue of a rank; several wires run at once. A
/// connection's stream is driven by callbacks: it moves what it may and what the socket takes, then waits for
/// the socket or for an operation that it depends on. Errors (a peer that left, a socket error) leave the
/// io_context's run() as exceptions that name the peer.
class Wire {
public:
    /// Takes the connections with lanes `first_lane` to `first_lane + lanes - 1`: lanes 0, 1 ... of its
    /// plans. Everything given by reference must outlive the wire.
    Wire(asio::io_context& context, Connections& connections, std::uint32_t first_lane, std::uint32_t lanes,
         Payload& payload, const std::vector<Endpoint>& endpoints);

    /// Starts the plan, which must outlive its run, on bucket number `bucket`. True when it is complete
    /// already; otherwise `done` is called when every operation is.
    bool start(const WirePlan& plan, std::uint32_t bucket, std::function<void()> done);

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
        PeerLane place; ///< lane of the plan
        asio::ip::tcp::socket* socket = nullptr;
        std::vector<std::uint32_t> operations; ///< of the running plan
        std::size_t next = 0;                  ///< the one in progress
        bool waiting = false;                  ///< for the socket
        int low_water_mark = 1;                ///< SO_RCVLOWAT as last set
    };

    void resume();
    void continue_all();
    const Endpoint& peer(const Stream& stream) const;
    void pump(Stream& stream, bool sending);
    bool move_bytes(Stream& stream, bool sending);
    void wait(Stream& stream, bool sending);
    void choose_low_water_mark(Stream& stream);
    static void set_low_water_mark(Stream& stream, int mark);
    std::uint64_t released(std::uint32_t operation) const;
    void advance(Stream& stream, bool sending, std::uint64_t bytes);
    void listen(const Stream& stream);
    void hear(const Stream& stream);

    asio::io_context& context_;
    Payload& payload_;
    const std::vector<Endpoint>& endpoints_;
    std::vector<Stream> outgoing_;
    std::vector<Stream> incoming_;
    const WirePlan* plan_ = nullptr;
    std::vector<std::uint64_t> progress_; ///< bytes done of each operation
    std::size_t open_operations_ = 0;
    std::uint32_t bucket_ = 0;
    std::function<void()> done_;
    std::uint64_t sent_bytes_ = 0;
    std::uint64_t received_bytes_ = 0;
};

} // namespace generator
