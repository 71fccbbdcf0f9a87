#include "generator/lifelines.hpp"
#include "tests/catch.hpp"

#include <csignal>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;

namespace {

using Jobs = std::vector<std::vector<int>>;

/// The lifelines of four ranks, each of which does its part in a thread.
std::vector<std::set<int>> lives(StopRequest& stop,
                                 const std::function<std::set<int>(int rank, Lifelines&)>& part) {
    std::vector<std::unique_ptr<Lifelines>> lifelines;
    std::vector<Listener> listeners;
    std::vector<Endpoint> endpoints;
    for (int rank = 0; rank < 4; ++rank) {
        lifelines.push_back(std::make_unique<Lifelines>(rank, stop));
        listeners.emplace_back(lifelines.back()->context(), "127.0.0.1", PortRange{}, SocketSettings{});
        endpoints.push_back({rank, "localhost", "lo", "127.0.0.1", listeners.back().port()});
    }
    ConnectSettings settings;
    settings.token = random_token();
    std::vector<std::set<int>> results(4);
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < 4; ++rank)
        ranks.emplace_back([&, rank] {
            auto& own = lifelines[static_cast<std::size_t>(rank)];
            own->start(connect_peers(own->context(), std::move(listeners[static_cast<std::size_t>(rank)]),
                                     rank, endpoints, Lifelines::peers(rank, 4), settings));
            results[static_cast<std::size_t>(rank)] = part(rank, *own);
            own.reset();
        });
    ranks.clear();
    return results;
}

} // namespace

TEST_CASE("nobody goes on before the last job has ended", "[lifelines]") {
    StopRequest stop;
    std::atomic<int> ended{0};
    std::atomic<bool> too_early{false};
    const auto silent = lives(stop, [&](int rank, Lifelines& lifelines) {
        std::this_thread::sleep_for(rank * 50ms);
        ++ended;
        const auto result = lifelines.wait_for_all(true, {{0, 1}, {2, 3}}, 1s);
        too_early = too_early || ended < 4;
        return result;
    });
    CHECK_FALSE(too_early);
    CHECK(silent[0].empty());
}

TEST_CASE("a rank that is gone is not waited for, whichever job it was of", "[lifelines]") {
    StopRequest stop;
    const auto started = std::chrono::steady_clock::now();
    const auto silent = lives(stop, [&](int rank, Lifelines& lifelines) {
        return rank == 2 ? std::set<int>{} : lifelines.wait_for_all(rank != 3, {{0, 1}, {2, 3}}, 1s);
    });
    CHECK(silent[0] == std::set{2});
    CHECK(std::chrono::steady_clock::now() - started < 8s);
}

TEST_CASE("without rank 0 the others do not wait", "[lifelines]") {
    StopRequest stop;
    const auto started = std::chrono::steady_clock::now();
    const auto silent = lives(stop, [&](int rank, Lifelines& lifelines) {
        return rank == 0 ? std::set<int>{} : lifelines.wait_for_all(true, {{0, 1}, {2, 3}}, 1s);
    });
    CHECK(silent[1].contains(0));
    CHECK(std::chrono::steady_clock::now() - started < 8s);
}
