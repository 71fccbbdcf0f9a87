#include "generator/transport.hpp"

#include "collectors/units.hpp"
#include "generator/socket_settings.hpp"

#include <asio/awaitable.hpp>
#include <asio/co_spawn.hpp>
#include <asio/detached.hpp>
#include <asio/experimental/awaitable_operators.hpp>
#include <asio/read.hpp>
#include <asio/redirect_error.hpp>
#include <asio/steady_timer.hpp>
#include <asio/use_awaitable.hpp>
#include <asio/write.hpp>

#include <fmt/format.h>
#include <system_error>

namespace generator {
namespace {

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;
using namespace asio::experimental::awaitable_operators;
using Clock = std::chrono::steady_clock;

constexpr int listen_backlog = 4096;
constexpr auto hello_timeout = std::chrono::seconds(3); // a stranger may not hold a place for longer
constexpr auto retry_interval = std::chrono::milliseconds(50);
constexpr auto listen_interval = std::chrono::milliseconds(50);

SocketState state_of(Connections& connections) {
    const auto first = [](auto& sockets) {
        return sockets.empty() ? -1 : sockets.begin()->second.native_handle();
    };
    return socket_state(first(connections.outgoing), first(connections.incoming));
}

/// Opens all connections of one rank. Has a context of its own: when it is destroyed, so are the strangers
/// that still hold a connection.
class PeerSetup {
public:
    PeerSetup(Listener& listener, int self, const std::vector<Endpoint>& endpoints, const Peers& peers,
              const ConnectSettings& settings)
        : acceptor_(moved_to_setup(listener.acceptor())), self_(self), endpoints_(endpoints), peers_(peers),
          settings_(settings), deadline_(context_, Clock::now() + settings.timeout), listening_(context_),
          started_(Clock::now()) {}

    Connections run(asio::io_context& target) {
        deadline_.async_wait([this](std::error_code error) {
            if (!error)
                give_up();
        });
        for (const PeerLane& target_lane : peers_.outgoing)
            spawn(connect(target_lane));
        if (!peers_.incoming.empty())
            spawn(accept());
        listen();
        finish_if_complete();
        context_.run();
        if (failure_)
            std::rethrow_exception(failure_);
        if (!complete())
            throw std::runtime_error(missing());
        Connections ready;
        for (auto& [peer_lane, socket] : connections_.outgoing) {
            ready.outgoing.emplace(peer_lane, moved_to(target, socket));
        }
        for (auto& [peer_lane, socket] : connections_.incoming)
            ready.incoming.emplace(peer_lane, moved_to(target, socket));
        ready.state = state_of(ready);
        return ready;
    }

private:
    tcp::acceptor moved_to_setup(tcp::acceptor& acceptor) {
        const auto protocol = acceptor.local_endpoint().protocol();
        return tcp::acceptor(context_, protocol, acceptor.release());
    }

    const SocketSettings& sockets_of(std::uint32_t lane) const {
        const auto own = settings_.lane_sockets.find(lane);
        return own == settings_.lane_sockets.end() ? settings_.sockets : own->second;
    }

    /// An accepted socket has the listener's settings; a lane with its own gets those that matter to who
    /// receives. Pacing and congestion control are the sender's.
    void adapt(tcp::socket& socket, std::uint32_t lane) {
        if (!settings_.lane_sockets.contains(lane))
            return;
        SocketSettings settings = sockets_of(lane);
        settings.congestion_control.clear();
        settings.pacing_rate.reset();
        settings.dscp = settings.dscp.value_or(0);
        apply(settings, socket.native_handle());
    }

    void spawn(awaitable<void> activity) {
        asio::co_spawn(context_, std::move(activity), [this](std::exception_ptr error) {
            if (error && !failure_ && !over_) {
                failure_ = error;
                give_up();
            }
        });
    }

    void listen() {
        if (!settings_.listen)
            return;
        settings_.listen();
        listening_.expires_after(listen_interval);
        listening_.async_wait([this](std::error_code error) {
            if (!error)
                listen();
        });
    }

    const Endpoint& endpoint(int rank) const { return endpoints_.at(static_cast<std::size_t>(rank)); }

