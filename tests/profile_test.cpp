#include "generator/profile.hpp"
#include "tests/catch.hpp"
#include "tests/profiles.hpp"

#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::error_of;
using tests::parse;

namespace {

/// A profile of one explicit bucket, with further sections ("\"run\": {...}").
std::string with(const std::string& sections) {
    return R"({"gradients": {"bucketing": "explicit", "buckets": [{"bytes": 1024}]})" +
           (sections.empty() ? "" : ", " + sections) + "}";
}

std::string gradients(const std::string& fields) {
    return "{\"gradients\": {" + fields + "}}";
}

std::string one_bucket(const std::string& fields) {
    return gradients(R"("bucketing": "explicit", "buckets": [{)" + fields + "}]");
}

} // namespace

TEST_CASE("what a profile leaves out has the documented default", "[profile]") {
    const Profile profile = parse(with(""));
    Profile expected;
    expected.name = "test";
    expected.gradients.bucketing = Bucketing::explicit_list;
    expected.gradients.buckets = {{1024, 0ns}};
    CHECK(profile == expected);
    CHECK(profile.run.iterations == 20U);
}

TEST_CASE("sizes, times and rates take text with a unit or a number", "[profile]") {
    CHECK(parse(one_bucket("\"bytes\": \"25MiB\"")).gradients.buckets[0].bytes == 26'214'400);
    CHECK(parse(one_bucket("\"bytes\": 5, \"ready_after\": \"12ms\"")).gradients.buckets[0].ready_after ==
          12ms);
    CHECK(parse(one_bucket("\"bytes\": 5, \"ready_after_us\": 1200")).gradients.buckets[0].ready_after ==
          1200us);
    CHECK(parse(one_bucket("\"bytes\": 5, \"ready_after_ms\": 0.5")).gradients.buckets[0].ready_after ==
          500us);
    CHECK(parse(with(R"("network": {"line_rate": "10Gbit"})")).network.line_rate == BitRate{10'000'000'000});
    CHECK(parse(with(R"("network": {"line_rate_bits_per_second": 7})")).network.line_rate == BitRate{7});
}

TEST_CASE("compute times are split by shares and add up to the total", "[profile]") {
    // 96 / 92.7 s = 1.035598706 s; 32 % = 331.391586 ms; 3 % = 31.067961 ms; the rest is backward.
    const ComputeTimes compute =
        parse(with(R"("compute": {"images_per_second": 92.7, "batch": 96})")).compute;
    CHECK(compute == ComputeTimes{331'391'586ns, 673'139'159ns, 31'067'961ns});
    CHECK(compute.total() == 1'035'598'706ns);
    CHECK(parse(with(R"("compute": {"time": "100ms"})")).compute == ComputeTimes{32ms, 65ms, 3ms});
    CHECK(parse(with(R"("compute": {"forward_ms": 3, "backward": "5ms"})")).compute ==
          ComputeTimes{3ms, 5ms, 0ms});
}

TEST_CASE("ports are auto, one port or a range", "[profile]") {
    const auto ports = [](const std::string& value) {
        return parse(with("\"network\": {\"ports\": " + value + "}")).network.ports;
    };
    CHECK(ports("\"auto\"") == PortRange{0, 0});
    CHECK(ports("\"42000-42063\"") == PortRange{42000, 42063});
    CHECK(ports("42000") == PortRange{42000, 42000});
    for (const char* wrong :
         {"\"0-5\"", "65536", "\"1-2-3\"", "\"-5\"", "\"5-\"", "-1", "1.5", "[1]", "\"\"", "0"}) {
        CHECK_THAT(
            error_of(with(std::string("\"network\": {\"ports\": ") + wrong + "}")),
            Catch::Matchers::StartsWith("test.json: /network/ports: must be \"auto\", a port, or a range"));
    }
    CHECK(error_of(with(R"("network": {"ports": "9-8"})")) ==
          "test.json: /network/ports: must not end before it starts, is \"9-8\"");
}

TEST_CASE("a profile with a duration alone has no limit of iterations", "[profile]") {
    CHECK(parse(with(R"("run": {"duration": "60s"})")).run.iterations == std::nullopt);
    CHECK(parse(with(R"("run": {"duration": "60s", "iterations": 7})")).run.iterations == 7U);
}

TEST_CASE("a misspelt key is an error with its path and the nearest known key", "[profile]") {
    CHECK(error_of(gradients("\"bukcet_mb\": 25")) ==
          "test.json: /gradients/bukcet_mb: unknown key; did you mean \"bucketing\"? known keys: bucketing, "
          "first_bucket_bytes, bucket_cap_bytes, fusion_threshold, cycle_time, partition_bytes, "
          "first_iteration_single, overlap, broadcast_buffers, sharding, prefetch, buckets");
    CHECK_THAT(
        error_of(with(R"("rnu": {})")),
        Catch::Matchers::StartsWith("test.json: /rnu: unknown key; did you mean \"run\"? known keys: "));
    CHECK_THAT(error_of(with(R"("verdict": {})")),
               Catch::Matchers::StartsWith("test.json: /verdict: unknown key; "));
    CHECK_THAT(error_of(one_bucket("\"byte\": 1")),
               Catch::Matchers::StartsWith("test.json: /gradients/buckets/0/byte: unknown"));
    CHECK_THAT(error_of(with(R"("run": {"seed_ms": 1})")),
               Catch::Matchers::StartsWith("test.json: /run/seed_ms: unknown key"));
    for (const char* field : {R"("description": "\u001b[31mred")", R"("description": "\u009b31m")"})
        CHECK_THAT(error_of(with(field)),
                   Catch::Matchers::StartsWith(
                       "test.json: /description: must not hold control characters, is \"\\"));
    CHECK_THAT(error_of(with(R"("a/b~\u001b": 1)")),
               Catch::Matchers::StartsWith("test.json: /a~1b~0\\u001b: unknown key"));
}

TEST_CASE("each rule names the path, the rule and the value", "[profile]") {
    const auto [sections, message] = GENERATE(table<std::string, std::string>({
        {R"("run": {"iterations": 0})", "/run/iterations: must be at least 1, is 0"},
        {R"("run": {"iterations": -5})", "/run/iterations: must be at least 1, is -5"},
        {R"("run": {"iterations": 2.5})", "/run/iterations: must be a whole number, is 2.5"},
        {R"("run": {"iterations": 4294967296})",
         "/run/iterations: must be at most 4294967295, is 4294967296"},
        {R"("run": {"iterations": "20"})", "/run/iterations: must be a whole number, is \"20\""},
        {R"("run": {"iterations": 3, "warmup": 3})",
         "/run/warmup: must be less than /run/iterations, 3, is 3"},
        {R"("run": {"verify": 1})", "/run/verify: must be true or false, is 1"},
        {R"("run": {"verify": true}, "model": {"element_type": "bf16"})",
         "/run/verify: needs /model/element_type \"fp32\", is \"bf16\""},
        {R"("run": [])", "/run: must be an object, is a list"},
        {R"("run": {"duration": 5})",
         "/run/duration: must be text with a unit, is 5 (or give a number as \"duration_ms\")"},
        {R"("run": {"duration": "5s", "duration_ms": 5})",
         "/run/duration_ms: \"duration\" says the same; give one of them"},
        {R"("run": {"duration_s": 1e300})", "/run/duration_s: must be at most 31622400 s, is 1e+300"},
        {R"("collective": {"algorithm": "rnig"})",
         "/collective/algorithm: must be one of ring, server, sharded_server, halving_doubling, "
         "double_binary_tree, hierarchical, is \"rnig\"; did you mean \"ring\"?"},
        {R"("collective": {"service": "sequence"})", "/collective/service: must be one of sequenced, incast, "
                                                     "is \"sequence\"; did you mean \"sequenced\"?"},
        {R"("collective": {"service": "incast"})",
         "/collective/service: incast needs /collective/algorithm \"server\", is \"ring\""},
        {R"("collective": {"segment_bytes": 1023})",
         "/collective/segment_bytes: must be at least 1024, is 1023"},
        {R"("model": {"element_type": 32})", "/model/element_type: must be one of fp32, fp16, bf16, is 32"},
        {R"("scale": {"bytes": 0})", "/scale/bytes: must be at least 1e-09, is 0"},
        {R"("scale": {"reference_rate": "0Gbit"})",
         "/scale/reference_rate: must be greater than 0, is \"0Gbit\""},
        {R"("sampling": {"interval": "10us"})", "/sampling/interval: must be at least 20 us, is \"10us\""},
        {R"("sampling": {"interval": "11s"})", "/sampling/interval: must be at most 10 s, is \"11s\""},
        {R"("network": {"interfaces": [""]})", "/network/interfaces: must not contain an empty name"},
        {R"("network": {"interfaces": [1]})",
         "/network/interfaces: must be text or a list of texts, is a list"},
        {R"("network": {"congestion_control": "../bbr"})",
         "/network/congestion_control: must be the name of a kernel module such as \"cubic\" or \"bbr\""},
        {R"("compute": {"time": "1s", "batch": 3})",
         "/compute: give one of: time; images_per_second and batch; forward, backward and optimizer"},
        {R"("compute": {"batch": 3})",
         "/compute/images_per_second: required, because images_per_second and batch belong together"},
        {R"("compute": {"forward": "1s"})", "/compute/backward: required, because the times are given one by "
                                            "one (forward, backward, optimizer)"},
        {R"("compute": {"time": "1s", "forward_share": 0.5})",
         "/compute: forward_share + backward_share + optimizer_share must be 1, is 0.5 + 0.65 + 0.03 = 1.18"},
        {R"("compute": {"time_ms": -1})", "/compute/time_ms: must be at least 0 s, is -1"},
        {R"("compute": {"jitter": {"drift_rho": 1}})",
         "/compute/jitter/drift_rho: must be at most 0.9999, is 1"},
        {R"("model": {"tensors": "x.json"})", "/model/tensors: x.json: is empty; expected a JSON object"},
    }));
    CHECK(error_of(with(sections)) == "test.json: " + message);
}

TEST_CASE("buckets come from tensors or from the profile, never from both or neither", "[profile]") {
    CHECK(error_of("{}") ==
          "test.json: /model/tensors: required, because /gradients/bucketing is \"single\"");
    CHECK(error_of(gradients(R"("bucketing": "explicit")")) ==
          "test.json: /gradients/buckets: required, because /gradients/bucketing is \"explicit\"");
    CHECK(error_of(one_bucket(R"("bytes": 1}, {"ready_after": "1ms")")) ==
          "test.json: /gradients/buckets/1/bytes: required");
    CHECK(error_of(one_bucket(R"("bytes": 1, "ready_after": "2ms"}, {"bytes": 1, "ready_after": "1ms")")) ==
          "test.json: /gradients/buckets/1/ready_after: must not be before the previous bucket's, 2 ms, is 1 "
          "ms");
}

TEST_CASE("sizes up to 2^63 - 1 are kept and beyond are refused, never wrapped", "[profile]") {
    for (const std::uint64_t bytes :
         {2'147'483'644ULL, 2'147'483'648ULL, 4'294'967'300ULL, 9'223'372'036'854'775'807ULL}) {
        CHECK(parse(one_bucket("\"bytes\": " + std::to_string(bytes))).gradients.buckets[0].bytes == bytes);
    }
    const std::string place = "test.json: /gradients/buckets/0/bytes: ";
    CHECK(error_of(one_bucket("\"bytes\": 9223372036854775808")) ==
          place + "must be at most 9223372036854775807, is 9223372036854775808");
    CHECK(error_of(one_bucket("\"bytes\": 18446744073709551617")) ==
          place + "must be at most 9223372036854775807, is 1.8446744073709552e+19");
    CHECK(error_of(one_bucket("\"bytes\": -1")) == place + "must be at least 1, is -1");
    CHECK(error_of(one_bucket("\"bytes\": 0.5")) == place + "must be at least 1, is 0.5");
    CHECK(error_of(one_bucket("\"bytes\": 1.5")) == place + "must be a whole number, is 1.5");
    CHECK_THAT(error_of(one_bucket("\"bytes\": \"16EiB\"")), Catch::Matchers::StartsWith(place));
    CHECK_THAT(error_of(one_bucket("\"bytes\": 1e999")), Catch::Matchers::Contains("1e999"));
    CHECK(error_of(one_bucket(R"("bytes": 9223372036854775807}, {"bytes": 1)")) ==
          "test.json: /gradients/buckets/1/bytes: all buckets together must be at most 9223372036854775807");
}

TEST_CASE("a key that stands twice is an error, not the last one silently", "[profile]") {
    CHECK(error_of(R"({"run": {"seed": 1, "seed": 2}})") ==
          "test.json: /run/seed: this key stands twice in one object");
    CHECK(error_of(one_bucket(R"("bytes": 1}, {"bytes": 1, "bytes": 1)")) ==
          "test.json: /gradients/buckets/1/bytes: this key stands twice in one object");
}

TEST_CASE("a syntax error names line and column", "[profile]") {
    CHECK_THAT(error_of("{\n  \"run\": {,}\n}"),
               Catch::Matchers::StartsWith("test.json: line 2, column 11: syntax error"));
    CHECK(error_of(with("") + std::string(1, '\0') + "x") == "test.json: contains a NUL byte; expected text");
    CHECK(error_of(" \n") == "test.json: is empty; expected a JSON object");
}
