#include "generator/workload.hpp"
#include "tests/catch.hpp"
#include "tests/profiles.hpp"
#include "tests/workloads.hpp"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::set;
using tests::sum;

namespace {

/// ResNet-50, fp32 curve, overlapped, T_bwd = 113 ms: the case of the simulation in the reference.
Profile simulated_resnet50(std::vector<Override> changes) {
    changes.insert(changes.end(),
                   {set("/compute/forward", "\"55ms\""), set("/compute/backward", "\"113ms\""),
                    set("/compute/optimizer", "\"5ms\""), set("/gradients/broadcast_buffers", "false")});
    return parse_profile(load_profile(GRADBURST_SOURCE_DIR "/profiles/resnet50-ddp.json", {}), changes);
}

Profile horovod(const std::string& cycle, const std::string& threshold) {
    return simulated_resnet50({set("/gradients/bucketing", "\"horovod\""),
                               set("/gradients/cycle_time", cycle),
                               set("/gradients/fusion_threshold", threshold)});
}

std::vector<std::uint64_t> sorted_bytes(const Profile& profile) {
    std::vector<std::uint64_t> result;
    for (const WorkloadBucket& bucket : make_workload(profile, 1).later_iterations)
        result.push_back(bucket.bytes);
    std::sort(result.begin(), result.end());
    return result;
}

/// Two gradients of 12 and 4 bytes, in this registration order, ready the other way round; times in ms:
/// forward 10, backward 20, optimizer 1.
Profile two_gradient_profile(const std::string& compute, const std::vector<Override>& changes = {}) {
    const std::string model = R"({"format": "gradburst-model/1", "name": "small",
        "totals": {"parameters": 4, "tensors": 2}, "buffers": {"fp32_elements": 0, "int64_elements": 0},
        "tensors": [
        {"name": "w", "shape": [3], "elements": 3, "ready_order": 1, "ready": {"arithmetic": 1, "fp32": 1, "tensor": 1}},
        {"name": "b", "shape": [1], "elements": 1, "ready_order": 0, "ready": {"arithmetic": 0.5, "fp32": 0.5, "tensor": 0.5}}]})";
    return parse_profile({"test.json",
                          R"({"model": {"tensors": "small.json"}, "compute": {"forward": "10ms",
        "backward": "20ms", "optimizer": "1ms")" +
                              compute + R"(},
        "gradients": {"bucketing": "per_tensor", "overlap": true}})",
                          model},
                         changes);
}

} // namespace

