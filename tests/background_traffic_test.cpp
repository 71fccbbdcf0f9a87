#include "generator/background_traffic.hpp"
#include "tests/catch.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <memory>
#include <thread>

using namespace generator;
using namespace std::chrono_literals;

namespace {

/// Background traffic of some ranks on loopback, each in a thread while they connect.
struct LoopbackBackground {
    LoopbackBackground(Profile given, int world_size) : profile(std::move(given)) {
        const auto world = static_cast<std::size_t>(world_size);
        const auto flows = background_flows(profile.background, world_size);
        std::vector<Listener> listeners;
        for (std::size_t rank = 0; rank < world; ++rank) {
            contexts.push_back(std::make_unique<asio::io_context>(1));
            listeners.emplace_back(*contexts.back(), "127.0.0.1", PortRange{}, SocketSettings{});
            endpoints.push_back(
                {static_cast<int>(rank), "localhost", "lo", "127.0.0.1", listeners.back().port()});
        }
        ConnectSettings connect;
        connect.token = random_token();
        connect.lane_sockets = background_sockets(profile.background, flows);
        connections.resize(world);
        std::vector<std::jthread> threads;
        for (std::size_t rank = 0; rank < world; ++rank)
            threads.emplace_back([&, rank] {
                Peers peers;
                add_background_peers(peers, flows, static_cast<int>(rank));
                connections[rank] = connect_peers(*contexts[rank], std::move(listeners[rank]),
                                                  static_cast<int>(rank), endpoints, peers, connect);
            });
    }

    void start() {
        for (std::size_t rank = 0; rank < endpoints.size(); ++rank)
            ranks.push_back(std::make_unique<BackgroundTraffic>(profile, static_cast<int>(rank),
                                                                std::move(connections[rank]), endpoints));
        const auto begin = std::chrono::steady_clock::now() + 10ms;
        for (const auto& rank : ranks)
            rank->start(begin);
    }

    std::vector<BackgroundReport> end() {
        for (const auto& rank : ranks)
            rank->stop_sending();
        std::vector<BackgroundReport> reports;
        for (const auto& rank : ranks)
            reports.push_back(rank->end(20s, [] { return true; }));
        return reports;
    }

    Profile profile;
    std::vector<std::unique_ptr<asio::io_context>> contexts;
    std::vector<Endpoint> endpoints;
    std::vector<Connections> connections;
    std::vector<std::unique_ptr<BackgroundTraffic>> ranks;
};

BackgroundEntry entry_of(const char* name, BackgroundPattern pattern, std::uint64_t bits_per_second,
                         MessageSizes sizes) {
    BackgroundEntry entry;
    entry.name = name;
    entry.pattern = pattern;
    entry.rate = BitRate{bits_per_second};
    entry.sizes = std::move(sizes);
    return entry;
}

const FlowEnd& of_flow(const std::vector<FlowEnd>& ends, std::uint32_t flow) {
    return *std::find_if(ends.begin(), ends.end(), [&](const FlowEnd& each) { return each.flow == flow; });
}

} // namespace

