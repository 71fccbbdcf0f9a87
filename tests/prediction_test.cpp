#include "collectors/burstiness.hpp"
#include "generator/plan_forms.hpp"
#include "generator/prediction.hpp"

#include <array>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "catch.hpp"
#include "workloads.hpp"

using namespace generator;
using namespace std::chrono_literals;
using tests::megabyte;

namespace {

constexpr double line_bytes_per_second = 1e9;
constexpr BitRate line_rate{8'000'000'000};

LinkModel link_without_latency() {
    LinkModel link;
    link.line_rate = line_rate;
    link.step_latency = 0ns;
    return link;
}

Profile one_bucket(std::uint64_t bytes, nanoseconds compute) {
    Profile profile;
    profile.compute = {compute, 0ns, 0ns};
    profile.gradients.bucketing = Bucketing::explicit_list;
    profile.gradients.buckets = {{bytes, compute}};
    return profile;
}

Prediction predicted(const Profile& profile, int world_size, const LinkModel& link,
                     std::uint32_t iterations = 4) {
    return predict(profile, make_workload(profile, 1), world_size, link, iterations);
}

/// Seconds that one collective of these plans takes.
double duration(const std::vector<RankPlan>& plans, double latency = 0,
                std::optional<std::uint64_t> segment_bytes = std::nullopt) {
    const TransferPlan joined = join_plans(plans, segment_bytes);
    FluidJob job;
    job.topology.hosts.resize(plans.size());
    std::iota(job.topology.hosts.begin(), job.topology.hosts.end(), 0);
    job.topology.bytes_per_second = line_bytes_per_second;
    job.latency = latency;
    job.schedule = [](int, std::uint32_t) {
        IterationSchedule schedule;
        schedule.buckets.push_back({{.bytes = megabyte}, 0, 0, 0ns, 0ns});
        return schedule;
    };
    job.plan = [&](const BucketKind&) -> const TransferPlan& { return joined; };
    FluidModel model(job);
    model.run_to_end_of(0);
    double end = 0;
    for (const IterationTimes& times : model.iterations()[0])
        end = std::max(end, times.end);
    return end;
}

std::vector<RankPlan> ring(int world_size, std::uint64_t bytes) {
    std::vector<RankPlan> plans;
    for (int rank = 0; rank < world_size; ++rank)
        plans.push_back(ring_all_reduce(rank, world_size, bytes, 4));
    return plans;
}

using Kind = Operation::Kind;

Operation transfer(Kind kind, int peer, std::uint64_t bytes = megabyte) {
    return {.kind = kind, .peer = peer, .range = {0, bytes}, .after = {}, .behind = {}};
}

} // namespace

TEST_CASE("a ring without pipelining takes 2(N-1) steps of chunk time and latency", "[prediction]") {
    for (const int n : {2, 3, 4, 7, 16})
        CHECK(duration(ring(n, static_cast<std::uint64_t>(n) * megabyte), 30e-6) ==
              Approx(2 * (n - 1) * (1e-3 + 30e-6)).epsilon(1e-9));
}

TEST_CASE("pipelining hides latency, but nothing is faster than the line", "[prediction]") {
    for (const int n : {3, 4, 7, 16}) {
        const auto plans = ring(n, static_cast<std::uint64_t>(n) * megabyte);
        const double pipelined = duration(plans, 30e-6, 100'000);
        // 1 ms chunks, 0.1 ms segments: the last segment is there long before it is wanted, so that only the
        // end of the bucket waits for a latency.
        CHECK(pipelined == Approx(2 * (n - 1) * 1e-3 + 30e-6).epsilon(1e-9));
    }
    // Latency 10 times the chunk: each step waits for the last segment; a chunk of 1 ms in 4 segments follows
    // 0.25 ms + 10 ms behind its leader. The last one of 2(N-1) = 6 steps ends after 5 such waits, 1 ms and
    // 10 ms.
    CHECK(duration(ring(4, 4 * megabyte), 10e-3, megabyte) ==
          Approx(5 * 10.25e-3 + 11e-3).epsilon(1e-3)); // segments are multiples of 64 bytes
    CHECK(duration(ring(4, 4 * megabyte), 10e-3) == Approx(6 * 11e-3).epsilon(1e-9));
}

TEST_CASE("sends to one rank share what it can receive", "[prediction]") {
    for (const int n : {2, 3, 9}) {
        std::vector<RankPlan> plans(static_cast<std::size_t>(n));
        for (int rank = 1; rank < n; ++rank) {
            plans[static_cast<std::size_t>(rank)].operations = {transfer(Kind::send, 0)};
            plans[0].operations.push_back(transfer(Kind::receive_add, rank));
        }
        CHECK(duration(plans) == Approx((n - 1) * 1e-3).epsilon(1e-9)); // (N-1) S / C
    }
}

TEST_CASE("flows out of one rank share what it can send, max-min fairly", "[prediction]") {
    // Rank 0 sends 1 MB to rank 1 and 3 MB to rank 2: both at C/2 until 2 ms, then the second alone until 4
    // ms.
    std::vector<RankPlan> plans(3);
    plans[0].operations = {transfer(Kind::send, 1), transfer(Kind::send, 2, 3 * megabyte)};
    plans[1].operations = {transfer(Kind::receive_add, 0)};
    plans[2].operations = {transfer(Kind::receive_add, 0, 3 * megabyte)};
    CHECK(duration(plans) == Approx(4e-3).epsilon(1e-9));

    // Ranks 0, 1, 2 send 1 MB each to rank 3 (C/3 each); rank 0 also 2 MB to rank 4, which gets the rest,
    // 2C/3: all end at 3 ms.
    std::vector<RankPlan> five(5);
    five[0].operations = {transfer(Kind::send, 3), transfer(Kind::send, 4, 2 * megabyte)};
    five[1].operations = {transfer(Kind::send, 3)};
    five[2].operations = {transfer(Kind::send, 3)};
    five[3].operations = {transfer(Kind::receive_add, 0), transfer(Kind::receive_add, 1),
                          transfer(Kind::receive_add, 2)};
    five[4].operations = {transfer(Kind::receive_add, 0, 2 * megabyte)};
    CHECK(duration(five) == Approx(3e-3).epsilon(1e-9));
}

TEST_CASE("an operation waits for what it comes after, and sends to one peer are in order", "[prediction]") {
    // There, one latency, and back.
    std::vector<RankPlan> plans(2);
    plans[0].operations = {transfer(Kind::send, 1), transfer(Kind::receive_add, 1)};
    plans[1].operations = {transfer(Kind::receive_add, 0), transfer(Kind::send, 0)};
    plans[1].operations[1].after = {0};
    CHECK(duration(plans, 1e-3) == Approx(1e-3 + 1e-3 + 1e-3 + 1e-3).epsilon(1e-9));
    // Two sends on one connection do not share it: 2 ms, and they do not deadlock.
    std::vector<RankPlan> two(2);
    two[0].operations = {transfer(Kind::send, 1), transfer(Kind::send, 1)};
    two[1].operations = {transfer(Kind::receive_add, 0), transfer(Kind::receive_add, 0)};
    CHECK(duration(two) == Approx(2e-3).epsilon(1e-9));
}

TEST_CASE("plans that do not fit together are refused", "[prediction]") {
    std::vector<RankPlan> plans(2);
    plans[0].operations = {transfer(Kind::send, 1)};
    CHECK_THROWS_AS(duration(plans), std::logic_error); // nobody receives
    plans[1].operations = {transfer(Kind::receive_add, 0, 7)};
    CHECK_THROWS_AS(duration(plans), std::logic_error); // another size
    std::vector<RankPlan> circle(2);
    for (int rank : {0, 1}) {
        auto& operations = circle[static_cast<std::size_t>(rank)].operations;
        operations = {transfer(Kind::send, 1 - rank), transfer(Kind::receive_add, 1 - rank)};
        operations[0].after = {1};
    }
    CHECK_THROWS_AS(duration(circle), std::logic_error); // each waits for the other
}

TEST_CASE("one burst per iteration has PtM(tau) = T / max(tau, L)", "[prediction]") {
    // N = 2: each rank sends the whole bucket, L = 10 MB / C = 10 ms; T = 90 ms + L = 100 ms.
    const Prediction prediction = predicted(one_bucket(10 * megabyte, 90ms), 2, link_without_latency());
    CHECK(prediction.iteration_mean == 100ms);
    const std::array ranks{1};
    const auto readings = collectors::readings(predicted_trace(prediction, ranks), collectors::Direction::tx);
    const std::array<nanoseconds, 5> windows{1ms, 5ms, 10ms, 20ms, 50ms};
    const auto curve = collectors::burstiness_curve(readings, windows);
    CHECK(curve.resolved_from == 0ns);
    const std::array expected{10.0, 10.0, 10.0, 5.0, 2.0};
    for (std::size_t i = 0; i < windows.size(); ++i)
        CHECK(collectors::peak_to_mean(curve, curve.points[i]).estimate == Approx(expected[i]).epsilon(1e-6));
    // (C - r) L for r = 2 x mean = 2 C / 10
    CHECK(collectors::max_backlog(readings, {1'600'000'000}).estimate == Approx(8e6).epsilon(1e-6));
}

TEST_CASE("a predicted trace holds every byte of the plans, and few corners", "[prediction]") {
    for (const int n : {2, 3, 8}) {
        const Profile profile = one_bucket(10 * megabyte + 4, 20ms);
        const Prediction prediction = predicted(profile, n, link_without_latency(), 4); // 1 of them warm-up
        for (int rank = 0; rank < n; ++rank) {
            const std::array ranks{rank};
            const collectors::Trace trace = predicted_trace(prediction, ranks);
            const RankPlan plan = ring_all_reduce(rank, n, 10 * megabyte + 4, 4);
            CHECK(trace.samples.front().tx_bytes == 0);
            CHECK(trace.samples.back().tx_bytes == 3 * plan.sent_bytes());
            CHECK(trace.samples.back().rx_bytes == 3 * plan.received_bytes());
            CHECK(trace.samples.size() <= 3 * 4 + 2 * static_cast<std::size_t>(n));
        }
    }
}

TEST_CASE("ranks on one host share its NIC, and their own transfers do not cross it", "[prediction]") {
    // A ring of four ranks on two hosts: one flow leaves each host, as if each rank had a NIC of its own.
    LinkModel link = link_without_latency();
    link.hosts = {0, 0, 1, 1};
    const Prediction prediction = predicted(one_bucket(4 * megabyte, 20ms), 4, link, 2);
    CHECK(prediction.iteration_mean == 26ms); // 6 steps of 1 ms
    const std::array host{0, 1};
    CHECK(predicted_trace(prediction, host).samples.back().tx_bytes == 6 * megabyte);
    CHECK(predicted_trace(prediction, host, true).samples.back().tx_bytes == 12 * megabyte);
    // Placed in turn, two flows leave each host and share its NIC.
    link.hosts = {0, 1, 0, 1};
    CHECK(predicted(one_bucket(4 * megabyte, 20ms), 4, link, 2).iteration_mean == 32ms);
}

TEST_CASE("one rank alone sends nothing", "[prediction]") {
    const Prediction prediction = predicted(one_bucket(megabyte, 20ms), 1, link_without_latency());
    CHECK(prediction.iteration_mean == 20ms);
    const std::array ranks{0};
    const collectors::Trace trace = predicted_trace(prediction, ranks);
    CHECK(trace.samples.back() == collectors::Sample{.t_ns = 60'000'000});
}

TEST_CASE("iterations that are copied are those that would be computed", "[prediction]") {
    // Jitter too small to be seen (it is rounded away) makes every iteration be computed.
    Profile profile = one_bucket(10 * megabyte, 20ms);
    const Prediction copied = predicted(profile, 3, link_without_latency(), 6);
    profile.jitter.white_sd = 1e-12;
    const Prediction computed = predicted(profile, 3, link_without_latency(), 6);
    CHECK(copied.iteration_times == computed.iteration_times);
    for (const int rank : {0, 1, 2}) {
        const std::array ranks{rank};
        CHECK(predicted_trace(copied, ranks).samples == predicted_trace(computed, ranks).samples);
    }
}

TEST_CASE("with jitter the slowest rank decides, and the same seed predicts the same", "[prediction]") {
    Profile profile = one_bucket(10 * megabyte, 20ms);
    profile.jitter.white_sd = 0.1;
    const Prediction once = predicted(profile, 4, link_without_latency(), 30);
    const Prediction again = predicted(profile, 4, link_without_latency(), 30);
    CHECK(once.iteration_times.size() == 30);
    CHECK(once.iteration_times == again.iteration_times);
    CHECK(once.iteration_mean > 35ms); // 20 ms of compute on the mean rank + 15 MB / C
    const std::array ranks{2};
    CHECK(predicted_trace(once, ranks).samples == predicted_trace(again, ranks).samples);
}

TEST_CASE("a single iteration is measured, even if it would be warm-up", "[prediction]") {
    const Prediction prediction = predicted(one_bucket(10 * megabyte, 20ms), 2, link_without_latency(), 1);
    CHECK(prediction.iteration_times == std::vector<nanoseconds>{30ms});
    CHECK(prediction.iteration_mean == 30ms);
}

TEST_CASE("long runs without jitter are predicted by their beginning", "[prediction]") {
    const Prediction prediction = predicted(one_bucket(megabyte, 20ms), 2, link_without_latency(), 100'000);
    CHECK(prediction.iteration_times.size() == 21); // 1 warm-up
}

TEST_CASE("goodput is what headers leave of the line rate", "[prediction]") {
    CHECK(goodput_share(1500) == Approx(1448.0 / 1538));
    CHECK(goodput_share(9000, 14) == Approx(8948.0 / 9014));
    CHECK_THROWS_AS(goodput_share(52), std::invalid_argument);
    LinkModel link = link_without_latency();
    link.goodput_share = 0.5;
    CHECK(predicted(one_bucket(10 * megabyte, 20ms), 2, link).iteration_mean == 40ms);
    link.line_rate = {};
    CHECK_THROWS_AS(predicted(one_bucket(1, 1ms), 2, link), std::invalid_argument);
}
