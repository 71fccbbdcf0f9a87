#include "generator/profile.hpp"
#include "tests/catch.hpp"
#include "tests/profiles.hpp"

#include <random>
#include <string>

using namespace generator;
using namespace std::chrono_literals;
using tests::error_of;
using tests::parse;
using tests::shipped_profile;
using tests::shipped_profiles;

namespace {

/// A valid profile that uses every kind of value.
const std::string rich = R"({"$schema": "x", "name": "rich", "description": "d",
 "compute": {"images_per_second": 92.7, "batch": 96, "jitter": {"drift_sd": 0.02, "white_sd": 0.006}},
 "gradients": {"bucketing": "explicit", "buckets": [{"bytes": "1.5MiB", "ready_after": "12ms"}, {"bytes": 7, "ready_after_us": 12000.5}]},
 "network": {"interfaces": ["eth*", "10.0.0.0/8"], "ports": "42000-42063", "congestion_control": "bbr", "line_rate": "25Gbit", "stall_timeout_s": 5},
 "scale": {"bytes": 0.1, "time": 3, "reference_rate": "100Gbit"},
 "run": {"duration": "1min", "seed": 18446744073709551615, "out": "there", "overwrite": true}, "sampling": {"interval": "1ms", "tcp_info": false}})";

/// A profile either parses or is the user's mistake; anything else ends the test.
bool accepted(const ProfileSource& source) {
    try {
        parse_profile(source);
        return true;
    } catch (const ProfileError&) {
        return false;
    }
}

} // namespace

TEST_CASE("the effective profile parses to the same profile and the same text", "[profile]") {
    for (const ProfileListing& listing : list_profiles({GRADBURST_SOURCE_DIR "/profiles"})) {
        INFO(listing.name);
        const ProfileSource source = load_profile(listing.name, {shipped_profiles});
        const Profile profile = parse_profile(source);
        const std::string text = effective_profile_json(profile);
        const Profile again = parse_profile({"other.json", text, source.model_text});
        CHECK((again == profile));
        CHECK(effective_profile_json(again) == text);
        CHECK(profile_hash(again) == profile_hash(profile));
    }
    const Profile profile = parse(rich);
    CHECK((parse(effective_profile_json(profile)) == profile));
}

TEST_CASE("a name that is not UTF-8 does not break the effective profile", "[profile]") {
    const std::string text = R"({"gradients": {"bucketing": "explicit", "buckets": [{"bytes": 1}]}})";
    const Profile profile = parse_profile({"\xff.json", text, ""});
    CHECK(parse(effective_profile_json(profile)).name == "\xef\xbf\xbd"); // U+FFFD, the replacement character
    CHECK(profile_hash(profile).size() == 16);
}

TEST_CASE("the hash does not depend on how the profile is written", "[profile]") {
    const std::string tail = R"("gradients": {"buckets": [{"bytes": )";
    const Profile one =
        parse("{" + tail + R"(1048576}], "bucketing": "explicit"}, "compute": {"time": "20ms"}})");
    const Profile two = parse(
        "{\"compute\":\n {\"time_us\": 20000}, \"name\": \"other\", \"run\": {\"seed\": 1, \"out\": \"x\","
        "\"json\": true, \"dry_run\": true, \"overwrite\": true}, " +
        tail + R"("1MiB", "ready_after": "0s"}], "bucketing": "explicit"}})");
    CHECK(profile_hash(one) == profile_hash(two));
    CHECK(profile_hash(one).size() == 16);
    const Profile bigger =
        parse("{" + tail + R"(1048577}], "bucketing": "explicit"}, "compute": {"time": "20ms"}})");
    CHECK(profile_hash(one) != profile_hash(bigger));
}

TEST_CASE("the hash depends on what changes the traffic, tensors included", "[profile]") {
    const Profile profile = shipped_profile("resnet50");
    Profile changed = profile;
    changed.model.tensors[7].ready_fp32 += 1e-6;
    CHECK(profile_hash(changed) != profile_hash(profile));
    changed = profile;
    changed.run.iterations = 21;
    CHECK(profile_hash(changed) != profile_hash(profile));
    changed = profile;
    changed.run.seed = 2;
    CHECK(profile_hash(changed) != profile_hash(profile));
    changed = profile;
    changed.model_file = "elsewhere.json";
    CHECK(profile_hash(changed) == profile_hash(profile));
}

