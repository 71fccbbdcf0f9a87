#include "generator/socket_settings.hpp"
#include "generator/transport.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <arpa/inet.h>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <map>
#include <net/if.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <vector>

using namespace generator;
using tests::contains;
using tests::message_of;

namespace {

using asio::ip::tcp;

/// A connection whose ends were set up as the transport does.
struct Pair {
    asio::io_context context;
    Listener listener;
    tcp::socket sending;
    tcp::socket receiving;

    Pair(const std::string& address, const SocketSettings& settings)
        : listener(context, address, PortRange{}, settings), sending(context), receiving(context) {
        const tcp::endpoint target(asio::ip::make_address(address), listener.port());
        sending.open(target.protocol());
        apply(settings, sending.native_handle());
        sending.connect(target);
        receiving = listener.acceptor().accept();
    }
    SocketState state() { return socket_state(sending.native_handle(), receiving.native_handle()); }
};

const std::vector<std::string> addresses{"127.0.0.1", "::1", "::ffff:127.0.0.1"};

bool has_ipv6() {
    asio::io_context context;
    std::error_code error;
    tcp::acceptor acceptor(context);
    acceptor.open(tcp::v6(), error);
    if (!error)
        acceptor.bind(tcp::endpoint(asio::ip::make_address("::1"), 0), error);
    return !error;
}

/// Sees every packet of lo; -1 without the right to.
int packet_socket() {
    const int descriptor = ::socket(AF_PACKET, SOCK_DGRAM, htons(ETH_P_ALL));
    if (descriptor < 0)
        return -1;
    sockaddr_ll place{};
    place.sll_family = AF_PACKET;
    place.sll_protocol = htons(ETH_P_ALL);
    place.sll_ifindex = static_cast<int>(::if_nametoindex("lo"));
    const timeval limit{0, 200'000};
    ::setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    if (::bind(descriptor, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0)
        return descriptor;
    ::close(descriptor);
    return -1;
}

/// DSCP -> packets with payload that came from `port`, until it is quiet; and the version of IP that they
/// had.
std::map<std::pair<int, int>, int> seen_dscp(int descriptor, std::uint16_t port) {
    std::map<std::pair<int, int>, int> seen;
    std::vector<unsigned char> packet(65536);
    for (;;) {
        const ssize_t length = ::recv(descriptor, packet.data(), packet.size(), 0);
        if (length < 0)
            return seen;
        const int version = packet[0] >> 4;
        const std::size_t header = version == 4 ? 4u * (packet[0] & 15u) : 40u;
        if (static_cast<std::size_t>(length) < header + 20)
            continue;
        const int source = packet[header] << 8 | packet[header + 1];
        const std::size_t tcp_header = 4u * (packet[header + 12] >> 4u);
        if (source != port || static_cast<std::size_t>(length) <= header + tcp_header)
            continue;
        const int traffic_class = version == 4 ? packet[1] : (packet[0] & 15) << 4 | packet[1] >> 4;
        ++seen[{version, traffic_class >> 2}];
    }
}

} // namespace

TEST_CASE("what is asked of a socket is read back from the kernel", "[sockets]") {
    SocketSettings settings;
    settings.congestion_control = "reno";
    settings.dscp = 46;
    settings.pacing_rate = BitRate{80'000'000};
    settings.send_buffer_bytes = 65'536;
    settings.receive_buffer_bytes = 32'768;
    settings.no_delay = false;
    for (const std::string& address : addresses) {
        if (address != "127.0.0.1" && !has_ipv6())
            continue;
        Pair pair(address, settings);
        const SocketState state = pair.state();
        CHECK(state == SocketState{"reno", 46, BitRate{80'000'000}, 131'072, 65'536, false});
        CHECK(socket_state(pair.receiving.native_handle(), -1).dscp == 46); // of the acknowledgements
        CHECK(socket_warnings({{state, {0}}}, settings).empty());
        CHECK(socket_text({{state, {0}}}, settings) ==
              "DSCP 46, paced at 80 Mbit/s, send buffer 65.54 kB, receive buffer 32.77 kB, TCP_NODELAY off");
    }
}

TEST_CASE("what is not asked for is left to the kernel", "[sockets]") {
    Pair pair("127.0.0.1", {});
    const SocketState state = pair.state();
    CHECK(state.dscp == 0);
    CHECK_FALSE(state.pacing_rate);
    CHECK(state.no_delay);
    CHECK(socket_text({{state, {0}}}, {}).empty());
}

TEST_CASE("packets carry the DSCP: IPv4, IPv6, and IPv4 addresses mapped into IPv6", "[sockets]") {
    const int packets = packet_socket();
    if (packets < 0) {
        WARN("skipped: no right to see packets");
        return;
    }
    SocketSettings settings;
    settings.dscp = 26;
    for (const std::string& address : addresses) {
        if (address != "127.0.0.1" && !has_ipv6())
            continue;
        Pair pair(address, settings);
        pair.sending.send(asio::buffer("payload", 7));
        const auto seen = seen_dscp(packets, pair.sending.local_endpoint().port());
        REQUIRE(seen.size() == 1);
        CHECK(seen.begin()->first == std::pair{address == "::1" ? 6 : 4, 26});
    }
    ::close(packets);
}

TEST_CASE("a congestion control that is not there: what this kernel has, and what was meant", "[sockets]") {
    asio::io_context context;
    SocketSettings settings;
    settings.congestion_control = "cubci";
    const std::string message =
        message_of<UserError>([&] { Listener(context, "127.0.0.1", PortRange{}, settings); });
    CHECK(contains(message, R"(congestion control "cubci" cannot be set: )"));
    CHECK(contains(message, "this kernel has: "));
    CHECK(contains(message, "cubic"));
    CHECK(contains(message, R"(did you mean "cubic"?)"));
}

TEST_CASE("ranks in the same state are one line, and what is not as asked is told", "[sockets]") {
    SocketSettings asked;
    asked.send_buffer_bytes = 1'000'000;
    asked.dscp = 10;
    std::vector<SocketUse> uses;
    add_use(uses, 0, {"bbr", 10, {}, 2'000'000, 777, true}, asked);
    add_use(uses, 1, {"cubic", 0, {}, 425'984, 888, true}, asked);
    add_use(uses, 2, {"bbr", 10, {}, 2'000'000, 999, true}, asked);
    add_use(uses, 3, {}, asked); // sends nothing
    REQUIRE(uses.size() == 2);
    CHECK(uses[0].ranks == std::vector{0, 2});
    CHECK(congestion_controls(uses) == "bbr, cubic");
    const std::vector<std::string> warnings = socket_warnings(uses, asked);
    REQUIRE(warnings.size() == 3);
    CHECK(warnings[0] == "DSCP NOT AS ASKED on rank 1: 0 instead of 10");
    CHECK(warnings[1] ==
          "SEND BUFFER NOT AS ASKED on rank 1: 213 kB instead of 1 MB (net.core.wmem_max of the host)");
    CHECK(contains(warnings[2], "HOSTS DIFFER IN CONGESTION CONTROL: bbr, cubic"));
}
