#include "generator/schedule.hpp"
#include "tests/catch.hpp"

#include <fstream>
#include <iterator>
#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;

namespace {

/// Three units of 4, 8 (two tensors) and 12 bytes; backward is over with the last after 0.5, with the middle
/// one after 0.8. Forward 10 ms, backward 20 ms, optimizer 1 ms.
Profile three_unit_profile(const std::string& gradients, const std::string& compute = "",
                           const std::vector<Override>& changes = {}) {
    const std::string model = R"({"format": "gradburst-model/1", "name": "small",
        "totals": {"parameters": 6, "tensors": 4}, "buffers": {"fp32_elements": 0, "int64_elements": 0},
        "units": [{"name": "first", "tensors": 1}, {"name": "middle", "tensors": 2}, {"name": "last", "tensors": 1}],
        "tensors": [
        {"name": "a", "shape": [1], "elements": 1, "ready_order": 3, "ready": {"arithmetic": 1, "fp32": 1, "tensor": 1}},
        {"name": "b", "shape": [1], "elements": 1, "ready_order": 2, "ready": {"arithmetic": 1, "fp32": 0.8, "tensor": 1}},
        {"name": "c", "shape": [1], "elements": 1, "ready_order": 1, "ready": {"arithmetic": 1, "fp32": 0.6, "tensor": 1}},
        {"name": "d", "shape": [3], "elements": 3, "ready_order": 0, "ready": {"arithmetic": 1, "fp32": 0.5, "tensor": 1}}]})";
    return parse_profile({"test.json",
                          R"({"model": {"tensors": "small.json"}, "compute": {"forward": "10ms",
        "backward": "20ms", "optimizer": "1ms")" +
                              compute + R"(}, "gradients": {"overlap": true, )" + gradients + "}}",
                          model},
                         changes);
}

/// What happens, in launch order: collective, bytes, launch, need.
struct Step {
    Collective collective;
    std::uint64_t bytes;
    nanoseconds ready_after;
    nanoseconds needed_at;

    bool operator==(const Step&) const = default;
};

std::vector<Step> steps(const Profile& profile) {
    std::vector<Step> result;
    for (const WorkloadBucket& bucket : make_workload(profile, 1).later_iterations)
        result.push_back({bucket.collective, bucket.bytes, bucket.ready_after, bucket.needed_at});
    return result;
}

constexpr Collective gather = Collective::all_gather;
constexpr Collective scatter = Collective::reduce_scatter;

} // namespace

TEST_CASE("fsdp gathers each unit ahead of its passes and reduces it after", "[sharding]") {
    // Forward starts of the units: 0, 0.2 x 10 = 2, 0.5 x 10 = 5 ms. Backward starts at 10: the last unit
    // until 0.5 x 20 = 20, the middle one until 26, the first until 30 ms.
    CHECK(steps(three_unit_profile(R"("sharding": "fsdp")")) ==
          std::vector<Step>{{gather, 4, 0ms, 0ms},
                            {gather, 8, 0ms, 2ms},
                            {gather, 12, 2ms, 5ms}, // stays for backward
                            {gather, 8, 10ms, 20ms},
                            {scatter, 12, 20ms, 30ms},
                            {gather, 4, 20ms, 26ms},
                            {scatter, 8, 26ms, 30ms},
                            {scatter, 4, 30ms, 30ms}});
    CHECK(make_workload(three_unit_profile(R"("sharding": "fsdp")"), 1).compute == 31ms);
}

TEST_CASE("without prefetch fsdp computes nothing while it gathers", "[sharding]") {
    for (const Step& step : steps(three_unit_profile(R"("sharding": "fsdp", "prefetch": 0)")))
        CHECK((step.collective == scatter || step.ready_after == step.needed_at));
}

TEST_CASE("without overlap fsdp reduces after backward", "[sharding]") {
    for (const Step& step :
         steps(three_unit_profile(R"("sharding": "fsdp")", "", {{"/gradients/overlap", "false", "test"}})))
        CHECK((step.collective == gather || step.ready_after == 30ms));
}

TEST_CASE("with accumulation fsdp gathers in every step and reduces in the last", "[sharding]") {
    const std::vector<Step> all =
        steps(three_unit_profile(R"("sharding": "fsdp")", R"(, "accumulation_steps": 2)"));
    REQUIRE(all.size() == 13); // 3 + 2 gathers, twice, and 3 reduce-scatters
    for (const Step& step : all)
        CHECK((step.collective == gather || step.ready_after >= 50ms)); // 30 + 20
    CHECK(all[5] == Step{gather, 4, 30ms, 30ms});
}

TEST_CASE("fsdp moves three times the parameters, less the unit that is kept", "[sharding]") {
    std::uint64_t bytes = 0;
    for (const Step& step : steps(three_unit_profile(R"("sharding": "fsdp")")))
        bytes += step.bytes; // each collective sends (N-1)/N of it per rank
    CHECK(bytes == 3 * 24 - 12);
}

TEST_CASE("fsdp of Llama-2-7B moves its 13.5 GB three times, less its last unit", "[sharding]") {
    const std::string text = R"({"model": {"tensors": "llama2-7b.json", "element_type": "bf16"},
        "compute": {"time": "2s"}, "gradients": {"sharding": "fsdp", "overlap": true}})";
    std::ifstream file(GRADBURST_SOURCE_DIR "/profiles/models/llama2-7b.json");
    const Profile llama = parse_profile({"test.json", text, {std::istreambuf_iterator<char>(file), {}}});
    const std::size_t kept = llama.model.units.back().tensors;
    std::uint64_t kept_bytes = 0;
    for (std::size_t i = llama.model.tensors.size() - kept; i < llama.model.tensors.size(); ++i)
        kept_bytes += 2 * llama.model.tensors[i].elements;
    std::uint64_t bytes = 0;
    for (const Step& step : steps(llama))
        bytes += step.bytes;
    CHECK(bytes == 3 * 2 * 6'738'415'616 - kept_bytes);
}

TEST_CASE("zero1 reduces and gathers each bucket: twice the parameters", "[sharding]") {
    // Per rank (N-1)/N of each. The parameters are gathered when the optimizer has updated them.
    CHECK(
        steps(three_unit_profile(
            R"("sharding": "zero1", "bucketing": "ddp", "first_bucket_bytes": 1, "bucket_cap_bytes": 8)")) ==
        std::vector<Step>{{scatter, 12, 20ms, 30ms},
                          {scatter, 8, 26ms, 30ms},
                          {scatter, 4, 30ms, 30ms},
                          {gather, 12, 31ms, 31ms},
                          {gather, 8, 31ms, 31ms},
                          {gather, 4, 31ms, 31ms}});
    const Workload workload =
        make_workload(three_unit_profile(R"("sharding": "zero1", "bucketing": "ddp")"), 1);
    CHECK(workload.first_iteration.size() == 2); // the whole model at once
    CHECK(workload.compute == 31ms);
}