TEST_CASE("an option sets its field and is named when the value is wrong", "[profile]") {
    CHECK(parse(rich, {{"/scale/bytes", "0.5", "--scale-bytes"}}).scale.bytes == 0.5);
    CHECK(parse(rich, {{"/compute/jitter/drift_sd", "0", "--jitter"}}).jitter.drift_sd == 0);
    CHECK(parse(rich, {{"/collective/segment_bytes", "\"1MiB\"", "--segment"}}).collective.segment_bytes ==
          1048576);
    CHECK(error_of(rich, {{"/run/iterations", "0", "--iterations"}}) ==
          "--iterations: must be at least 1, is 0");
    CHECK(error_of(rich, {{"/run/iterations", "1", "--iterations"}}) ==
          "--iterations: must be more than /run/warmup, 1, is 1; --warmup 0 measures every iteration");
    CHECK(error_of(rich, {{"/run/warmup", "5", "--warmup"}, {"/run/iterations", "5", "--iterations"}}) ==
          "--warmup: must be less than /run/iterations, 5, is 5");
    CHECK_THAT(error_of(rich, {{"/run/seed", "{", "--seed"}}), Catch::Matchers::StartsWith("--seed: line 1"));
    CHECK_THAT(error_of(rich, {{"/run/sede", "1", "--sede"}}),
               Catch::Matchers::StartsWith("--sede: unknown key"));
    CHECK_THAT(error_of(rich, {{"/model/tensors", "\"x\"", "--model"}}),
               Catch::Matchers::StartsWith("--model: "));
    CHECK(error_of(R"({"run": 5})", {{"/run/seed", "1", "--seed"}}) ==
          "--seed: test.json: /run is 5, which has no fields");
    CHECK(error_of(R"({"run": "x"})", {}) == "test.json: /run: must be an object, is \"x\"");
}

TEST_CASE("an option reaches into lists by JSON pointer", "[profile]") {
    const std::string text =
        R"({"gradients": {"bucketing": "explicit", "buckets": [{"bytes": 7, "ready_after": "1ms"}]},
        "run": {"iterations": 2}, "compute": {"time": "1s", "stragglers": [{"ranks": [0], "factor": 2}, {"ranks": [1], "factor": 3}]}})";
    const std::string factor = "/compute/stragglers/1/factor";
    CHECK(parse(text, {{factor, "4", "--set " + factor}}).stragglers.at(1).factor == 4);
    CHECK(parse(text, {{factor, "4", "--set " + factor}}).stragglers.at(0).factor == 2);
    CHECK_THAT(error_of(text, {{factor, "-1", "--set " + factor}}),
               Catch::Matchers::StartsWith("--set /compute/stragglers/1/factor: must be "));
    for (const std::string index : {"2", "-1", "-", "01", "x"}) {
        const std::string list = "/compute/stragglers/" + index;
        for (const std::string& pointer : {list, list + "/factor"}) {
            CHECK(error_of(text, {{pointer, "4", "--set"}}) ==
                  "--set: the list /compute/stragglers has 2 elements, counted from 0");
        }
    }
    CHECK(error_of(text, {{"/gradients/buckets/1/bytes", "4", "--set"}}) ==
          "--set: the list /gradients/buckets has 1 element, counted from 0");
}

TEST_CASE("what an option needs and the profile lacks is the option's mistake, not the file's", "[profile]") {
    for (const std::string index : {"0", "12", "-"}) {
        CHECK(error_of(rich, {{"/compute/stragglers/" + index + "/factor", "4", "--set"}}) ==
              "--set: the profile has no list /compute/stragglers; set the whole list, --set "
              "'/compute/stragglers=[...]'");
    }
    CHECK_THAT(
        error_of(rich, {{"/comput/time", "4", "--set /comput/time"}}),
        Catch::Matchers::StartsWith("--set /comput/time: /comput: unknown key; did you mean \"compute\"?"));
    CHECK(error_of(rich, {{"/run/seed/low", "4", "--set"}}) ==
          "--set: test.json: /run/seed is 18446744073709551615, which has no fields");
    CHECK(error_of(rich, {{"/compute/stragglers", "[{}]", "--set"}}) ==
          "--set: /compute/stragglers/0/ranks: required");
}

