#include "tools/timeline_numbers.hpp"

#include "generator/failure.hpp"
#include "tests/catch.hpp"
#include "tests/report_runs.hpp"
#include "tests/text.hpp"

#include <cmath>
#include <vector>

using namespace tools;

namespace {

TimelineNumbers numbers_of(const std::string& csv, std::uint32_t first = 1, std::uint32_t last = 3) {
    return timeline_numbers(parse_timeline_csv(csv, "timeline.csv"), first, last);
}

/// Of one rank: buckets from start to end, all due at the given time, in milliseconds.
BucketSpan span_of(std::uint32_t bucket, std::int64_t due_ms, std::int64_t start_ms, std::int64_t end_ms) {
    constexpr std::int64_t ms = 1'000'000;
    return {.bucket = bucket,
            .iteration_start_ns = 0,
            .due_ns = due_ms * ms,
            .start_ns = start_ms * ms,
            .end_ns = end_ms * ms,
            .iteration_end_ns = 100 * ms,
            .bucket_bytes = 1000,
            .sent_bytes = 1000};
}

} // namespace

TEST_CASE("iterations and buckets take as long as on their slowest rank", "[report]") {
    const TimelineNumbers numbers = numbers_of(tests::small_timeline());
    CHECK_THAT(numbers.iteration_seconds, Catch::Matchers::Approx(std::vector<double>{0.1, 0.1}));
    REQUIRE(numbers.buckets.size() == 1);
    CHECK(numbers.buckets[0].bytes == 1000);
    CHECK_THAT(numbers.buckets[0].seconds,
               Catch::Matchers::Approx(std::vector<double>{0.022, 0.022})); // rank 1: 51 to 73 ms
    CHECK(numbers.lateness_seconds.size() == 4);
}

TEST_CASE("skew is behind the median rank, goodput counts the time in flight", "[report]") {
    const TimelineNumbers numbers = numbers_of(tests::small_timeline());
    REQUIRE(numbers.ranks.size() == 2);
    CHECK(numbers.ranks[0].start_skew_seconds == std::vector<double>{0, 0}); // of two, the lower median
    CHECK_THAT(numbers.ranks[1].start_skew_seconds,
               Catch::Matchers::Approx(std::vector<double>{0.001, 0.001}));
    CHECK(numbers.ranks[0].goodput_bytes_per_second == Approx(2000 / 0.040)); // 50 to 70 ms, twice
    CHECK(numbers.ranks[1].goodput_bytes_per_second == Approx(2000 / 0.044));
    CHECK(numbers.overlap_fraction == 0); // nothing is in flight before the only bucket is due
}

TEST_CASE("communication before the last bucket is ready is hidden", "[report]") {
    // In flight 10 to 30 and 25 to 50 ms, together 40 ms; the last is due at 20 ms: 10 ms are hidden.
    const std::vector<BucketSpan> spans{span_of(0, 10, 10, 30), span_of(1, 20, 25, 50)};
    CHECK(timeline_numbers(spans, 0, 1).overlap_fraction == Approx(0.25));
}

TEST_CASE("iterations that did not end, or do not count, are left out", "[report]") {
    CHECK(numbers_of(tests::small_timeline(), 1, 1).iteration_seconds.empty());
    CHECK(numbers_of(tests::small_timeline(), 0, 3).iteration_seconds.size() == 3);
    BucketSpan unfinished = span_of(0, 1, 2, 3);
    unfinished.iteration_end_ns.reset();
    const TimelineNumbers numbers = timeline_numbers(std::vector{unfinished}, 0, 1);
    CHECK(numbers.iteration_seconds.empty());
    CHECK(numbers.ranks.empty());
    CHECK_FALSE(numbers.overlap_fraction.has_value());
}

TEST_CASE("fairness and variation by their definitions", "[report]") {
    CHECK(fairness_index(std::vector<double>{3, 3, 3}) == Approx(1));
    CHECK(fairness_index(std::vector<double>{1, 0, 0, 0}) == Approx(0.25));
    CHECK(fairness_index(std::vector<double>{1, 2}) == Approx(0.9)); // 9 / (2 x 5)
    CHECK_FALSE(fairness_index(std::vector<double>{}).has_value());
    CHECK_FALSE(fairness_index(std::vector<double>{0, 0}).has_value());
    CHECK(coefficient_of_variation(std::vector<double>{1, 3}) == Approx(std::sqrt(2) / 2));
    CHECK_FALSE(coefficient_of_variation(std::vector<double>{1}).has_value());
}

TEST_CASE("a timeline is sorted, and its mistakes are named with their line", "[report]") {
    const std::string header = tests::small_timeline().substr(0, tests::small_timeline().find('\n') + 1);
    const auto spans = parse_timeline_csv(
        header + "1,0,0,0,0,0,0,0,0,1,1,1\n0,1,0,,5,6,7,,0,1,1,1\n0,0,9,0,0,0,0,0,-3,1,1,1\n"
                 "0,2,0,0,0",
        "t.csv"); // the last line was never finished
    REQUIRE(spans.size() == 3);
    CHECK(spans[0].bucket == 9);
    CHECK(spans[0].late_ns == -3);
    CHECK(spans[1].start_ns == 6);
    CHECK_FALSE(spans[1].iteration_end_ns.has_value());
    CHECK(spans[2].rank == 1);
    const auto mistake = [](const std::string& text) {
        return tests::message_of<generator::UserError>([&] { parse_timeline_csv(text, "t.csv"); });
    };
    CHECK(mistake(header + "0,0,0,0,0,0,0,0,0,1,1,1\n0,0,x,0,0,0,0,0,0,1,1,1\n") ==
          "t.csv, line 3: must be 12 whole numbers, times of at most 36 years, is '0,0,x,0,0,0,0,0,0,1,1,1'");
    CHECK(mistake(header + "0,0,0\n") ==
          "t.csv, line 2: must be 12 whole numbers, times of at most 36 years, is '0,0,0'");
    CHECK(mistake(header + "1,2,3,0,0,0,0,0,0,1,1,1\n1,2,3,0,0,0,0,0,0,1,1,1\n") ==
          "t.csv: bucket 3 of iteration 2 of rank 1 stands there twice");
    CHECK_THAT(mistake("rank,iteration\n"),
               Catch::StartsWith("t.csv, line 1: must be rank,iteration,bucket"));
}