TEST_CASE("Horovod with cycles of 1 ms sends ResNet-50 in 75 messages", "[bucketing]") {
    const std::vector<std::uint64_t> bytes = sorted_bytes(horovod("\"1ms\"", "\"128MiB\""));
    REQUIRE(bytes.size() == 75);
    CHECK(bytes[37] == 263'168);      // the median: 0.26 MB
    CHECK(bytes.back() == 9'441'280); // 9.4 MB
    CHECK(sum(bytes) == 102'228'128);
}

TEST_CASE("Horovod's older defaults, 5 ms and 64 MiB, send 23 messages, the four largest 67 %",
          "[bucketing]") {
    const std::vector<std::uint64_t> bytes = sorted_bytes(horovod("\"5ms\"", "\"64MiB\""));
    REQUIRE(bytes.size() == 23);
    CHECK(bytes.back() == 22'044'672); // 22.0 MB
    CHECK(static_cast<double>(sum(std::span(bytes).subspan(19))) / 102'228'128 == Approx(0.67).margin(0.005));
}

TEST_CASE("Horovod with cycles of 3.5 ms sends 33 messages", "[bucketing]") {
    const std::vector<std::uint64_t> bytes = sorted_bytes(horovod("\"3.5ms\"", "\"64MiB\""));
    REQUIRE(bytes.size() == 33);
    CHECK(bytes.back() == 17'850'368); // 17.9 MB
}

TEST_CASE("a Horovod message leaves at the end of its cycle and is needed by the optimizer", "[bucketing]") {
    const Workload workload = make_workload(horovod("\"5ms\"", "\"64MiB\""), 1);
    for (const WorkloadBucket& bucket : workload.later_iterations)
        CHECK((bucket.ready_after - 55ms) % 5ms == 0ms);
    // backward ends after 113 ms, the cycle that sees the last gradient after 115 ms
    CHECK(workload.later_iterations.back().ready_after == 170ms);
    CHECK(workload.later_iterations.front().needed_at == 170ms);
    CHECK(workload.compute == 175ms);
    CHECK(workload.first_iteration.size() == workload.later_iterations.size());
}

TEST_CASE("no Horovod message exceeds the threshold but a gradient that does so alone", "[bucketing]") {
    for (const WorkloadBucket& bucket : make_workload(horovod("\"50ms\"", "\"4MiB\""), 1).later_iterations)
        CHECK((bucket.bytes <= 4 * 1024 * 1024 || bucket.tensors == 1));
}

TEST_CASE("BytePS cuts each gradient into pieces of 4,096,000 bytes", "[bucketing]") {
    const std::vector<WorkloadBucket> buckets =
        make_workload(simulated_resnet50({set("/gradients/bucketing", "\"partitioned\"")}), 1)
            .later_iterations;
    CHECK(buckets[0].bytes == 4'000);     // fc.bias
    CHECK(buckets[1].bytes == 4'096'000); // fc.weight, 8,192,000
    CHECK(buckets[2].bytes == 4'096'000);
    CHECK(buckets[1].ready_after == buckets[2].ready_after);
    std::uint64_t total = 0;
    for (const WorkloadBucket& bucket : buckets) {
        CHECK(bucket.bytes <= 4'096'000);
        total += bucket.bytes;
    }
    CHECK(total == 102'228'128);
}

TEST_CASE("pieces are whole elements", "[bucketing]") {
    const auto pieces = [](const std::string& bytes) {
        std::vector<std::uint64_t> result;
        for (const WorkloadBucket& bucket :
             make_workload(two_gradient_profile("", {set("/gradients/bucketing", "\"partitioned\""),
                                                     set("/gradients/partition_bytes", bytes)}),
                           1)
                 .later_iterations)
            result.push_back(bucket.bytes);
        return result;
    };
    CHECK(pieces("11") == std::vector<std::uint64_t>{4, 8, 4});
    CHECK(pieces("1") == std::vector<std::uint64_t>{4, 4, 4, 4});
}

TEST_CASE("with accumulation the last of the passes sends, and one optimizer follows", "[bucketing]") {
    const Workload workload = make_workload(two_gradient_profile(R"(, "accumulation_steps": 3)"), 1);
    REQUIRE(workload.later_iterations.size() == 2);
    CHECK(workload.later_iterations[0].ready_after == 80ms); // 2 x (10 + 20) + 10 + 0.5 x 20
    CHECK(workload.later_iterations[1].ready_after == 90ms);
    CHECK(workload.later_iterations[0].needed_at == 90ms);
    CHECK(workload.compute == 91ms);
}

TEST_CASE("a ready curve of points says when how many bytes are ready", "[bucketing]") {
    const auto ready = [](const std::string& curve) {
        const std::vector<WorkloadBucket> buckets =
            make_workload(two_gradient_profile(R"(, "ready_curve": )" + curve), 1).later_iterations;
        return std::vector<nanoseconds>{buckets[0].ready_after - 10ms, buckets[1].ready_after - 10ms};
    };
    // the first gradient is 4 of 16 bytes: 0.25 is reached half-way to (0.2, 0.5)
    CHECK(ready("[[0.2, 0.5]]") == std::vector<nanoseconds>{2ms, 20ms});
    CHECK(ready("[[0, 0.25], [1, 1]]") == std::vector<nanoseconds>{0ms, 20ms});       // some is ready at once
    CHECK(ready("[[0.5, 0], [0.75, 1]]") == std::vector<nanoseconds>{11250us, 15ms}); // all before the end
    CHECK(ready("[[0.1, 0.25], [0.6, 0.25]]") == std::vector<nanoseconds>{2ms, 20ms}); // level: the earliest
}
