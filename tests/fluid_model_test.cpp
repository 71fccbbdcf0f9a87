// Schedules in the fluid model: queues, waits, groups, sends, topologies. Plans alone: prediction_test.cpp.
#include "generator/failure.hpp"
#include "generator/fluid_model.hpp"
#include "generator/workload.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include "catch.hpp"
#include "workloads.hpp"

using namespace generator;
using namespace std::chrono_literals;
using tests::bucket;
using tests::megabyte;

namespace {

constexpr double gigabit = 125e6; // bytes per second: 8 ms for a megabyte

/// A workload in the fluid model; ranks may differ in their computing.
class Run {
public:
    Run(Workload workload, int world_size, std::map<int, double> slower = {})
        : workload_(std::move(workload)), world_size_(world_size), slower_(std::move(slower)) {
        job_.topology.hosts.resize(static_cast<std::size_t>(world_size));
        std::iota(job_.topology.hosts.begin(), job_.topology.hosts.end(), 0);
        job_.topology.bytes_per_second = gigabit;
    }

    Topology& topology() { return job_.topology; }

    std::vector<std::vector<IterationTimes>> iterations(std::uint32_t count = 1) {
        job_.iterations = count;
        job_.schedule = [this](int rank, std::uint32_t iteration) { return schedule(rank, iteration); };
        job_.plan = [this](const BucketKind& kind) -> const TransferPlan& { return plan(kind); };
        job_.on_start = [this](int rank, std::uint32_t, std::uint32_t bucket, double time) {
            starts[{rank, bucket}] = time;
        };
        FluidModel model(job_);
        model.run_to_end_of(count - 1);
        return model.iterations();
    }

    std::map<std::pair<int, std::uint32_t>, double> starts; ///< by rank and bucket, of the last iteration

private:
    IterationSchedule schedule(int rank, std::uint32_t iteration) {
        IterationSchedule schedule = iteration_schedule(Profile{}, workload_, rank, iteration);
        if (const auto slow = slower_.find(rank); slow != slower_.end()) {
            const auto longer = [&](nanoseconds& time) {
                time =
                    nanoseconds(static_cast<std::int64_t>(static_cast<double>(time.count()) * slow->second));
            };
            longer(schedule.compute);
            for (Bucket& bucket : schedule.buckets) {
                longer(bucket.ready_after);
                longer(bucket.needed_at);
            }
        }
        return schedule;
    }

    const TransferPlan& plan(const BucketKind& kind) {
        const auto [known, is_new] = plans_.try_emplace(kind);
        if (is_new) {
            std::vector<RankPlan> ranks;
            std::size_t participants = 0;
            for (int rank = 0; rank < world_size_; ++rank) {
                ranks.push_back(bucket_plan(workload_, kind, rank, world_size_));
                participants += workload_.groups[kind.group].takes_part(rank) ? 1u : 0u;
            }
            known->second = join_plans(ranks, std::nullopt);
            known->second.participants = participants;
        }
        return known->second;
    }

    Workload workload_;
    int world_size_;
    std::map<int, double> slower_;
    FluidJob job_;
    std::map<BucketKind, TransferPlan> plans_;
};

Workload workload_of(std::vector<WorkloadBucket> buckets, nanoseconds compute,
                     std::vector<Group> groups = {{"all", {}}}) {
    Workload workload;
    workload.first_iteration = workload.later_iterations = std::move(buckets);
    workload.compute = compute;
    workload.groups = std::move(groups);
    return workload;
}

constexpr auto all_reduce = Collective::all_reduce;
constexpr auto send = Collective::send;

} // namespace

TEST_CASE("in flight one by one, collectives follow each other; two at once share the line", "[fluid]") {
    // Two ranks: each all-reduce of 1 MB moves 1 MB in each direction: 8 ms alone.
    Workload workload =
        workload_of({bucket(all_reduce, megabyte, 1ms, 3ms), bucket(all_reduce, megabyte, 1ms, 3ms)}, 4ms);
    Run one(workload, 2);
    CHECK(one.iterations()[0][0].end == Approx(0.001 + 0.016 + 0.001)); // 1 ms after needed_at
    CHECK(one.starts[{0, 0}] == Approx(0.001));
    CHECK(one.starts[{0, 1}] == Approx(0.009));
    workload.collective.in_flight = 2;
    Run two(workload, 2);
    CHECK(two.iterations()[0][0].end == Approx(0.018)); // the line is what limits both
    CHECK(two.starts[{0, 1}] == Approx(0.001));
}

