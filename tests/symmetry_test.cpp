// One rank executed for all of them, against the execution of every rank.
#include "collectors/burstiness.hpp"
#include "generator/prediction.hpp"
#include "generator/symmetry.hpp"

#include <array>
#include <cmath>

#include "catch.hpp"

using namespace generator;
using namespace std::chrono_literals;

namespace {

Workload two_buckets(Collective collective, Algorithm algorithm, std::uint64_t bytes) {
    Workload workload;
    workload.compute = 22ms;
    workload.collective.algorithm = algorithm;
    workload.first_iteration =
        workload.later_iterations = {{{.collective = collective, .bytes = bytes}, 0, 5ms, 20ms},
                                     {{.collective = collective, .bytes = bytes / 2}, 0, 6ms, 20ms}};
    return workload;
}

LinkModel gigabit_link() {
    LinkModel link;
    link.line_rate = {1'000'000'000};
    return link;
}

struct Comparison {
    Prediction one_rank;
    Prediction every_rank;
};

Comparison both(const Workload& workload, int ranks) {
    return {predict(Profile{}, workload, ranks, gigabit_link(), 3, Execution::one_for_all),
            predict(Profile{}, workload, ranks, gigabit_link(), 3, Execution::every_rank)};
}

/// Bytes that `rank` has sent or received in all, and the most in any window of 100 us and 1 ms.
std::vector<double> traffic(const Prediction& prediction, int rank, collectors::Direction direction) {
    constexpr std::array<nanoseconds, 2> windows{100us, 1ms};
    const std::array ranks{rank};
    const auto readings = collectors::readings(predicted_trace(prediction, ranks), direction);
    std::vector<double> values{static_cast<double>(readings.back().bytes)};
    for (const auto& point : collectors::burstiness_curve(readings, windows).points)
        values.push_back(point.bytes.estimate);
    return values;
}

/// Chunks differ by an element, which the one rank does not see: sizes and times agree to some parts in a
/// thousand with chunks of some thousand elements.
void check_agreement(const Workload& workload, int ranks) {
    const auto [one, every] = both(workload, ranks);
    REQUIRE(one.executed_ranks == 1);
    REQUIRE(every.executed_ranks == ranks);
    for (std::size_t i = 0; i < 3; ++i)
        CHECK(static_cast<double>(one.iteration_times[i].count()) ==
              Approx(static_cast<double>(every.iteration_times[i].count())).epsilon(1e-3));
    for (const int rank : {0, 1, ranks - 1})
        for (const auto direction : {collectors::Direction::tx, collectors::Direction::rx}) {
            const auto of_one = traffic(one, rank, direction);
            const auto of_every = traffic(every, rank, direction);
            for (std::size_t i = 0; i < of_one.size(); ++i)
                CHECK(of_one[i] == Approx(of_every[i]).epsilon(2e-3));
        }
}

} // namespace

TEST_CASE("one rank stands for all of a ring, whatever their number", "[symmetry]") {
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather})
        for (const int ranks : {2, 3, 4, 7, 16, 64}) {
            INFO(collective_name(collective) << " of " << ranks);
            // 4,000,004 bytes: no number of ranks here but 2 divides the elements.
            check_agreement(two_buckets(collective, Algorithm::ring, 4'000'004), ranks);
        }
}

TEST_CASE("one rank stands for all of a halving and doubling, of a power of two", "[symmetry]") {
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather})
        for (const int ranks : {2, 4, 8, 32, 64}) {
            INFO(collective_name(collective) << " of " << ranks);
            check_agreement(two_buckets(collective, Algorithm::halving_doubling, 4'000'004), ranks);
        }
}

TEST_CASE("one rank stands for all that exchange with all", "[symmetry]") {
    for (const int ranks : {2, 3, 8, 17, 32}) {
        INFO(ranks);
        check_agreement(two_buckets(Collective::all_reduce, Algorithm::sharded_server, 4'000'004), ranks);
        check_agreement(two_buckets(Collective::reduce_scatter, Algorithm::sharded_server, 4'000'004), ranks);
        check_agreement(two_buckets(Collective::all_to_all, Algorithm::ring, 4'000'004), ranks);
    }
}

TEST_CASE("channels, sockets, queues and groups of equal size are no obstacle", "[symmetry]") {
    Workload workload = two_buckets(Collective::all_reduce, Algorithm::ring, 8'000'004);
    workload.collective.channels = 2;
    workload.collective.sockets_per_channel = 2;
    workload.collective.in_flight = 2;
    check_agreement(workload, 8);
    workload.groups.push_back({"pairs", {{0, 1}, {3, 2}, {4, 6}, {5, 7}}});
    workload.later_iterations[1].group = workload.first_iteration[1].group = 1;
    check_agreement(workload, 8);
}

