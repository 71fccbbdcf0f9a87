#include "generator/schedule.hpp"
#include "tests/catch.hpp"
#include "tests/workloads.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::schedule_of;

namespace {

/// Forward 32 ms, backward 65 ms, optimizer 3 ms: 100 ms; tensors ready at 0.4 and 1.0 of backward.
Profile two_tensor_profile(const std::string& sections = "") {
    const std::string model = R"({"format": "gradburst-model/1", "name": "small", "source": "by hand",
        "totals": {"parameters": 8, "tensors": 2}, "buffers": {"fp32_elements": 4, "int64_elements": 1},
        "tensors": [
        {"name": "w", "shape": [2, 3], "elements": 6, "ready_order": 1,
         "ready": {"arithmetic": 1, "fp32": 1, "tensor": 1}},
        {"name": "b", "shape": [2], "elements": 2, "ready_order": 0,
         "ready": {"arithmetic": 0.5, "fp32": 0.4, "tensor": 0.3}}]})";
    const std::string text = R"({"model": {"tensors": "small.json"}, "compute": {"time": "100ms"},
        "gradients": {"bucketing": "per_tensor", "overlap": true, "broadcast_buffers": true})" +
                             (sections.empty() ? "" : ", " + sections) + "}";
    return parse_profile({"test.json", text, model});
}

const Jitter drift_and_white{.drift_sd = 0.02, .drift_rho = 0.9, .white_sd = 0.006};

struct Moments {
    double mean = 0;
    double sd = 0;
    double autocorrelation = 0; ///< of neighbours
};

Moments moments(const Jitter& jitter, std::uint32_t count) {
    std::vector<double> values;
    for (std::uint32_t i = 0; i < count; ++i)
        values.push_back(jitter_factor(jitter, 1, 0, i));
    Moments result;
    for (const double value : values)
        result.mean += value / count;
    double squares = 0;
    double products = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        squares += (values[i] - result.mean) * (values[i] - result.mean);
        if (i > 0)
            products += (values[i] - result.mean) * (values[i - 1] - result.mean);
    }
    result.sd = std::sqrt(squares / count);
    result.autocorrelation = products / squares;
    return result;
}

} // namespace

TEST_CASE("buckets are ready at their share of backward, buffers at the start", "[schedule]") {
    const IterationSchedule schedule = schedule_of(two_tensor_profile());
    CHECK(schedule.compute == 100ms);
    REQUIRE(schedule.buckets.size() == 4);
    CHECK(schedule.buckets[0] == Bucket{{0, Collective::broadcast, 16}, 0, 0, 0ms, 97ms});  // 4 float32
    CHECK(schedule.buckets[1] == Bucket{{0, Collective::broadcast, 8}, 1, 0, 0ms, 97ms});   // 1 int64
    CHECK(schedule.buckets[2] == Bucket{{0, Collective::all_reduce, 8}, 2, 0, 58ms, 97ms}); // 32 + 0.4 x 65
    CHECK(schedule.buckets[3] == Bucket{{0, Collective::all_reduce, 24}, 3, 0, 97ms, 97ms});
}

TEST_CASE("scale.time stretches every time alike", "[schedule]") {
    const IterationSchedule schedule = schedule_of(two_tensor_profile(R"("scale": {"time": 0.5})"));
    CHECK(schedule.compute == 50ms);
    CHECK(schedule.buckets[0].ready_after == 0ms);
    CHECK(schedule.buckets[2].ready_after == 29ms);
    CHECK(schedule.buckets[3].ready_after == 48'500us);
}

TEST_CASE("explicit times are scaled and jittered like computed ones", "[schedule]") {
    Profile plain = parse_profile({"test.json", R"({"compute": {"time": "100ms"}, "scale": {"time": 2},
        "gradients": {"bucketing": "explicit", "buckets": [{"bytes": 100, "ready_after": "97ms"}]}})",
                                   ""});
    CHECK(schedule_of(plain).buckets[0].ready_after == 194ms);
    plain.jitter = drift_and_white;
    const IterationSchedule jittered = schedule_of(plain, 1, 5);
    CHECK(jittered.buckets[0].ready_after != 194ms);
    // ready_after is the end of backward here, and stays there
    CHECK(jittered.buckets[0].ready_after == jittered.buckets[0].needed_at);
}

