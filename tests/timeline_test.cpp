#include "generator/timeline.hpp"
#include "tests/catch.hpp"

#include <limits>
#include <stdexcept>
#include <string>

using namespace generator;

namespace {

/// Two buckets in iteration 0, which ended; one in iteration 1, which did not.
Timeline timeline() {
    Timeline result;
    result.rank = 3;
    result.start_monotonic_ns = 123'456'789;
    result.buckets = {{0, 0, 10, 11, 20, 1, 1'000, 1'500, 1'500},
                      {0, 1, 15, 20, 30, 0, 4, 6, 6},
                      {1, 0, 50, 52, 60, 2, 1'000, 1'500, 1'400}};
    result.iterations = {{0, 0, 40}};
    result.sent_bytes = 3'006;
    result.received_bytes = 2'906;
    return result;
}

} // namespace

TEST_CASE("a timeline survives the way to rank 0", "[timeline]") {
    CHECK(parse_timeline(serialize(timeline())) == timeline());
    CHECK(parse_timeline(serialize(Timeline{})) == Timeline{});
}

TEST_CASE("the largest and the negative numbers survive too", "[timeline]") {
    Timeline extreme = timeline();
    extreme.sent_bytes = std::numeric_limits<std::uint64_t>::max();
    extreme.start_monotonic_ns = std::numeric_limits<std::int64_t>::max();
    extreme.buckets[0].late_ns = std::numeric_limits<std::int64_t>::min();
    extreme.buckets[0].iteration = std::numeric_limits<std::uint32_t>::max();
    extreme.iterations[0].start_ns = -5;
    CHECK(parse_timeline(serialize(extreme)) == extreme);
}

TEST_CASE("a damaged timeline is refused", "[timeline]") {
    const std::string whole = serialize(timeline());
    CHECK_THROWS_AS(parse_timeline(""), std::invalid_argument);
    CHECK_THROWS_AS(parse_timeline("x" + whole), std::invalid_argument);
    for (std::size_t length = 0; length + 1 < whole.size(); ++length)
        if (whole[length] == ' ') // every whole number but not all of them
            CHECK_THROWS_AS(parse_timeline(whole.substr(0, length)), std::invalid_argument);
}

TEST_CASE("the CSV has a line per bucket, without times of an iteration that did not end", "[timeline]") {
    CHECK(timeline_csv({timeline()}) ==
          "rank,iteration,bucket,iteration_start_ns,due_ns,start_ns,end_ns,iteration_end_ns,late_ns,"
          "bucket_bytes,sent_bytes,received_bytes\n"
          "3,0,0,0,10,11,20,40,1,1000,1500,1500\n"
          "3,0,1,0,15,20,30,40,0,4,6,6\n"
          "3,1,0,,50,52,60,,2,1000,1500,1400\n");
}

TEST_CASE("the CSV of nothing is its header", "[timeline]") {
    const std::string csv = timeline_csv({});
    CHECK(csv.find('\n') == csv.size() - 1);
    CHECK(timeline_csv({Timeline{}, Timeline{}}) == csv);
}