TEST_CASE("where ranks differ, every rank is executed", "[symmetry]") {
    const auto alike = [](const Workload& workload, int ranks, LinkModel link = gigabit_link(),
                          Profile profile = {}) {
        return predict(profile, workload, ranks, link, 1, Execution::one_for_all).executed_ranks == 1;
    };
    const Workload ring = two_buckets(Collective::all_reduce, Algorithm::ring, 4'000'000);
    CHECK(alike(ring, 4));
    CHECK(predict(Profile{}, ring, 32, gigabit_link(), 1).executed_ranks == 32); // few enough to be exact
    CHECK(predict(Profile{}, ring, 33, gigabit_link(), 1).executed_ranks == 1);
    CHECK_FALSE(alike(two_buckets(Collective::broadcast, Algorithm::ring, 4'000'000), 4));
    CHECK_FALSE(alike(two_buckets(Collective::all_reduce, Algorithm::server, 4'000'000), 4));
    CHECK_FALSE(alike(two_buckets(Collective::all_reduce, Algorithm::double_binary_tree, 4'000'000), 4));
    CHECK_FALSE(alike(two_buckets(Collective::all_reduce, Algorithm::halving_doubling, 4'000'000), 6));
    CHECK_FALSE(
        alike(two_buckets(Collective::all_reduce, Algorithm::ring, 12), 4)); // fewer elements than ranks
    LinkModel shared = gigabit_link();
    shared.hosts = {0, 0, 1, 1};
    CHECK_FALSE(alike(ring, 4, shared));
    LinkModel leaves = gigabit_link();
    leaves.hosts_per_leaf = 2;
    CHECK(alike(ring, 4, leaves));
    leaves.oversubscription = 2;
    CHECK(alike(ring, 4, leaves)); // one rank of each leaf sends up, at 2 C / 2
    leaves.oversubscription = 3;
    CHECK_FALSE(alike(ring, 4, leaves));
    Profile jitter;
    jitter.jitter.white_sd = 0.01;
    CHECK_FALSE(alike(ring, 4, gigabit_link(), jitter));
    Workload some = ring;
    some.groups.push_back({"some", {{0, 1}}});
    some.later_iterations[0].group = 1;
    CHECK_FALSE(alike(some, 4));
}

TEST_CASE("of a job too large to execute every rank, little that hinders is left out, much is refused",
          "[symmetry]") {
    Workload workload = two_buckets(Collective::all_reduce, Algorithm::ring, 40'000'000);
    workload.later_iterations.insert(workload.later_iterations.begin(),
                                     {{.collective = Collective::broadcast, .bytes = 300'000}, 0, 0ms, 20ms});
    const Prediction prediction = predict(Profile{}, workload, 1024, gigabit_link(), 2);
    CHECK(prediction.executed_ranks == 1);
    REQUIRE(prediction.left_out.size() == 1);
    CHECK(prediction.left_out.begin()->collective == Collective::broadcast);
    CHECK(predict(Profile{}, workload, 48, gigabit_link(), 2).left_out.empty()); // not too large
    workload.later_iterations.front().bytes = 3'000'000;
    CHECK_THROWS_AS(predict(Profile{}, workload, 1024, gigabit_link(), 2), UserError);
}

TEST_CASE("sixteen thousand ranks take no more than the steps of one", "[symmetry]") {
    // 2(N-1) (S / N / C + 30 us), without pipelining, after 5 ms of computing; two buckets follow each other.
    LinkModel link = gigabit_link();
    link.pipelining = false;
    const int ranks = 16384;
    const double bytes = 16384.0 * 4096;
    const auto prediction = predict(
        Profile{}, two_buckets(Collective::all_reduce, Algorithm::ring, static_cast<std::uint64_t>(bytes)),
        ranks, link, 1);
    const double steps = 2.0 * (ranks - 1);
    CHECK(1e-9 * static_cast<double>(prediction.iteration_times[0].count()) ==
          Approx(0.005 + steps * (1.5 * bytes / ranks / 125e6 + 2 * 30e-6) + 0.002).epsilon(1e-4));
    const auto halving = predict(
        Profile{},
        two_buckets(Collective::all_reduce, Algorithm::halving_doubling, static_cast<std::uint64_t>(bytes)),
        ranks, link, 1);
    // 28 steps, 2(N-1)/N S in each bucket.
    CHECK(1e-9 * static_cast<double>(halving.iteration_times[0].count()) ==
          Approx(0.005 + 1.5 * steps / ranks * bytes / 125e6 + 2 * 28 * 30e-6 + 0.002).epsilon(1e-4));
}
