#include "generator/background_traffic.hpp"

#include "collectors/printable.hpp"
#include "collectors/signals_blocked.hpp"
#include "generator/payload.hpp"
#include "generator/socket_settings.hpp"

#include <asio/co_spawn.hpp>
#include <asio/post.hpp>
#include <asio/redirect_error.hpp>
#include <asio/use_awaitable.hpp>

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <sys/socket.h>
#include <system_error>

namespace generator {
namespace {

using asio::awaitable;
using asio::use_awaitable;
using asio::ip::tcp;

constexpr std::uint64_t background_low_water_mark = 1024 * 1024; // as the collectives' wires have it
constexpr int moves_before_others = 4;                           // then others have a turn
constexpr auto look_around = std::chrono::milliseconds(5);

std::string last_error() {
    return std::generic_category().message(errno);
}

} // namespace

void add_background_peers(Peers& peers, const std::vector<BackgroundFlow>& flows, int rank) {
    for (const BackgroundFlow& flow : flows) {
        if (flow.from == rank)
            peers.outgoing.insert({flow.to, first_background_lane + flow.number});
        if (flow.to == rank)
            peers.incoming.insert({flow.from, first_background_lane + flow.number});
    }
}

std::map<std::uint32_t, SocketSettings> background_sockets(const std::vector<BackgroundEntry>& background,
                                                           const std::vector<BackgroundFlow>& flows) {
    std::map<std::uint32_t, SocketSettings> sockets;
    for (const BackgroundFlow& flow : flows)
        sockets[first_background_lane + flow.number] = background.at(flow.entry).sockets;
    return sockets;
}

BackgroundTraffic::BackgroundTraffic(const Profile& profile, int rank, Connections connections,
                                     const std::vector<Endpoint>& endpoints)
    : profile_(profile), rank_(rank), endpoints_(endpoints), buffer_(hot_buffer_bytes, std::byte{0x55}) {
    const std::vector<BackgroundFlow> flows =
        background_flows(profile.background, static_cast<int>(endpoints.size()));
    most_times_ = most_message_times / std::max<std::size_t>(1, flows.size());
    for (const BackgroundFlow& flow : flows)
        open(flow, connections);
}

BackgroundTraffic::~BackgroundTraffic() {
    context_.stop();
}

void BackgroundTraffic::open(const BackgroundFlow& flow, Connections& connections) {
    const auto take = [&](int peer, std::map<PeerLane, tcp::socket>& from, std::list<Flow>& to) -> Flow& {
        tcp::socket socket = moved_to(context_, from.at({peer, first_background_lane + flow.number}));
        socket.non_blocking(true);
        to.push_back({flow,
                      FlowMessages(profile_.background.at(flow.entry), flow, profile_.run.seed,
                                   static_cast<int>(endpoints_.size())),
                      std::move(socket),
                      asio::steady_timer(context_),
                      peer,
                      {}});
        to.back().end.flow = flow.number;
        return to.back();
    };
    if (flow.from == rank_) {
        Flow& opened = take(flow.to, connections.outgoing, outgoing_);
        opened.end.sockets = socket_state(opened.socket.native_handle(), -1);
    }
    if (flow.to == rank_) {
        Flow& opened = take(flow.from, connections.incoming, incoming_);
        opened.end.sockets = socket_state(-1, opened.socket.native_handle());
    }
}

void BackgroundTraffic::start(Clock::time_point start) {
    start_ = start;
    const auto spawn = [this](awaitable<void> activity) {
        asio::co_spawn(context_, std::move(activity), [](std::exception_ptr error) {
            if (error)
                std::rethrow_exception(error);
        });
    };
    for (Flow& flow : outgoing_)
        spawn(send(flow));
    for (Flow& flow : incoming_)
        spawn(receive(flow));
    const collectors::SignalsBlocked blocked; // they are for the thread that brings the run to its end
    thread_ = std::jthread([this] {
        try {
            context_.run();
        } catch (const std::exception& error) { // out of memory: the collectives may still go on
            collectors::print_safely(stderr, "gradburst: rank {}: no more background traffic: {}\n", rank_,
                                     error.what());
        }
        idle_ = true;
    });
}

void BackgroundTraffic::stop_sending() {
    if (ended_)
        return;
    ended_ = Clock::now();
    asio::post(context_, [this] {
        ending_ = true;
        for (Flow& flow : outgoing_) {
            std::error_code ignored;
            flow.timer.cancel();
            flow.socket.cancel(ignored);
        }
    });
}

BackgroundReport BackgroundTraffic::end(std::chrono::nanoseconds patience,
                                        const std::function<bool()>& go_on) {
    stop_sending();
    const auto until = Clock::now() + patience;
    while (!idle_ && Clock::now() < until && go_on())
        std::this_thread::sleep_for(look_around);
    context_.stop();
    if (thread_.joinable())
        thread_.join();
    BackgroundReport report;
    report.ended_ns = std::chrono::nanoseconds(*ended_ - start_).count();
    const auto keep = [](std::list<Flow>& flows, std::vector<FlowEnd>& ends) {
        for (Flow& flow : flows)
            ends.push_back(std::move(flow.end));
    };
    keep(outgoing_, report.sent);
    keep(incoming_, report.received);
    return report;
}

void BackgroundTraffic::note(Flow& flow, Clock::time_point moment) const {
    if (flow.end.times_ns.size() < most_times_)
        flow.end.times_ns.push_back(std::chrono::nanoseconds(moment - start_).count());
}

void BackgroundTraffic::lose(Flow& flow, std::string_view what) {
    const Endpoint& peer = endpoints_.at(static_cast<std::size_t>(flow.peer));
    flow.end.error = fmt::format("{}: {}", what, last_error());
    if (!ending_)
        collectors::print_safely(stderr, "gradburst: rank {}: background flow \"{}\" {} lost: {}\n", rank_,
                                 profile_.background.at(flow.of.entry).name,
                                 flow.of.from == rank_ ? "to" : "from", peer.text(), flow.end.error);
}

awaitable<void> BackgroundTraffic::send(Flow& flow) {
    std::error_code error;
    while (!ending_) {
        const BackgroundMessage message = flow.messages.next();
        if (start_ + message.due > Clock::now()) {
            flow.timer.expires_at(start_ + message.due);
            co_await flow.timer.async_wait(asio::redirect_error(use_awaitable, error));
        }
        if (ending_)
            break;
        note(flow, Clock::now());
        if (!co_await send_message(flow, message.bytes))
            break;
        ++flow.end.messages;
    }
    flow.socket.shutdown(tcp::socket::shutdown_send, error); // the peer reads what is left, then the end
}

/// False: cut, because the run ends or the connection is lost.
awaitable<bool> BackgroundTraffic::send_message(Flow& flow, std::uint64_t bytes) {
    std::error_code error;
    int moves = 0;
    for (std::uint64_t left = bytes; left > 0;) {
        if (++moves % moves_before_others == 0)
            co_await asio::post(use_awaitable);
        if (ending_)
            co_return false;
        const ssize_t moved = ::send(flow.socket.native_handle(), buffer_.data(),
                                     static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer_.size())),
                                     MSG_NOSIGNAL | MSG_DONTWAIT);
        if (moved > 0) {
            left -= static_cast<std::uint64_t>(moved);
            flow.end.bytes += static_cast<std::uint64_t>(moved);
        } else if (errno == EAGAIN || errno == EINTR) {
            co_await flow.socket.async_wait(tcp::socket::wait_write,
                                            asio::redirect_error(use_awaitable, error));
        } else {
            lose(flow, "send");
            co_return false;
        }
    }
    co_return true;
}