TEST_CASE("both ends of each flow count the same bytes and messages", "[background]") {
    Profile profile;
    profile.background = {
        entry_of("even", BackgroundPattern::constant, 80'000'000, fixed_size(10'000)),
        entry_of("tail", BackgroundPattern::poisson, 40'000'000, pareto_sizes(20'000, 1.3, 1e7)),
        entry_of("query", BackgroundPattern::incast, 0, fixed_size(30'000))};
    profile.background[2].queries_per_second = 100;
    LoopbackBackground job(profile, 3);
    job.start();
    std::this_thread::sleep_for(300ms);
    const std::vector<BackgroundReport> reports = job.end();
    for (const BackgroundFlow& flow : background_flows(profile.background, 3)) {
        const BackgroundReport& sender = reports[static_cast<std::size_t>(flow.from)];
        const FlowEnd& sent = of_flow(sender.sent, flow.number);
        const FlowEnd& received = of_flow(reports[static_cast<std::size_t>(flow.to)].received, flow.number);
        CHECK(sent.error.empty());
        CHECK(received.error.empty());
        CHECK(sent.bytes == received.bytes);
        CHECK(sent.messages == received.messages);
        CHECK(received.times_ns.size() == received.messages);
        // Never more than what fell due, never before it.
        const FlowMessages sequence(profile.background[flow.entry], flow, profile.run.seed, 3);
        const OfferedTraffic due = offered(sequence, nanoseconds(sender.ended_ns));
        CHECK(sent.messages <= due.messages);
        CHECK(sent.bytes <= due.bytes);
        FlowMessages messages = sequence;
        for (std::size_t i = 0; i < received.times_ns.size(); ++i) {
            const BackgroundMessage message = messages.next();
            REQUIRE(sent.times_ns[i] >= message.due.count());
            REQUIRE(received.times_ns[i] >= sent.times_ns[i]);
        }
    }
    // 10 MB/s over at least 0.29 s; a busy machine may take long to wake a thread, hence half of it.
    CHECK(of_flow(reports[0].sent, 0).bytes >= 1'450'000);
}

TEST_CASE("a flow that falls behind leaves nothing out and is cut at the end", "[background]") {
    Profile profile;
    profile.background = {
        entry_of("flood", BackgroundPattern::constant, 1'000'000'000'000, fixed_size(1'000'000'000))};
    profile.background[0].from = {0};
    profile.background[0].to = {1};
    LoopbackBackground job(profile, 2);
    job.start();
    std::this_thread::sleep_for(100ms);
    const std::vector<BackgroundReport> reports = job.end();
    const FlowEnd& sent = of_flow(reports[0].sent, 0);
    CHECK(sent.bytes > 0);
    CHECK(sent.bytes == of_flow(reports[1].received, 0).bytes); // the part of a message that was cut, too
    CHECK(sent.messages == sent.bytes / 1'000'000'000);
    CHECK(sent.times_ns.size() == sent.messages + (sent.bytes % 1'000'000'000 > 0 ? 1 : 0));
}

TEST_CASE("a connection that is lost ends its flow alone", "[background]") {
    Profile profile;
    profile.background = {entry_of("even", BackgroundPattern::constant, 80'000'000, fixed_size(10'000))};
    profile.background[0].from = {0};
    LoopbackBackground job(profile, 3); // 0 to 1, 0 to 2
    {
        const linger at_once{1, 0};
        auto& lost = job.connections[1].incoming.begin()->second;
        ::setsockopt(lost.native_handle(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        Connections closed = std::move(job.connections[1]);
    }
    for (const std::size_t rank : {0u, 2u})
        job.ranks.push_back(std::make_unique<BackgroundTraffic>(
            profile, static_cast<int>(rank), std::move(job.connections[rank]), job.endpoints));
    for (const auto& rank : job.ranks)
        rank->start(std::chrono::steady_clock::now());
    std::this_thread::sleep_for(100ms);
    const std::vector<BackgroundReport> reports = job.end();
    CHECK_FALSE(of_flow(reports[0].sent, 0).error.empty());
    const FlowEnd& other = of_flow(reports[0].sent, 1);
    CHECK(other.error.empty());
    CHECK(other.bytes > 0);
    CHECK(other.bytes == of_flow(reports[1].received, 1).bytes);
}

TEST_CASE("each flow has the settings of its entry, as the kernel says", "[background]") {
    Profile profile;
    profile.background = {entry_of("marked", BackgroundPattern::constant, 1'000'000, fixed_size(1000)),
                          entry_of("plain", BackgroundPattern::constant, 1'000'000, fixed_size(1000))};
    for (BackgroundEntry& entry : profile.background) {
        entry.from = {0};
        entry.to = {1};
    }
    SocketSettings& asked = profile.background[0].sockets;
    asked.dscp = 10;
    asked.congestion_control = "reno";
    asked.pacing_rate = BitRate{8'000'000};
    asked.send_buffer_bytes = 20'000;
    asked.receive_buffer_bytes = 30'000;
    asked.no_delay = false;
    LoopbackBackground job(profile, 2);
    job.start();
    const std::vector<BackgroundReport> reports = job.end();
    const SocketState& marked = of_flow(reports[0].sent, 0).sockets;
    CHECK(marked.dscp == 10);
    CHECK(marked.congestion_control == "reno");
    CHECK(marked.pacing_rate == BitRate{8'000'000});
    CHECK(marked.send_buffer_bytes == 40'000);
    CHECK_FALSE(marked.no_delay);
    CHECK(of_flow(reports[1].received, 0).sockets.receive_buffer_bytes == 60'000);
    const SocketState& plain = of_flow(reports[0].sent, 1).sockets;
    CHECK(plain.dscp == 0);
    CHECK_FALSE(plain.pacing_rate);
    CHECK(plain.no_delay);
}
