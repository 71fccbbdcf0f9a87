#include "generator/run_statistics.hpp"
#include "tests/catch.hpp"

#include <numeric>
#include <vector>

using namespace generator;

namespace {

constexpr std::int64_t ms = 1'000'000;

/// One all-reduce of 1000 B; iteration 0 sends 3000 B.
Workload workload() {
    Workload result;
    result.first_iteration = {{{.bytes = 3'000}}};
    result.later_iterations = {{{.bytes = 1'000}}};
    return result;
}

/// Appends an iteration of `length` whose bucket takes `bucket_length` and starts `late` after it was due.
void add(Timeline& timeline, std::int64_t length, std::int64_t bucket_length, std::int64_t late = 0) {
    const auto number = static_cast<std::uint32_t>(timeline.iterations.size());
    const std::int64_t start = number == 0 ? 0 : timeline.iterations.back().end_ns;
    timeline.buckets.push_back({.iteration = number,
                                .due_ns = start,
                                .start_ns = start + late,
                                .end_ns = start + late + bucket_length,
                                .late_ns = late,
                                .bytes = workload().buckets(number)[0].bytes});
    timeline.iterations.push_back({number, start, start + length});
}

CollectiveStatistics all_reduces(const RunStatistics& statistics) {
    return statistics.of(Collective::all_reduce);
}

} // namespace

TEST_CASE("quantiles are values that occurred, by nearest rank", "[statistics]") {
    std::vector<double> values(100);
    std::iota(values.rbegin(), values.rend(), 1.0); // 100 ... 1
    const Distribution all = distribution(values).value();
    CHECK(all.mean == Approx(50.5));
    CHECK(all.p50 == 50);
    CHECK(all.p95 == 95);
    CHECK(all.p99 == 99);
    CHECK(all.max == 100);
}

TEST_CASE("quantiles of few values", "[statistics]") {
    CHECK_FALSE(distribution({}).has_value());
    const Distribution one = distribution({7}).value();
    CHECK(one.mean == 7);
    CHECK(one.p50 == 7);
    CHECK(one.p99 == 7);
    CHECK(one.max == 7);
    const Distribution two = distribution({4, 2}).value();
    CHECK(two.p50 == 2); // ceil(0.5 x 2) = 1st
    CHECK(two.p95 == 4);
    const Distribution three = distribution({1, 2, 3}).value();
    CHECK(three.p50 == 2); // ceil(1.5) = 2nd
    CHECK(three.p95 == 3);
}

TEST_CASE("of each iteration and bucket the slowest rank counts", "[statistics]") {
    std::vector<Timeline> timelines(2);
    add(timelines[0], 10 * ms, 3 * ms);
    add(timelines[1], 12 * ms, 2 * ms);
    add(timelines[0], 20 * ms, 4 * ms);
    add(timelines[1], 18 * ms, 5 * ms);
    const RunStatistics statistics = run_statistics(timelines, workload(), 2, 0);
    CHECK(statistics.finished_iterations == 2);
    CHECK(statistics.measured_iterations == 2);
    CHECK(statistics.iteration_seconds->p50 == Approx(0.012)); // 12 and 20 ms
    CHECK(statistics.iteration_seconds->mean == Approx(0.016));
    CHECK(statistics.iteration_seconds->max == Approx(0.020));
    CHECK(all_reduces(statistics).seconds->p50 == Approx(0.003)); // 3 and 5 ms
    CHECK(all_reduces(statistics).seconds->max == Approx(0.005));
}

TEST_CASE("bandwidth is bytes over time of the slowest rank, bus bandwidth 2(N-1)/N of it", "[statistics]") {
    std::vector<Timeline> timelines(4);
    for (Timeline& timeline : timelines) {
        add(timeline, 10 * ms, 3 * ms);
        add(timeline, 10 * ms, 1 * ms);
    }
    const RunStatistics statistics = run_statistics(timelines, workload(), 4, 0);
    CHECK(all_reduces(statistics).algorithm_bytes_per_second.value() == Approx(1e6)); // 4000 B in 4 ms
    CHECK(all_reduces(statistics).bus_bytes_per_second.value() == Approx(1.5e6));     // 2 x 3/4
}

TEST_CASE("warm-up is left out of everything but the byte counts", "[statistics]") {
    std::vector<Timeline> timelines(2);
    for (Timeline& timeline : timelines) {
        add(timeline, 900 * ms, 300 * ms, 50 * ms);
        add(timeline, 10 * ms, 2 * ms, 1 * ms);
        timeline.sent_bytes = 4'000;
        timeline.received_bytes = 3'999;
    }
    const RunStatistics statistics = run_statistics(timelines, workload(), 2, 1);
    CHECK(statistics.finished_iterations == 2);
    CHECK(statistics.measured_iterations == 1);
    CHECK(statistics.iteration_seconds->max == Approx(0.010));
    CHECK(statistics.lateness_seconds->max == Approx(0.001));
    CHECK(all_reduces(statistics).seconds->max == Approx(0.002));
    CHECK(all_reduces(statistics).algorithm_bytes_per_second.value() == Approx(500'000)); // 1000 B in 2 ms
    CHECK(statistics.sent_bytes == 8'000);
    CHECK(statistics.received_bytes == 7'998);
}

TEST_CASE("an iteration that one rank did not finish is left out", "[statistics]") {
    std::vector<Timeline> timelines(2);
    add(timelines[0], 10 * ms, 1 * ms);
    add(timelines[1], 10 * ms, 1 * ms);
    add(timelines[0], 500 * ms, 400 * ms); // rank 1 was killed in it
    timelines[1].buckets.push_back({.iteration = 1, .end_ns = 300 * ms, .bytes = 1'000});
    const RunStatistics statistics = run_statistics(timelines, workload(), 2, 0);
    CHECK(statistics.finished_iterations == 1);
    CHECK(statistics.iteration_seconds->max == Approx(0.010));
    CHECK(all_reduces(statistics).seconds->max == Approx(0.001));
}

TEST_CASE("nothing measured is nothing, not zero", "[statistics]") {
    std::vector<Timeline> timelines(2);
    add(timelines[0], 10 * ms, 1 * ms); // warm-up only, and rank 1 not even that
    for (const std::uint32_t warmup : {0u, 1u, 100u}) {
        const RunStatistics statistics = run_statistics(timelines, workload(), 2, warmup);
        CHECK(statistics.finished_iterations == 0);
        CHECK(statistics.measured_iterations == 0);
        CHECK_FALSE(statistics.iteration_seconds);
        CHECK_FALSE(all_reduces(statistics).seconds);
        CHECK_FALSE(statistics.lateness_seconds);
        CHECK_FALSE(all_reduces(statistics).algorithm_bytes_per_second);
        CHECK_FALSE(all_reduces(statistics).bus_bytes_per_second);
    }
    CHECK(run_statistics({}, workload(), 0, 0).finished_iterations == 0);
}

TEST_CASE("a lone rank has times but no bandwidth", "[statistics]") {
    std::vector<Timeline> timelines(1);
    add(timelines[0], 10 * ms, 0);
    const RunStatistics statistics = run_statistics(timelines, workload(), 1, 0);
    CHECK(statistics.iteration_seconds->max == Approx(0.010));
    CHECK_FALSE(all_reduces(statistics).bus_bytes_per_second);
}

TEST_CASE("broadcasts count as late starts but not as all-reduces", "[statistics]") {
    Workload with_broadcast = workload();
    with_broadcast.first_iteration.insert(with_broadcast.first_iteration.begin(),
                                          {{.collective = Collective::broadcast, .bytes = 64}});
    std::vector<Timeline> timelines(2);
    for (Timeline& timeline : timelines) {
        timeline.buckets = {{.iteration = 0, .bucket = 0, .end_ns = 7 * ms, .late_ns = 2 * ms, .bytes = 64},
                            {.iteration = 0, .bucket = 1, .end_ns = 3 * ms, .bytes = 3'000}};
        timeline.iterations = {{0, 0, 10 * ms}};
    }
    const RunStatistics statistics = run_statistics(timelines, with_broadcast, 2, 0);
    CHECK(all_reduces(statistics).seconds->max == Approx(0.003));
    CHECK(statistics.lateness_seconds->max == Approx(0.002));
    CHECK(all_reduces(statistics).algorithm_bytes_per_second.value() == Approx(1e6)); // 3000 B in 3 ms
    const CollectiveStatistics broadcasts = statistics.of(Collective::broadcast);
    CHECK(broadcasts.count == 1);
    CHECK(broadcasts.bus_bytes_per_second.value() == Approx(64 / 0.007)); // 64 B in 7 ms, factor 1
}

TEST_CASE("each group of ranks has collectives of its own, with its own number of ranks", "[statistics]") {
    Workload grouped;
    grouped.groups = {{"all", {}}, {"pairs", {{0, 1}, {2, 3}}}};
    grouped.first_iteration = {{{.group = 1, .collective = Collective::all_gather, .bytes = 1'000}},
                               {{.group = 0, .collective = Collective::reduce_scatter, .bytes = 4'000}}};
    std::vector<Timeline> timelines(4);
    for (int rank = 0; rank < 4; ++rank) {
        Timeline& timeline = timelines[static_cast<std::size_t>(rank)];
        timeline.rank = rank;
        // The second pair is slower.
        timeline.buckets = {{.bucket = 0, .end_ns = rank < 2 ? 1 * ms : 3 * ms, .bytes = 1'000},
                            {.bucket = 1, .start_ns = 4 * ms, .end_ns = 8 * ms, .bytes = 4'000}};
        timeline.iterations = {{0, 0, 10 * ms}};
    }
    const RunStatistics statistics = run_statistics(timelines, grouped, 4, 0);
    REQUIRE(statistics.collectives.size() == 2);
    const CollectiveStatistics gathers = statistics.of(Collective::all_gather);
    CHECK(gathers.count == 2);
    CHECK(gathers.bytes == 2'000);
    CHECK(gathers.algorithm_bytes_per_second.value() == Approx(500'000)); // 2000 B in 1 + 3 ms
    CHECK(gathers.bus_bytes_per_second.value() == Approx(250'000));       // x 1/2
    const CollectiveStatistics scatters = statistics.of(Collective::reduce_scatter);
    CHECK(scatters.algorithm_bytes_per_second.value() == Approx(1e6)); // 4000 B in 4 ms
    CHECK(scatters.bus_bytes_per_second.value() == Approx(750'000));   // x 3/4
}