TEST_CASE("the same seed, rank and iteration give the same schedule", "[schedule]") {
    Profile jittered = two_tensor_profile(R"("run": {"seed": 42})");
    jittered.jitter = drift_and_white;
    const IterationSchedule schedule = schedule_of(jittered, 3, 7);
    CHECK(schedule == schedule_of(jittered, 3, 7));
    CHECK_FALSE(schedule == schedule_of(jittered, 2, 7));
    CHECK_FALSE(schedule == schedule_of(jittered, 3, 8));
    jittered.run.seed = 43;
    CHECK_FALSE(schedule == schedule_of(jittered, 3, 7));
}

TEST_CASE("without jitter all iterations of all ranks are alike", "[schedule]") {
    CHECK(jitter_factor({}, 1, 5, 9) == 1);
    CHECK(schedule_of(two_tensor_profile(), 0, 1) == schedule_of(two_tensor_profile(), 31, 1000));
}

TEST_CASE("draws are the same on every machine", "[schedule]") {
    // Computed by an independent implementation of the formulas, in Python.
    CHECK(jitter_factor({.white_sd = 0.006}, 1u, 0, 0u) == Approx(1.0009657435825203).epsilon(1e-14));
    CHECK(jitter_factor({.white_sd = 0.006}, 1u, 0, 1u) == Approx(0.9878298288138871).epsilon(1e-14));
    CHECK(jitter_factor({.white_sd = 0.006}, 1u, 3, 1u) == Approx(1.0004193501532082).epsilon(1e-14));
    CHECK(jitter_factor({.white_sd = 0.006}, 7u, 0, 1u) == Approx(1.0062974301228689).epsilon(1e-14));
    CHECK(jitter_factor({.white_sd = 0.006}, 18446744073709551615u, 31, 4294967295u) ==
          Approx(0.9920417550671959).epsilon(1e-14));
    CHECK(jitter_factor(drift_and_white, 1u, 0, 0u) == Approx(0.9591637705167625).epsilon(1e-14));
    CHECK(jitter_factor(drift_and_white, 1u, 2, 100u) == Approx(0.9970419749391688).epsilon(1e-14));
}

