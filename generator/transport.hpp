#pragma once

#include "generator/hello.hpp"
#include "generator/peers.hpp"
#include "generator/profile.hpp"
#include "generator/socket_state.hpp"

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace generator {

/// Where a rank listens for its peers.
struct Endpoint {
    int rank = 0;
    std::string host;
    std::string interface;
    std::string address; ///< numeric; IPv6 with scope where it needs one
    std::uint16_t port = 0;

    std::string text() const; ///< "rank 1 on node-b (10.0.0.2:42001, eth0)"
};

/// The data connections of one rank. A connection carries payload one way only.
struct Connections {
    std::map<PeerLane, asio::ip::tcp::socket> outgoing; ///< by the rank that receives
    std::map<PeerLane, asio::ip::tcp::socket> incoming; ///< by the rank that sends
    SocketState state;                                  ///< of the first of them, which are all alike
};

/// Takes those with lanes from `first` on out of `all`; each part has its own state.
Connections take_lanes(Connections& all, std::uint32_t first);

/// A socket on another context. It must be idle.
asio::ip::tcp::socket moved_to(asio::io_context& context, asio::ip::tcp::socket& socket);

/// A listening socket on one address. Throws std::system_error naming address and ports, UserError for
/// settings that this host does not have. Accepted sockets inherit its settings.
class Listener {
public:
    Listener(asio::io_context& context, const std::string& address, PortRange ports,
             const SocketSettings& sockets);

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    asio::ip::tcp::acceptor& acceptor() { return acceptor_; }

private:
    asio::ip::tcp::acceptor acceptor_;
};

struct ConnectSettings {
    JobToken token{};
    SocketSettings sockets;
    std::map<std::uint32_t, SocketSettings> lane_sockets; ///< of lanes with settings of their own
    std::chrono::milliseconds timeout{10000};
    std::function<void()> listen; ///< called every 50 ms; gives up by throwing
};

/// Opens the connections of rank `self` and closes the listener. Peers are recognised by their hello, not by
/// their address; anybody else on the port is dropped with a line on standard error, and the set-up goes on.
/// A refused connection is tried again until the timeout. Throws std::runtime_error that names every peer
/// that is missing, UserError for settings that this host does not have.
Connections connect_peers(asio::io_context& context, Listener listener, int self,
                          const std::vector<Endpoint>& endpoints, const Peers& peers,
                          const ConnectSettings& settings);

/// The same connections, driven by another context. What was waited for on them is forgotten.
Connections moved_to(asio::io_context& context, Connections connections);

} // namespace generator
