#include "generator/workload.hpp"
#include "tests/catch.hpp"
#include "tests/profiles.hpp"
#include "tests/workloads.hpp"

#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::set;
using tests::sum;

namespace {

constexpr std::uint64_t resnet50_bytes = 102'228'128; // 25,557,032 parameters of 4 bytes

Profile resnet50(const std::vector<Override>& changes = {}) {
    const std::string path = GRADBURST_SOURCE_DIR "/profiles/resnet50-ddp.json";
    return parse_profile(load_profile(path, {}), changes);
}

const Override without_broadcasts = set("/gradients/broadcast_buffers", "false");

std::vector<std::uint64_t> bytes(const std::vector<WorkloadBucket>& buckets) {
    std::vector<std::uint64_t> result;
    for (const WorkloadBucket& bucket : buckets)
        result.push_back(bucket.bytes);
    return result;
}

/// Of the backward pass of resnet50-ddp.
double ready_fraction(const WorkloadBucket& bucket) {
    const ComputeTimes compute = resnet50().compute;
    return static_cast<double>((bucket.ready_after - compute.forward).count()) /
           static_cast<double>(compute.backward.count());
}

} // namespace

TEST_CASE("ResNet-50 under DDP is sent as the five buckets of real runs", "[workload]") {
    const std::vector<WorkloadBucket> buckets =
        make_workload(resnet50({without_broadcasts}), 1).later_iterations;
    CHECK(bytes(buckets) ==
          std::vector<std::uint64_t>{8'196'000, 31'502'336, 26'255'360, 26'550'272, 9'724'160});
    CHECK(sum(bytes(buckets)) == resnet50_bytes);
    const std::vector<std::size_t> tensors{2, 15, 12, 51, 81}; // 161 in all
    const std::vector<double> ready{0.000375, 0.078183, 0.142201, 0.424867, 1.0};
    REQUIRE(buckets.size() == 5);
    for (std::size_t i = 0; i < 5; ++i) {
        CHECK(buckets[i].tensors == tensors[i]);
        CHECK(ready_fraction(buckets[i]) == Approx(ready[i]).margin(1e-8));
        CHECK(buckets[i].collective == Collective::all_reduce);
    }
}