TEST_CASE("white jitter has the given spread and no memory", "[schedule]") {
    const Moments measured = moments({.white_sd = 0.05}, 20'000);
    CHECK(measured.mean == Approx(1).margin(0.002));            // sd of the mean 0.00035
    CHECK(measured.sd == Approx(0.05).epsilon(0.03));           // sd of the sd 0.5 %
    CHECK(measured.autocorrelation == Approx(0).margin(0.035)); // sd 0.007
}

TEST_CASE("drift has the given spread and memory", "[schedule]") {
    const Moments measured = moments({.drift_sd = 0.02, .drift_rho = 0.9}, 20'000);
    // Neighbours depend on each other: 20,000 draws are worth 20,000 (1 - .9) / (1 + .9) = 1050 free ones.
    CHECK(measured.mean == Approx(1).margin(0.004));
    CHECK(measured.sd == Approx(0.02).epsilon(0.12));
    CHECK(measured.autocorrelation == Approx(0.9).margin(0.02));
}

TEST_CASE("drift and white part add up as variances", "[schedule]") {
    const Moments measured = moments(drift_and_white, 20'000);
    CHECK(measured.sd == Approx(std::sqrt(0.02 * 0.02 + 0.006 * 0.006)).epsilon(0.12)); // 0.0209
    // 0.9 x 0.0004 / 0.000436 = 0.826
    CHECK(measured.autocorrelation == Approx(0.826).margin(0.03));
}

TEST_CASE("no jitter makes an iteration shorter than a tenth", "[schedule]") {
    double least = 2;
    for (std::uint32_t i = 0; i < 1'000; ++i)
        least = std::min(least, jitter_factor({.white_sd = 1}, 1, 0, i));
    CHECK(least == 0.1); // one draw in six lies below 0.1
}

TEST_CASE("a rank's schedule has the buckets of its own groups, each in the queue of its turn",
          "[schedule]") {
    const Profile profile = parse_profile(
        {"test.json", R"({"compute": {"forward": "40ms", "backward": "60ms"}, "collective": {"in_flight": 2},
        "groups": {"left": [[0, 1]], "tensor": [[0, 2], [3, 1]]},
        "gradients": {"bucketing": "explicit", "buckets": [
        {"bytes": 4, "group": "tensor", "ready_after": "10ms", "needed_at": "10ms", "repeat": 3, "every": "10ms"},
        {"bytes": 8, "group": "left"}, {"bytes": 16, "ready_after": "90ms"}]}})",
         ""});
    // groups by name: 0 all, 1 left, 2 tensor
    const std::vector<Bucket> tensor{{{2, Collective::all_reduce, 4}, 0, 0, 10ms, 10ms},
                                     {{2, Collective::all_reduce, 4}, 1, 1, 20ms, 20ms},
                                     {{2, Collective::all_reduce, 4}, 2, 0, 30ms, 30ms}};
    const Bucket left{{1, Collective::all_reduce, 8}, 3, 0, 0ms, 100ms};
    const Bucket all{{0, Collective::all_reduce, 16}, 4, 0, 90ms, 100ms};
    for (const int rank : {0, 1}) {
        const std::vector<Bucket> expected{tensor[0], tensor[1], tensor[2], left, all};
        CHECK(schedule_of(profile, rank).buckets == expected);
    }
    CHECK(schedule_of(profile, 3).buckets == std::vector<Bucket>{tensor[0], tensor[1], tensor[2], all});
    CHECK(schedule_of(profile, 4).buckets == std::vector<Bucket>{all});
}

TEST_CASE("a send is launched early by its sender and, by its receiver, where it is needed", "[schedule]") {
    const Profile profile = parse_profile(
        {"test.json", R"({"compute": {"forward": "40ms", "backward": "60ms", "optimizer": "5ms"},
        "groups": {"stage": [[2, 0], [1, 3]]},
        "gradients": {"bucketing": "explicit", "buckets": [
        {"bytes": 4, "collective": "send", "group": "stage", "ready_after": "30ms", "needed_at": "0s"}]}})",
         ""});
    const Bucket sender{{1, Collective::send, 4}, 0, 0, 30ms, 105ms};
    const Bucket receiver{{1, Collective::send, 4}, 0, 0, 0ms, 0ms};
    for (const int rank : {2, 1})
        CHECK(schedule_of(profile, rank).buckets == std::vector<Bucket>{sender});
    for (const int rank : {0, 3})
        CHECK(schedule_of(profile, rank).buckets == std::vector<Bucket>{receiver});
    CHECK(schedule_of(profile, 4).buckets.empty());
}

TEST_CASE("computing launches what is ready before it waits for what is needed", "[schedule]") {
    IterationSchedule schedule;
    schedule.compute = 30ms;
    schedule.buckets = {{{.bytes = 1}, 0, 0, 0ms, 10ms}, // needed where the third is launched: waits first
                        {{.bytes = 1}, 1, 0, 5ms, 20ms},
                        {{.bytes = 1}, 2, 0, 10ms, 10ms}}; // blocks where it is launched
    using Kind = ComputeStep::Kind;
    CHECK(compute_steps(schedule) == std::vector<ComputeStep>{{0ms, 0, Kind::launch},
                                                              {5ms, 1, Kind::launch},
                                                              {10ms, 0, Kind::wait},
                                                              {10ms, 2, Kind::launch},
                                                              {10ms, 2, Kind::wait},
                                                              {20ms, 1, Kind::wait}});
}