TEST_CASE("what follows a wait is due as much later as computing stood still", "[fluid]") {
    // The first is needed at 2 ms and complete at 9 ms: the second, planned for 5 ms, starts at 12 ms.
    const Workload workload =
        workload_of({bucket(all_reduce, megabyte, 1ms, 2ms), bucket(all_reduce, megabyte, 5ms, 6ms)}, 7ms);
    Run run(workload, 2);
    const IterationTimes times = run.iterations(2)[1][0];
    CHECK(times.start == Approx(0.021)); // 9 - 2 = 7 ms and 20 - 13 = 7 ms of stalls in 7 ms of computing
    CHECK(run.starts[{0, 0}] == Approx(0.021 + 0.001));
    CHECK(run.starts[{0, 1}] == Approx(0.021 + 0.012));
    CHECK(times.last_bucket_end == Approx(0.021 + 0.020));
    CHECK(times.end == Approx(0.042));
}

TEST_CASE("a bucket waits for the slowest rank, whoever else works on", "[fluid]") {
    const Workload workload = workload_of({bucket(all_reduce, megabyte, 10ms, 10ms)}, 10ms);
    Run run(workload, 3, {{2, 2.0}}); // rank 2 launches at 20 ms
    const auto times = run.iterations()[0];
    CHECK(run.starts[{0, 0}] == Approx(0.010));
    // Four steps of a third of 8 ms.
    for (const IterationTimes& rank : times)
        CHECK(rank.end == Approx(0.020 + 4 * 0.008 / 3));
}

TEST_CASE("groups have queues of their own, and only members take part", "[fluid]") {
    // Rank 2 is in no pair; the pair's bucket does not wait for the one of all, which waits for rank 2.
    const Workload workload =
        workload_of({bucket(all_reduce, megabyte, 1ms, 40ms), bucket(all_reduce, megabyte, 1ms, 2ms, 1)},
                    40ms, {{"all", {}}, {"pair", {{0, 1}}}});
    Run run(workload, 3, {{2, 20.0}}); // rank 2 comes at 20 ms
    run.iterations();
    CHECK(run.starts[{0, 0}] == Approx(0.001));
    CHECK(run.starts[{0, 1}] == Approx(0.001));
    CHECK_FALSE(run.starts.contains({2, 1}));
}

TEST_CASE("a pipeline fills and drains stage by stage", "[fluid]") {
    // 0 -> 1 -> 2: each sends 1 MB (8 ms) when its own computing has come so far; the receiver stands still.
    const Workload workload =
        workload_of({bucket(send, megabyte, 2ms, 3ms, 0), bucket(send, megabyte, 4ms, 5ms, 1)}, 6ms,
                    {{"0 to 1", {{0, 1}}}, {"1 to 2", {{1, 2}}}});
    Run run(workload, 3);
    const auto times = run.iterations()[0];
    // Rank 0 sends from 2 ms on, but rank 1 takes it when it needs it, at 3 ms, and has it at 11 ms: 8 ms
    // late. It sends on at 4 + 8 ms; rank 2 waits since 5 ms and has it at 20 ms.
    CHECK(run.starts[{0, 0}] == Approx(0.002));
    CHECK(run.starts[{1, 0}] == Approx(0.003));
    CHECK(run.starts[{1, 1}] == Approx(0.012));
    CHECK(times[2].last_bucket_end == Approx(0.020));
    CHECK(times[2].end == Approx(0.020 + 0.001));
}