    awaitable<void> connect(PeerLane peer_lane) {
        const int peer = peer_lane.peer;
        const tcp::endpoint target(asio::ip::make_address(endpoint(peer).address), endpoint(peer).port);
        const tcp::endpoint source(asio::ip::make_address(endpoint(self_).address), 0);
        while (!over_) {
            tcp::socket socket(context_, target.protocol());
            apply(sockets_of(peer_lane.lane), socket.native_handle());
            // Or the port that the kernel picks here could be one that the next run wants to listen on.
            socket.set_option(tcp::socket::reuse_address(true));
            socket.bind(source);
            std::error_code error;
            co_await socket.async_connect(target, asio::redirect_error(use_awaitable, error));
            if (!error)
                error = co_await introduce(socket, peer_lane.lane);
            if (!error) {
                connections_.outgoing.emplace(peer_lane, std::move(socket));
                finish_if_complete();
                co_return;
            }
            last_error_[peer] = error;
            asio::steady_timer pause(context_, retry_interval);
            co_await pause.async_wait(asio::redirect_error(use_awaitable, error));
        }
    }

    awaitable<std::error_code> introduce(tcp::socket& socket, std::uint32_t lane) {
        const HelloBytes hello =
            encode({.token = settings_.token, .rank = static_cast<std::uint32_t>(self_), .lane = lane});
        std::error_code error;
        co_await asio::async_write(socket, asio::buffer(hello), asio::redirect_error(use_awaitable, error));
        std::array<std::byte, 1> answer{};
        if (!error)
            co_await asio::async_read(socket, asio::buffer(answer),
                                      asio::redirect_error(use_awaitable, error));
        if (!error && answer[0] != hello_accepted)
            error = std::make_error_code(std::errc::protocol_error);
        co_return error;
    }

    awaitable<void> accept() {
        while (!over_) {
            std::error_code error;
            tcp::socket socket = co_await acceptor_.async_accept(asio::redirect_error(use_awaitable, error));
            if (over_)
                co_return;
            if (error) { // out of descriptors, or the stranger left: neither may end the job here
                asio::steady_timer pause(context_, retry_interval);
                co_await pause.async_wait(asio::redirect_error(use_awaitable, error));
                continue;
            }
            asio::co_spawn(context_, welcome(std::move(socket)), asio::detached);
        }
    }

    /// Never throws: whatever a stranger does ends here.
    awaitable<void> welcome(tcp::socket socket) {
        std::error_code error;
        const tcp::endpoint from = socket.remote_endpoint(error);
        HelloBytes bytes{};
        asio::steady_timer timer(context_, hello_timeout);
        std::error_code read_error;
        std::error_code timer_error;
        co_await (
            asio::async_read(socket, asio::buffer(bytes), asio::redirect_error(use_awaitable, read_error)) ||
            timer.async_wait(asio::redirect_error(use_awaitable, timer_error)));
        if (over_)
            co_return;
        const std::optional<Hello> hello = read_error ? std::nullopt : decode(bytes);
        if (!hello)
            co_return log_stranger(from, read_error ? "no complete hello" : "not a hello of this program");
        if (hello->token != settings_.token)
            co_return log_stranger(from, "a hello of another job");
        const PeerLane peer_lane{static_cast<int>(hello->rank), hello->lane};
        if (!peers_.incoming.contains(peer_lane) || connections_.incoming.contains(peer_lane))
            co_return log_stranger(from, "a rank that has no business here, or is connected already");
        co_await asio::async_write(socket, asio::buffer(&hello_accepted, 1),
                                   asio::redirect_error(use_awaitable, error));
        if (error || over_)
            co_return;
        try {
            adapt(socket, peer_lane.lane);
        } catch (const std::exception&) {
            failure_ = std::current_exception();
            co_return give_up();
        }
        connections_.incoming.emplace(peer_lane, std::move(socket));
        finish_if_complete();
    }

    void log_stranger(const tcp::endpoint& from, std::string_view what) {
        if (Clock::now() - last_log_ < std::chrono::seconds(1))
            return;
        last_log_ = Clock::now();
        fmt::print(stderr, "gradburst: rank {} dropped a connection from {} to port {}: {}\n", self_,
                   from.address().to_string(), endpoint(self_).port, what);
    }

    bool complete() const {
        return connections_.outgoing.size() == peers_.outgoing.size() &&
               connections_.incoming.size() == peers_.incoming.size();
    }

    void finish_if_complete() {
        if (complete())
            give_up();
    }

    /// Ends every activity, whether all peers are there or time is up.
    void give_up() {
        over_ = true;
        std::error_code ignored;
        acceptor_.close(ignored);
        context_.stop();
    }

