#include "generator/clock_links.hpp"

#include "catch.hpp"

#include <array>
#include <future>

using namespace generator;
using namespace std::chrono_literals;

namespace {

/// Endpoints of so many ranks on loopback. Their ports were free a moment ago.
std::vector<Endpoint> loopback_endpoints(int count) {
    asio::io_context context(1);
    std::vector<Listener> listeners;
    std::vector<Endpoint> endpoints;
    for (int rank = 0; rank < count; ++rank) {
        listeners.emplace_back(context, "127.0.0.1", PortRange{}, SocketSettings{});
        endpoints.push_back({rank, "localhost", "lo", "127.0.0.1", listeners.back().port()});
    }
    return endpoints;
}

ConnectSettings clock_settings() {
    ConnectSettings settings;
    settings.token = JobToken{std::byte{7}};
    settings.timeout = 10s;
    return settings;
}

/// Rank 0 and two that answer, all on this host and thus with the same clock.
struct Trio {
    Trio() {
        const auto open = [this](int rank) {
            return std::make_unique<ClockLinks>(rank, std::vector{1, 2}, endpoints, clock_settings());
        };
        auto second = std::async(std::launch::async, open, 1);
        auto third = std::async(std::launch::async, open, 2);
        links = {open(0), nullptr, nullptr};
        links[1] = second.get();
        links[2] = third.get();
    }

    std::vector<Endpoint> endpoints = loopback_endpoints(3);
    std::array<std::unique_ptr<ClockLinks>, 3> links;
};

} // namespace

TEST_CASE("clocks of one host differ by no more than the error that is stated", "[clocks]") {
    Trio trio;
    for (int measurement = 0; measurement < 2; ++measurement) {
        const std::map<int, ClockOffset> offsets = trio.links[0]->measure([] { return true; });
        REQUIRE(offsets.size() == 2);
        for (const auto& [rank, offset] : offsets) {
            CHECK(std::chrono::abs(offset.offset) <= offset.error);
            CHECK(offset.error > 0ns);
            CHECK(offset.error < 50ms); // of the quickest of many
        }
    }
}

TEST_CASE("a rank that has left is not waited for", "[clocks]") {
    Trio trio;
    trio.links[1].reset();
    const auto before = std::chrono::steady_clock::now();
    const std::map<int, ClockOffset> offsets = trio.links[0]->measure([] { return true; });
    CHECK(offsets.count(1) == 0);
    CHECK(offsets.count(2) == 1);
    CHECK(std::chrono::steady_clock::now() - before < 5s);
}

TEST_CASE("who is to stop asks nobody", "[clocks]") {
    Trio trio;
    CHECK(trio.links[0]->measure([] { return false; }).empty());
}

TEST_CASE("a rank that does not answer is given up", "[clocks]") {
    const std::vector<Endpoint> endpoints = loopback_endpoints(2);
    auto asking = std::async(std::launch::async, [&] {
        return std::make_unique<ClockLinks>(0, std::vector{1}, endpoints, clock_settings());
    });
    asio::io_context context(1);
    const Connections silent =
        connect_peers(context, Listener(context, "127.0.0.1", PortRange{}, SocketSettings{}), 1, endpoints,
                      {{{0, 0}}, {}}, clock_settings());
    const std::unique_ptr<ClockLinks> links = asking.get();
    const auto before = std::chrono::steady_clock::now();
    CHECK(links->measure([] { return true; }).empty());
    CHECK(links->measure([] { return true; }).empty());
    CHECK(std::chrono::steady_clock::now() - before < 5s);
}

TEST_CASE("whom the data network does not connect is named within the timeout", "[clocks]") {
    ConnectSettings settings = clock_settings();
    settings.timeout = 100ms;
    CHECK_THROWS_WITH(ClockLinks(0, {1}, loopback_endpoints(2), settings),
                      Catch::Contains("no connection from rank 1 on localhost"));
}