awaitable<void> BackgroundTraffic::receive(Flow& flow) {
    const int descriptor = flow.socket.native_handle();
    std::uint64_t left = flow.messages.next().bytes; // of the message under way
    int mark = 1;
    std::error_code error;
    for (int moves = 0;;) {
        if (++moves % moves_before_others == 0)
            co_await asio::post(use_awaitable);
        const std::ptrdiff_t moved = discard_bytes(descriptor, background_low_water_mark);
        if (moved == 0)
            co_return;
        if (moved < 0 && errno != EAGAIN && errno != EINTR) {
            lose(flow, "receive");
            co_return;
        }
        if (moved > 0) {
            const auto now = Clock::now();
            auto read = static_cast<std::uint64_t>(moved);
            flow.end.bytes += read;
            for (; read >= left; left = flow.messages.next().bytes) {
                read -= left;
                note(flow, now);
                ++flow.end.messages;
            }
            left -= read;
            continue;
        }
        // The kernel wakes this thread once per message, or per MiB of a large one, not once per packet.
        const auto wanted = static_cast<int>(std::min(left, background_low_water_mark));
        if (wanted != mark && ::setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, &wanted, sizeof wanted) == 0)
            mark = wanted;
        co_await flow.socket.async_wait(tcp::socket::wait_read, asio::redirect_error(use_awaitable, error));
    }
}

} // namespace generator