TEST_CASE("a cap of 4 MiB cuts ResNet-50 into the 19 buckets of a live DDP run", "[workload]") {
    const Profile profile = resnet50({without_broadcasts, set("/gradients/first_bucket_bytes", "\"4MiB\""),
                                      set("/gradients/bucket_cap_bytes", "\"4MiB\"")});
    const std::vector<std::uint64_t> sizes = bytes(make_workload(profile, 1).later_iterations);
    CHECK(sizes == std::vector<std::uint64_t>{8'196'000, 4'210'688, 9'441'280, 4'198'400, 4'210'688,
                                              9'441'280, 4'198'400, 8'404'992, 4'210'688, 9'441'280,
                                              5'519'360, 4'468'736, 4'468'736, 4'468'736, 4'468'736,
                                              4'212'736, 4'274'176, 4'338'176, 55'040});
    CHECK(sum(sizes) == resnet50_bytes);
}

TEST_CASE("ResNet-50 held in fp16 is sent as three buckets", "[workload]") {
    const Workload workload =
        make_workload(resnet50({without_broadcasts, set("/model/element_type", "\"fp16\"")}), 1);
    CHECK(workload.element_bytes == 2);
    CHECK(bytes(workload.later_iterations) ==
          std::vector<std::uint64_t>{4'098'000, 28'878'848, 18'137'216}); // 51,114,064 B = half of fp32
    CHECK(bytes(workload.first_iteration) == std::vector<std::uint64_t>{resnet50_bytes / 2});
}

TEST_CASE("DDP sends the whole model as one bucket in the first iteration", "[workload]") {
    const Workload workload = make_workload(resnet50({without_broadcasts}), 1);
    CHECK(bytes(workload.buckets(0)) == std::vector<std::uint64_t>{resnet50_bytes});
    CHECK(workload.buckets(0)[0].tensors == 161);
    CHECK(ready_fraction(workload.buckets(0)[0]) == 1);
    CHECK(workload.buckets(1).size() == 5);
    CHECK(workload.buckets(19).size() == 5);

    const Workload alike =
        make_workload(resnet50({without_broadcasts, set("/gradients/first_iteration_single", "false")}), 1);
    CHECK(bytes(alike.buckets(0)) == bytes(alike.buckets(1)));
}

TEST_CASE("batch-norm buffers are broadcast before each forward pass", "[workload]") {
    const Workload workload = make_workload(resnet50(), 1);
    for (const std::uint32_t iteration : {0u, 1u}) {
        const std::vector<WorkloadBucket>& buckets = workload.buckets(iteration);
        CHECK(buckets.size() == (iteration == 0 ? 3 : 7));
        CHECK(buckets[0].bytes == 212'480); // 53,120 float32
        CHECK(buckets[1].bytes == 424);     // 53 int64
        for (std::size_t i = 0; i < buckets.size(); ++i) {
            CHECK((buckets[i].ready_after == 0ms) == (i < 2));
            CHECK(buckets[i].collective == (i < 2 ? Collective::broadcast : Collective::all_reduce));
        }
    }
}

TEST_CASE("without overlap every bucket waits for the end of backward", "[workload]") {
    for (const WorkloadBucket& bucket :
         make_workload(resnet50({without_broadcasts, set("/gradients/overlap", "false")}), 1)
             .later_iterations)
        CHECK(ready_fraction(bucket) == 1);
}

TEST_CASE("bucketing single sends one bucket after backward, every time", "[workload]") {
    const Workload workload =
        make_workload(resnet50({without_broadcasts, set("/gradients/bucketing", "\"single\"")}), 1);
    for (const std::uint32_t iteration : {0u, 1u}) {
        REQUIRE(workload.buckets(iteration).size() == 1);
        CHECK(workload.buckets(iteration)[0].bytes == resnet50_bytes);
        CHECK(ready_fraction(workload.buckets(iteration)[0]) == 1);
    }
}

TEST_CASE("bucketing per_tensor sends each gradient alone, as it becomes ready", "[workload]") {
    const std::vector<WorkloadBucket> buckets =
        make_workload(resnet50({without_broadcasts, set("/gradients/bucketing", "\"per_tensor\"")}), 1)
            .later_iterations;
    REQUIRE(buckets.size() == 161);
    CHECK(buckets.front().bytes == 4'000);    // fc.bias: 1000 classes
    CHECK(buckets[1].bytes == 8'192'000);     // fc.weight: 1000 x 2048
    CHECK(buckets.back().bytes == 9'408 * 4); // conv1.weight: 64 x 3 x 7 x 7
    for (std::size_t i = 1; i < buckets.size(); ++i)
        CHECK(ready_fraction(buckets[i]) >= ready_fraction(buckets[i - 1]));
    CHECK(sum(bytes(buckets)) == resnet50_bytes);
}

TEST_CASE("the uniform curve spreads the gradients evenly over backward", "[workload]") {
    const std::vector<WorkloadBucket> buckets =
        make_workload(resnet50({without_broadcasts, set("/gradients/bucketing", "\"per_tensor\""),
                                set("/compute/ready_curve", "\"uniform\"")}),
                      1)
            .later_iterations;
    CHECK(ready_fraction(buckets[0]) == Approx(1.0 / 161).epsilon(1e-6));
    CHECK(ready_fraction(buckets[79]) == Approx(80.0 / 161));
    CHECK(ready_fraction(buckets[160]) == 1);
}

TEST_CASE("explicit buckets are sent as given, at the times given", "[workload]") {
    const Profile profile =
        parse_profile({"test.json", R"({"gradients": {"bucketing": "explicit", "buckets": [
        {"bytes": 1000, "ready_after": "1ms"}, {"bytes": "2MiB", "ready_after": "5ms"}]}})",
                       ""});
    const Workload workload = make_workload(profile, 1);
    CHECK(bytes(workload.first_iteration) == std::vector<std::uint64_t>{1'000, 2'097'152});
    CHECK(workload.later_iterations[0].ready_after == 1ms);
    CHECK(workload.later_iterations[1].ready_after == 5ms);
}

TEST_CASE("scaled sizes are whole elements, and at least one", "[workload]") {
    CHECK(scale_bytes(1'000, 0.01, 4) == 12); // 250 elements x 0.01 = 2.5, rounded away from zero
    CHECK(scale_bytes(1'001, 1, 4) == 1'001); // not scaled: as given
    CHECK(scale_bytes(1'000, 0.5, 4) == 500);
    CHECK(scale_bytes(10, 1.5, 4) == 16); // 15 B = 3.75 elements
    CHECK(scale_bytes(8'196'000, 1e-9, 4) == 4);
    CHECK(scale_bytes(8'196'000, 1e-9, 2) == 2);
    CHECK(scale_bytes(0, 5, 4) == 0);
    CHECK(scale_bytes(4'294'967'296, 3, 4) == 12'884'901'888); // 12 GiB: no 32-bit anywhere
}

TEST_CASE("a scaled ResNet-50 keeps five buckets in proportion", "[workload]") {
    // 8,196,000 / 4 x 0.01 = 20,490 elements; 31,502,336 / 400 = 78,755.84; 65,638.4; 66,375.68; 24,310.4
    CHECK(bytes(make_workload(resnet50({without_broadcasts}), 0.01).later_iterations) ==
          std::vector<std::uint64_t>{20'490 * 4, 78'756 * 4, 65'638 * 4, 66'376 * 4, 24'310 * 4});
}

TEST_CASE("bytes are scaled by line rate over reference rate", "[workload]") {
    const BitRate reference{100'000'000'000};
    CHECK(byte_scale({}, std::nullopt) == 1);
    CHECK(byte_scale({.bytes = 0.5}, BitRate{1}) == 0.5); // without a reference rate
    CHECK(byte_scale({.bytes = 0.5, .reference_rate = reference}, std::nullopt) == 0.5);
    CHECK(byte_scale({.bytes = 0.5, .reference_rate = reference}, BitRate{10'000'000'000}) == Approx(0.05));
    CHECK(byte_scale({.reference_rate = reference}, BitRate{400'000'000'000}) == Approx(4));
}