TEST_CASE("a field and what is around it are not set by two options", "[profile]") {
    const Override whole{"/collective", R"({"channels": 3})", "--set /collective"};
    const Override part{"/collective/channels", "2", "--channels"};
    CHECK(error_of(rich, {part, whole}) ==
          "--set /collective: sets what --channels sets too (/collective/channels); give one of them");
    CHECK(error_of(rich, {whole, part}) ==
          "--channels: sets what --set /collective sets too (/collective/channels); give one of them");
}

TEST_CASE("two options that set the same field, and one that sets none, are refused", "[profile]") {
    CHECK(error_of(rich, {{"/run/seed", "1", "--set /run/seed"}, {"/run/seed", "2", "--set /run/seed"}}) ==
          "--set /run/seed: set twice");
    CHECK(error_of(rich, {{"/run/seed", "1", "--seed"}, {"/run/seed", "2", "--set /run/seed"}}) ==
          "--set /run/seed: set twice, by --seed too");
    for (const std::string pointer : {"", "seed", "/run/~2"}) {
        CHECK(error_of(rich, {{pointer, "1", "--set"}}) ==
              "--set: sets no field of a profile: \"" + pointer + '"');
    }
    CHECK_THAT(error_of(rich, {{"/run/a~1b", "1", "--set"}}),
               Catch::Matchers::StartsWith("--set: unknown key"));
}

TEST_CASE("an option replaces the other ways in which the profile says the same", "[profile]") {
    CHECK(parse(rich, {{"/compute/time", "\"100ms\"", "--compute"}}).compute.total() == 100ms);
    CHECK(parse(rich, {{"/network/stall_timeout", "\"9s\"", "--stall"}}).network.stall_timeout == 9s);
    const RunSettings counted = parse(rich, {{"/run/iterations", "5", "--iterations"}}).run;
    CHECK(counted.iterations == 5U);
    CHECK(counted.duration == std::nullopt);
    const std::vector<Override> both{{"/run/iterations", "5", "--iterations"},
                                     {"/run/duration", "\"9s\"", "--duration"}};
    CHECK(parse(rich, both).run.iterations == 5U);
    CHECK(parse(rich, both).run.duration == 9s);
    const Profile timed = parse_profile(load_profile("resnet50", {shipped_profiles}),
                                        {{"/run/duration", "\"60s\"", "--duration"}});
    CHECK(timed.run.iterations == std::nullopt);
    const Profile batch =
        parse_profile(load_profile("resnet50", {shipped_profiles}), {{"/compute/batch", "9270", "--batch"}});
    CHECK(batch.compute.total() == 100s);
}

TEST_CASE("no prefix of a profile does anything but parse or fail cleanly", "[profile]") {
    for (std::size_t length = 0; length < rich.size(); ++length) {
        CHECK_FALSE(accepted({"test.json", rich.substr(0, length), ""}));
    }
    CHECK(accepted({"test.json", rich, ""}));
}

TEST_CASE("no damaged byte makes the parser crash", "[profile]") {
    std::mt19937 random(1);
    for (int round = 0; round < 5000; ++round) {
        std::string text = rich;
        for (int flips = 0; flips <= round % 3; ++flips) {
            text[random() % text.size()] = static_cast<char>(random() % 256);
        }
        accepted({"test.json", text, ""});
    }
    const ProfileSource source = load_profile("resnet50", {shipped_profiles});
    for (int round = 0; round < 40; ++round) {
        ProfileSource damaged = source;
        damaged.model_text[random() % damaged.model_text.size()] = static_cast<char>(random() % 256);
        accepted(damaged);
        damaged.model_text.resize(random() % damaged.model_text.size());
        CHECK_FALSE(accepted(damaged));
    }
}

TEST_CASE("deep nesting is refused, not followed until the stack ends", "[profile]") {
    CHECK_FALSE(accepted({"test.json", std::string(1'000'000, '['), ""}));
    CHECK_FALSE(
        accepted({"test.json", "{\"run\": " + std::string(40, '[') + std::string(40, ']') + "}", ""}));
}
