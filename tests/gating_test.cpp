#include "generator/gating.hpp"

#include "catch.hpp"

using namespace generator;

namespace {

constexpr std::int64_t ms = 1'000'000;

/// Two all-reduces of all ranks, then one of a pair, then a send.
Workload workload() {
    Workload result;
    result.groups = {{"all", {}}, {"pair", {{0, 1}}}};
    result.later_iterations = {{{.bytes = 1'000}},
                               {{.bytes = 1'000}},
                               {{.group = 1, .bytes = 1'000}},
                               {{.group = 1, .collective = Collective::send, .bytes = 1'000}}};
    result.first_iteration = result.later_iterations;
    return result;
}

/// What four ranks lived: when each started bucket 1; bucket 0 and the pair's come in the opposite order.
std::vector<Timeline> timelines(const std::vector<std::vector<std::int64_t>>& starts_by_iteration) {
    std::vector<Timeline> result(4);
    for (int rank = 0; rank < 4; ++rank) {
        Timeline& timeline = result[static_cast<std::size_t>(rank)];
        timeline.rank = rank;
        for (std::uint32_t iteration = 0; iteration < starts_by_iteration.size(); ++iteration) {
            const std::int64_t start = starts_by_iteration[iteration].at(static_cast<std::size_t>(rank));
            timeline.buckets.push_back({.iteration = iteration, .bucket = 0, .start_ns = -start});
            timeline.buckets.push_back({.iteration = iteration, .bucket = 1, .start_ns = start});
            if (rank < 2) {
                timeline.buckets.push_back(
                    {.iteration = iteration, .bucket = 2, .start_ns = 100 * ms - start});
                timeline.buckets.push_back(
                    {.iteration = iteration, .bucket = 3, .start_ns = 200 * ms - start});
            }
        }
    }
    return result;
}

} // namespace

TEST_CASE("the rank that starts the last collective of most ranks last gates the iteration", "[gating]") {
    // Medians are the second of four: 11 and 21 ms.
    const auto found =
        gates(timelines({{10 * ms, 11 * ms, 12 * ms, 15 * ms}, {20 * ms, 40 * ms, 21 * ms, 22 * ms}}),
              workload(), 0, 2);
    REQUIRE(found.size() == 2);
    CHECK(found[0] == Gate{0, 3, 4 * ms});
    CHECK(found[1] == Gate{1, 1, 19 * ms});
}

TEST_CASE("iterations outside of the measured ones gate nothing", "[gating]") {
    const auto lived = timelines({{1, 2, 3, 4}, {4, 3, 2, 1}, {1, 9, 2, 3}});
    REQUIRE(gates(lived, workload(), 1, 2).size() == 1);
    CHECK(gates(lived, workload(), 1, 2)[0].rank == 0);
    CHECK(gates(lived, workload(), 3, 3).empty());
    CHECK(gates({}, workload(), 0, 9).empty());
    CHECK(gates({lived[0]}, workload(), 0, 3).empty()); // a lone rank
}

TEST_CASE("ranks that gated are counted, the most frequent first", "[gating]") {
    const auto ranks =
        gating_ranks({{0, 3, 4 * ms}, {1, 1, 19 * ms}, {2, 3, 2 * ms}, {3, 3, 9 * ms}, {4, 3, 5 * ms}});
    REQUIRE(ranks.size() == 2);
    CHECK(ranks[0].rank == 3);
    CHECK(ranks[0].iterations == 4);
    CHECK(ranks[0].median_seconds == Approx(0.004)); // the second of 2, 4, 5, 9 ms
    CHECK(ranks[0].max_seconds == Approx(0.009));
    CHECK(ranks[1].rank == 1);
    CHECK(ranks[1].iterations == 1);
    CHECK(gating_ranks({}).empty());
}
