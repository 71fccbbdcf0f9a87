#pragma once

#include "generator/engine.hpp"

#include <asio/io_context.hpp>

#include <functional>
#include <future>
#include <memory>
#include <string>
#include <thread>
#include <vector>

/// A whole job on loopback, its ranks as threads, without MPI.
namespace tests {

struct RankResult {
    generator::Timeline timeline;
    std::string error; ///< empty: the rank ended well
    std::uint64_t checked_elements = 0;
};

struct JobOptions {
    int world_size = 2;
    std::uint32_t iterations = 2;
    bool verify = true;
    /// Called by each rank before the engine runs; lets a test misbehave.
    std::function<void(int rank, generator::EngineSettings&)> adjust;
    /// Called with the listening ports before anybody connects.
    std::function<void(const std::vector<generator::Endpoint>&)> before_connect;
    int runs = 1;                                ///< one after the other, over the same connections
    std::chrono::milliseconds between_runs{400}; ///< from start to start
};

/// Runs the job; every rank listens on 127.0.0.1, port 0.
inline std::vector<RankResult> run_job(const generator::Profile& profile, const generator::Workload& workload,
                                       const JobOptions& options) {
    using namespace generator;
    const auto world = static_cast<std::size_t>(options.world_size);
    std::vector<std::unique_ptr<asio::io_context>> contexts;
    std::vector<Listener> listeners;
    std::vector<Endpoint> endpoints;
    for (std::size_t rank = 0; rank < world; ++rank) {
        contexts.push_back(std::make_unique<asio::io_context>(1));
        listeners.emplace_back(*contexts.back(), "127.0.0.1", PortRange{}, SocketSettings{});
        endpoints.push_back(
            {static_cast<int>(rank), "localhost", "lo", "127.0.0.1", listeners.back().port()});
    }
    if (options.before_connect)
        options.before_connect(endpoints);
    ConnectSettings connect;
    connect.token = random_token();
    connect.timeout = profile.network.connect_timeout;
    const auto start = std::chrono::steady_clock::now() + std::chrono::milliseconds(200);
    std::vector<RankResult> results(world);
    // Who is done keeps its connections until all are: a peer that leaves has failed.
    std::vector<std::unique_ptr<Payload>> payloads(world);
    std::vector<std::unique_ptr<Engine>> engines(world);
    {
        std::vector<std::jthread> ranks;
        for (std::size_t rank = 0; rank < world; ++rank)
            ranks.emplace_back([&, rank] {
                const int self = static_cast<int>(rank);
                try {
                    Connections connections =
                        connect_peers(*contexts[rank], std::move(listeners[rank]), self, endpoints,
                                      needed_peers(workload, self, options.world_size), connect);
                    payloads[rank] = options.verify ? verified_payload(self, options.world_size, workload)
                                                    : discarded_payload();
                    EngineSettings settings;
                    settings.rank = self;
                    settings.world_size = options.world_size;
                    settings.may_start = [&](std::uint32_t iteration) {
                        return iteration < options.iterations;
                    };
                    if (options.adjust)
                        options.adjust(self, settings);
                    engines[rank] =
                        std::make_unique<Engine>(*contexts[rank], profile, workload, std::move(connections),
                                                 endpoints, *payloads[rank], settings);
                    engines[rank]->run(start, results[rank].timeline);
                    for (int run = 1; run < options.runs; ++run) {
                        auto context = std::make_unique<asio::io_context>(1);
                        Connections same = moved_to(*context, engines[rank]->take_connections());
                        engines[rank].reset();
                        contexts[rank] = std::move(context);
                        engines[rank] =
                            std::make_unique<Engine>(*contexts[rank], profile, workload, std::move(same),
                                                     endpoints, *payloads[rank], settings);
                        results[rank].timeline = {};
                        engines[rank]->run(start + run * options.between_runs, results[rank].timeline);
                    }
                    results[rank].checked_elements = engines[rank]->checked_elements();
                } catch (const std::exception& error) {
                    engines[rank].reset();
                    results[rank].error = error.what();
                }
            });
    }
    return results;
}

} // namespace tests
