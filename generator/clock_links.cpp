#include "generator/clock_links.hpp"

#include "collectors/monotonic_clock.hpp"
#include "collectors/signals_blocked.hpp"

#include <cerrno>
#include <endian.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <system_error>

namespace generator {
namespace {

using collectors::clock_ns;
using collectors::FileDescriptor;

constexpr int round_trips = 64;
constexpr std::chrono::nanoseconds longest_per_host = std::chrono::milliseconds(100);
constexpr timeval longest_answer{0, 100'000};

/// Takes the connection from Asio: it is waited on in recv, which wakes sooner than a reactor.
FileDescriptor blocking(asio::ip::tcp::socket& socket) {
    FileDescriptor descriptor(socket.release());
    const int flags = ::fcntl(descriptor.number(), F_GETFL);
    if (flags < 0 || ::fcntl(descriptor.number(), F_SETFL, flags & ~O_NONBLOCK) != 0)
        throw std::system_error(errno, std::generic_category(), "prepare a connection for clocks");
    return descriptor;
}

/// A question is one byte, its answer the clock as 8 bytes, little endian.
std::optional<ClockRoundTrip> ask(int socket) {
    const char question = 0;
    std::uint64_t answer = 0;
    ClockRoundTrip trip;
    trip.sent_ns = clock_ns();
    if (::send(socket, &question, sizeof question, MSG_NOSIGNAL) != sizeof question ||
        ::recv(socket, &answer, sizeof answer, MSG_WAITALL) != sizeof answer)
        return std::nullopt;
    trip.received_ns = clock_ns();
    trip.remote_ns = static_cast<std::int64_t>(le64toh(answer));
    return trip;
}

/// Until the other side closes the connection.
void answer_all(int socket) {
    char question = 0;
    while (::recv(socket, &question, sizeof question, 0) == sizeof question) {
        const std::uint64_t answer = htole64(static_cast<std::uint64_t>(clock_ns()));
        if (::send(socket, &answer, sizeof answer, MSG_NOSIGNAL) != sizeof answer)
            return;
    }
}

Peers peers_of(int self, const std::vector<int>& answering) {
    Peers peers;
    if (self != 0)
        peers.outgoing.insert({0, 0});
    else
        for (const int rank : answering)
            peers.incoming.insert({rank, 0});
    return peers;
}

} // namespace

ClockLinks::ClockLinks(int self, const std::vector<int>& answering, const std::vector<Endpoint>& endpoints,
                       const ConnectSettings& settings) {
    asio::io_context context(1);
    const Endpoint& own = endpoints.at(static_cast<std::size_t>(self));
    Connections connections = connect_peers(context, Listener(context, own.address, {own.port, own.port}, {}),
                                            self, endpoints, peers_of(self, answering), settings);
    for (auto& [place, socket] : connections.incoming)
        asked_.emplace(place.peer, blocking(socket));
    for (auto& [place, socket] : connections.outgoing)
        answered_ = blocking(socket);
    for (const auto& [rank, socket] : asked_)
        if (::setsockopt(socket.number(), SOL_SOCKET, SO_RCVTIMEO, &longest_answer, sizeof longest_answer) !=
            0)
            throw std::system_error(errno, std::generic_category(), "limit the wait for a clock");
    if (answered_.is_open()) {
        const collectors::SignalsBlocked inherited;
        answering_ = std::jthread([socket = answered_.number()] { answer_all(socket); });
    }
}

ClockLinks::~ClockLinks() {
    if (answered_.is_open())
        ::shutdown(answered_.number(), SHUT_RDWR); // wakes the thread
}

std::map<int, ClockOffset> ClockLinks::measure(const std::function<bool()>& go_on) {
    std::map<int, ClockOffset> offsets;
    for (auto& [rank, socket] : asked_) {
        if (!go_on())
            break;
        std::vector<ClockRoundTrip> trips;
        const std::int64_t until_ns = clock_ns() + longest_per_host.count();
        while (socket.is_open() && trips.size() < round_trips && clock_ns() < until_ns) {
            if (const std::optional<ClockRoundTrip> trip = ask(socket.number()))
                trips.push_back(*trip);
            else
                socket = FileDescriptor(); // a late answer would be taken for the next one
        }
        if (const std::optional<ClockOffset> offset = clock_offset(trips))
            offsets.emplace(rank, *offset);
    }
    return offsets;
}

} // namespace generator
