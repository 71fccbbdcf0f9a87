// The engine on sockets and the fluid model execute the same schedule: starts in the same order.
#include "generator/fluid_model.hpp"
#include "generator/joined_plans.hpp"
#include "tests/catch.hpp"
#include "tests/loopback_job.hpp"
#include "tests/workloads.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

using namespace generator;
using namespace std::chrono_literals;
using tests::bucket;

namespace {

constexpr int four_ranks = 4;

/// Several queues of several groups, blocking buckets, sends, and launches that come while a queue is busy.
Workload mixed_workload(std::uint32_t in_flight) {
    Workload workload;
    workload.compute = 800ms;
    workload.collective.in_flight = in_flight;
    workload.groups = {
        {"all", {}}, {"pairs", {{0, 1}, {3, 2}}}, {"there", {{0, 2}, {1, 3}}}, {"back", {{2, 0}, {3, 1}}}};
    workload.later_iterations = {bucket(Collective::all_gather, 200'000, 40ms, 80ms, 1),
                                 bucket(Collective::send, 100'000, 120ms, 160ms, 2),
                                 bucket(Collective::all_reduce, 400'000, 200ms, 720ms),
                                 bucket(Collective::all_reduce, 400'000, 280ms, 720ms),
                                 bucket(Collective::reduce_scatter, 200'000, 360ms, 400ms, 1),
                                 bucket(Collective::send, 100'000, 440ms, 480ms, 3),
                                 bucket(Collective::all_to_all, 400'000, 520ms, 720ms),
                                 bucket(Collective::broadcast, 100'000, 600ms, 720ms)};
    workload.first_iteration = workload.later_iterations;
    return workload;
}

/// Bucket numbers of one iteration by start, per rank.
using Order = std::vector<std::vector<std::uint32_t>>;

Order order_in_fluid(const Profile& profile, const Workload& workload) {
    JoinedPlans plans(workload, four_ranks, profile.collective.segment_bytes);
    Order order(four_ranks);
    FluidJob job;
    job.topology.hosts.resize(four_ranks);
    std::iota(job.topology.hosts.begin(), job.topology.hosts.end(), 0);
    job.topology.bytes_per_second = 1e9;
    job.latency = 30e-6;
    job.schedule = [&](int rank, std::uint32_t iteration) {
        return iteration_schedule(profile, workload, rank, iteration);
    };
    job.plan = [&](const BucketKind& kind) -> const TransferPlan& { return plans.find(kind); };
    job.on_start = [&](int rank, std::uint32_t, std::uint32_t number, double) {
        order[static_cast<std::size_t>(rank)].push_back(number);
    };
    FluidModel model(job);
    model.run_to_end_of(0);
    return order;
}

Order order_on_sockets(const Profile& profile, const Workload& workload) {
    Order order;
    for (const tests::RankResult& result :
         tests::run_job(profile, workload,
                        {.world_size = four_ranks, .iterations = 1, .adjust = {}, .before_connect = {}})) {
        REQUIRE(result.error == "");
        std::vector<std::pair<std::int64_t, std::uint32_t>> starts;
        for (const BucketRecord& record : result.timeline.buckets)
            starts.emplace_back(record.start_ns, record.bucket);
        std::sort(starts.begin(), starts.end());
        order.emplace_back();
        for (const auto& [time, number] : starts)
            order.back().push_back(number);
    }
    return order;
}

} // namespace

TEST_CASE("the engine and the fluid model start buckets in the same order", "[engine][fluid]") {
    const Workload workload = mixed_workload(GENERATE(1u, 2u));
    Profile profile;
    const Order predicted = order_in_fluid(profile, workload);
    // Rank 1 sends to 3 and receives from it; its launches are 40 ms apart at least, so that a busy machine
    // does not mix them.
    CHECK(predicted[1] == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7});
    CHECK(order_on_sockets(profile, workload) == predicted);
}

TEST_CASE("a rank that computes longer shifts the others alike in the engine and the fluid model",
          "[engine][fluid]") {
    const Workload workload = mixed_workload(2);
    Profile profile;
    profile.stragglers.push_back({.ranks = {2}, .factor = 1.4});
    CHECK(order_on_sockets(profile, workload) == order_in_fluid(profile, workload));
}