TEST_CASE("ranks that wait for each other are told so, with buckets and ranks", "[fluid]") {
    // Rank 0 waits for its receive before it sends, and so does rank 1.
    const Workload workload = workload_of({bucket(send, 1000, 1ms, 2ms, 0), bucket(send, 1000, 1ms, 2ms, 1)},
                                          10ms, {{"there", {{0, 1}}}, {"back", {{1, 0}}}});
    FluidJob job;
    job.topology = {.hosts = {0, 1}, .bytes_per_second = gigabit};
    job.schedule = [&](int rank, std::uint32_t iteration) {
        IterationSchedule schedule = iteration_schedule(Profile{}, workload, rank, iteration);
        Bucket& sends = schedule.buckets[rank == 0 ? 0 : 1];
        sends.ready_after = sends.needed_at = 5ms;
        return schedule;
    };
    std::map<BucketKind, TransferPlan> plans;
    job.plan = [&](const BucketKind& kind) -> const TransferPlan& {
        const std::vector<RankPlan> ranks{bucket_plan(workload, kind, 0, 2),
                                          bucket_plan(workload, kind, 1, 2)};
        return plans.try_emplace(kind, join_plans(ranks, std::nullopt)).first->second;
    };
    FluidModel model(job);
    CHECK_THROWS_AS(model.run_to_end_of(0), UserError);
    CHECK_THROWS_WITH(FluidModel(job).run_to_end_of(0),
                      Catch::Contains("rank 0 waits for bucket 1 (send) in iteration 0, has started bucket 1 "
                                      "(send; rank 1 has not)") &&
                          Catch::Contains("rank 1 waits for bucket 0 (send)"));
}

TEST_CASE("a bucket that is needed before one ahead of it in its queue is launched is the user's mistake",
          "[fluid]") {
    Run run(workload_of({bucket(all_reduce, 1000, 5ms, 6ms), bucket(all_reduce, 1000, 1ms, 2ms)}, 7ms), 2);
    CHECK_THROWS_AS(run.iterations(), UserError);
    CHECK_THROWS_WITH(run.iterations(),
                      Catch::Contains("rank 0 waits for bucket 1 (all_reduce) in iteration 0, "
                                      "which comes after others in its queue"));
}

TEST_CASE("between leaves, streams share an uplink of hosts x rate / oversubscription", "[fluid]") {
    // Four hosts on two leaves; 0 -> 2 and 1 -> 3 cross the spine, 8 ms each at full rate.
    Workload workload =
        workload_of({bucket(send, megabyte, 0ms, 0ms, 0)}, 0ms, {{"across", {{0, 2}, {1, 3}}}});
    Run free(workload, 4);
    CHECK(free.iterations()[0][2].end == Approx(0.008));
    Run even(workload, 4);
    even.topology().hosts_per_leaf = 2;
    CHECK(even.iterations()[0][2].end == Approx(0.008)); // 2 x C for two streams
    Run scarce(workload, 4);
    scarce.topology().hosts_per_leaf = 2;
    scarce.topology().oversubscription = 4; // 2 C / 4 for both: a quarter of C each
    CHECK(scarce.iterations()[0][2].end == Approx(0.032));
    CHECK(scarce.iterations()[0][3].end == Approx(0.032));
    // Within a leaf nothing is scarce.
    workload.groups = {{"inside", {{0, 1}, {2, 3}}}};
    Run inside(workload, 4);
    inside.topology().hosts_per_leaf = 2;
    inside.topology().oversubscription = 4;
    CHECK(inside.iterations()[0][1].end == Approx(0.008));
}

TEST_CASE("what a full uplink leaves of a NIC goes to the streams within the leaf", "[fluid]") {
    // Rank 0 sends to 1 (same leaf) and to 2 (other leaf) at once; the uplink carries 2 C / 8 = C / 4.
    Workload workload =
        workload_of({bucket(send, megabyte, 0ms, 0ms, 0), bucket(send, megabyte, 0ms, 0ms, 1)}, 1ms,
                    {{"inside", {{0, 1}}}, {"across", {{0, 2}}}});
    Run run(workload, 4);
    run.topology().hosts_per_leaf = 2;
    run.topology().oversubscription = 8;
    const auto times = run.iterations()[0];
    CHECK(times[1].last_bucket_end == Approx(0.008 * 4 / 3)); // 3/4 of C
    CHECK(times[2].last_bucket_end == Approx(0.032));         // C / 4
}