    /// Peers with connections that are not there; how many of how many, if there should be several.
    static std::map<int, std::string> missing_lanes(const std::set<PeerLane>& wanted,
                                                    const std::map<PeerLane, tcp::socket>& opened) {
        std::map<int, std::pair<std::size_t, std::size_t>> counts; // missing, wanted
        for (const PeerLane& each : wanted) {
            counts[each.peer].first += opened.contains(each) ? 0u : 1u;
            ++counts[each.peer].second;
        }
        std::map<int, std::string> texts;
        for (const auto& [peer, count] : counts)
            if (count.first > 0)
                texts[peer] = count.second == 1 ? "" : fmt::format(" ({} of {})", count.first, count.second);
        return texts;
    }

    std::string missing() const {
        const auto seconds = collectors::in_seconds(Clock::now() - started_);
        const Endpoint& own = endpoint(self_);
        std::string text;
        for (const auto& [peer, lanes] : missing_lanes(peers_.outgoing, connections_.outgoing)) {
            const auto found = last_error_.find(peer);
            text += fmt::format("{}{}: cannot connect to {} from {} within {:.0f} s{}: {}",
                                text.empty() ? "" : "\n", own.text(), endpoint(peer).text(), own.address,
                                seconds, lanes,
                                found == last_error_.end() ? "no answer (firewall? wrong interface?)"
                                                           : found->second.message());
        }
        for (const auto& [peer, lanes] : missing_lanes(peers_.incoming, connections_.incoming))
            text += fmt::format("{}{}: no connection from {} within {:.0f} s{}", text.empty() ? "" : "\n",
                                own.text(), endpoint(peer).text(), seconds, lanes);
        return text;
    }

    asio::io_context context_{1};
    tcp::acceptor acceptor_;
    int self_;
    const std::vector<Endpoint>& endpoints_;
    const Peers& peers_;
    const ConnectSettings& settings_;
    asio::steady_timer deadline_;
    asio::steady_timer listening_;
    Clock::time_point started_;
    Clock::time_point last_log_{};
    Connections connections_;
    std::map<int, std::error_code> last_error_;
    std::exception_ptr failure_;
    bool over_ = false;
};

} // namespace

std::string Endpoint::text() const {
    return fmt::format("rank {} on {} ({}:{}, {})", rank, host, address, port, interface);
}

tcp::socket moved_to(asio::io_context& context, tcp::socket& socket) {
    const auto protocol = socket.local_endpoint().protocol();
    return tcp::socket(context, protocol, socket.release());
}

Connections take_lanes(Connections& all, std::uint32_t first) {
    Connections taken;
    const auto take = [first](auto& from, auto& to) {
        for (auto place = from.begin(); place != from.end();) {
            const auto next = std::next(place);
            if (place->first.lane >= first)
                to.insert(from.extract(place));
            place = next;
        }
    };
    take(all.outgoing, taken.outgoing);
    take(all.incoming, taken.incoming);
    all.state = state_of(all);
    taken.state = state_of(taken);
    return taken;
}

Listener::Listener(asio::io_context& context, const std::string& address, PortRange ports,
                   const SocketSettings& sockets)
    : acceptor_(context) {
    const asio::ip::address ip = asio::ip::make_address(address);
    std::error_code error;
    for (std::uint32_t port = ports.first; port <= ports.last; ++port) {
        const tcp::endpoint local(ip, static_cast<std::uint16_t>(port));
        acceptor_ = tcp::acceptor(context, local.protocol());
        apply(sockets, acceptor_.native_handle());
        acceptor_.set_option(tcp::acceptor::reuse_address(true));
        acceptor_.bind(local, error);
        if (!error)
            acceptor_.listen(listen_backlog, error);
        if (!error)
            return;
    }
    throw std::system_error(error,
                            fmt::format("listen on {}, ports {}-{} (each rank of a host needs one port)",
                                        address, ports.first, ports.last));
}

Connections connect_peers(asio::io_context& context, Listener listener, int self,
                          const std::vector<Endpoint>& endpoints, const Peers& peers,
                          const ConnectSettings& settings) {
    return PeerSetup(listener, self, endpoints, peers, settings).run(context);
}

Connections moved_to(asio::io_context& context, Connections connections) {
    for (auto* sockets : {&connections.outgoing, &connections.incoming})
        for (auto& [place, socket] : *sockets) {
            const auto protocol = socket.local_endpoint().protocol();
            socket = asio::ip::tcp::socket(context, protocol, socket.release());
        }
    return connections;
}

} // namespace generator
