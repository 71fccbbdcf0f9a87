#include "tests/catch.hpp"
#include "tools/profile_check.hpp"
#include "tools/profile_diff.hpp"

#include <filesystem>

using generator::parse_profile;
using generator::ProfileSource;
using tools::mistakes;

namespace {

const std::string buckets = R"("gradients": {"bucketing": "explicit", "buckets": [{"bytes": 4}]})";

std::vector<std::string> in(const std::string& text) {
    return mistakes({"mine.json", text, ""});
}

using Texts = std::vector<std::string>;

} // namespace

TEST_CASE("a good profile has no mistakes", "[check]") {
    CHECK(in("{" + buckets + "}").empty());
}

TEST_CASE("every mistake is found, each with its place and rule", "[check]") {
    const Texts found =
        in("{" + buckets + R"(, "run": {"seed": -1, "warmup": "x"}, "compute": {"jitter": {"white_sd": 2}},
        "scale": {"bytes": 0}, "sampling": {"interval": "1us"}})");
    CHECK(found == Texts{"mine.json: /compute/jitter/white_sd: must be at most 1, is 2",
                         "mine.json: /scale/bytes: must be at least 1e-09, is 0",
                         "mine.json: /run/warmup: must be a whole number, is \"x\"",
                         "mine.json: /run/seed: must be at least 0, is -1",
                         "mine.json: /sampling/interval: must be at least 20 us, is \"1us\""});
}

TEST_CASE("items of a list keep their numbers when an earlier one is wrong", "[check]") {
    const Texts found = in(R"({"gradients": {"bucketing": "explicit", "buckets": [
        {"bytes": 4}, {"ready_after": "1ms"}, {"bytes": 8, "ready_after": "2ms"}, {"ready_after": "3ms"}]}})");
    CHECK(found == Texts{"mine.json: /gradients/buckets/1/bytes: required",
                         "mine.json: /gradients/buckets/3/bytes: required"});
}

TEST_CASE("a complaint that only leaving out has caused is not passed on", "[check]") {
    // Without the wrong batch its partner would be alone.
    CHECK(in("{" + buckets + R"(, "compute": {"images_per_second": 5, "batch": 0}})") ==
          Texts{"mine.json: /compute/batch: must be at least 1, is 0"});
    CHECK(in(R"({"gradients": {"bucketing": "explicit", "buckets": [{"bytes": 0}]}})") ==
          Texts{"mine.json: /gradients/buckets/0/bytes: must be at least 1, is 0"});
}

TEST_CASE("what is wrong with the file as a whole is the last mistake", "[check]") {
    CHECK(in("[]") == Texts{"mine.json: /: must be an object, is a list"});
    CHECK(in("").size() == 1);
    CHECK(in("{").size() == 1);
    CHECK(in("{" + buckets + R"(, "run": {"seed": 1, "seed": 2}})") ==
          Texts{"mine.json: /run/seed: this key stands twice in one object"});
    CHECK(in("{}") ==
          Texts{"mine.json: /model/tensors: required, because /gradients/bucketing is \"single\""});
    CHECK(in(R"({"a: b": 1, "c~d": 2})").size() >= 1);
}

TEST_CASE("a profile that is wrong in one way has one mistake", "[check]") {
    std::size_t files = 0;
    for (const auto& entry :
         std::filesystem::directory_iterator(GRADBURST_SOURCE_DIR "/tests/data/bad_profiles")) {
        if (entry.path().extension() != ".json")
            continue;
        ++files;
        INFO(entry.path());
        std::size_t found = 1; // when it cannot even be read
        try {
            found = mistakes(generator::load_profile(entry.path().string(), {})).size();
        } catch (const generator::ProfileError&) {
        }
        CHECK(found == 1);
    }
    CHECK(files >= 40);
}

TEST_CASE("profiles differ in the fields that were changed, and only there", "[diff]") {
    const auto profile = [](const std::string& more) {
        return parse_profile({"p.json", "{" + buckets + more + "}", ""});
    };
    CHECK(tools::field_differences(profile(""), profile("")).empty());
    const auto found = tools::field_differences(
        profile(""),
        profile(R"(, "compute": {"time": "100ms"}, "network": {"line_rate": "1Gbit"}, "run": {"seed": 7})"));
    CHECK(found == std::vector<tools::FieldDifference>{{"/compute/backward", "0 s", "65 ms"},
                                                       {"/compute/forward", "0 s", "32 ms"},
                                                       {"/compute/optimizer", "0 s", "3 ms"},
                                                       {"/network/line_rate", "not set", "1 Gbit/s"},
                                                       {"/run/seed", "1", "7"}});
}
