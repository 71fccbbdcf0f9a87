#include "generator/profile.hpp"
#include "generator/profile_ranks.hpp"
#include "tests/catch.hpp"
#include "tests/profiles.hpp"
#include "tests/text.hpp"

#include <filesystem>
#include <fstream>

using namespace generator;
using tests::error_of;
using tests::message_of;
using tests::parse;

namespace {

std::string with_background(const std::string& entries) {
    return R"({"gradients": {"bucketing": "explicit", "buckets": [{"bytes": 1024}]}, "background": [)" +
           entries + "]}";
}

/// Without the fields that `more` gives.
std::string flow_of(const std::string& more, const std::string& message = "\"64KiB\"") {
    std::string entry = R"({"pattern": "poisson", "message": )" + message + more;
    for (const auto& [key, value] :
         {std::pair{"from", "[0]"}, std::pair{"to", "\"all\""}, std::pair{"rate", "\"200Mbit\""}})
        if (more.find(std::string(1, '"') + key + '"') == std::string::npos)
            entry += std::string(", \"") + key + "\": " + value;
    return entry + "}";
}

std::string query_of(const std::string& more) {
    return R"({"pattern": "incast", "from": "all", "to": [0], "message": 1000)" + more + "}";
}

std::string rule_for(const std::string& entry) {
    const std::string prefix = "test.json: /background/0";
    const std::string error = error_of(with_background(entry));
    REQUIRE(error.find(prefix) == 0);
    return error.substr(prefix.size());
}

} // namespace

TEST_CASE("a profile without background traffic has the hash that it always had", "[profile]") {
    CHECK(parse(with_background("")) == parse(R"({"gradients": {"bucketing": "explicit",
                                                 "buckets": [{"bytes": 1024}]}})"));
    CHECK(profile_hash(parse(with_background(""))) != profile_hash(parse(with_background(flow_of("")))));
}

TEST_CASE("an entry of background traffic says who sends what, when and how", "[profile]") {
    const Profile profile = parse(with_background(
        flow_of(R"(, "name": "storage", "dscp": 8, "congestion_control": "reno", "pacing_rate": "1Gbit")") +
        "," + query_of(R"(, "queries_per_second": 50, "fan_in": 2)")));
    REQUIRE(profile.background.size() == 2);
    const BackgroundEntry& storage = profile.background[0];
    CHECK(storage.name == "storage");
    CHECK(storage.pattern == BackgroundPattern::poisson);
    CHECK(storage.from == std::vector<int>{0});
    CHECK(storage.to.empty());
    CHECK(storage.rate == BitRate{200'000'000});
    CHECK(storage.sizes == fixed_size(65536));
    CHECK(storage.sockets.dscp == 8u);
    CHECK(storage.sockets.congestion_control == "reno");
    CHECK(storage.sockets.pacing_rate == BitRate{1'000'000'000});
    CHECK(profile.background[1].name == "incast-1");
    CHECK(profile.background[1].queries_per_second == 50);
    CHECK(profile.background[1].fan_in == 2u);
}

TEST_CASE("the effective profile has the background traffic, points of a CDF included", "[profile]") {
    for (const char* message : {"1000", R"({"distribution": "pareto", "mean": "64KiB", "shape": 1.2})",
                                R"({"cdf": [[0, 0], [1000.5, 0.25], [30000, 1]]})"}) {
        const Profile profile =
            parse(with_background(flow_of("", message) + "," + query_of(", \"queries_per_second\": 0.5")));
        CHECK(parse(effective_profile_json(profile)) == profile);
    }
}

TEST_CASE("mistakes in background traffic are named", "[profile]") {
    CHECK(rule_for("{}") == "/pattern: required: \"constant\", \"poisson\" or \"incast\"");
    CHECK(rule_for(R"({"pattern": "poisson"})") == "/from: required: a list of ranks, or \"all\"");
    CHECK(rule_for(flow_of(R"(, "from": "some")")).find("/from: must be a list of ranks") == 0);
    CHECK(rule_for(flow_of(R"(, "to": [1, 1])")) == "/to: rank 1 stands twice in this list");
    CHECK(rule_for(flow_of(R"(, "rate": null)")) == "/rate: required: the mean payload rate of each flow");
    CHECK(rule_for(flow_of(R"(, "fan_in": 2)")) == "/fan_in: only with \"incast\", is \"poisson\"");
    CHECK(rule_for(flow_of(R"(, "dscp": 64)")) == "/dscp: must be at most 63, is 64");
    CHECK(rule_for(flow_of(R"(, "tos": 1)")).find("/tos: ") == 0);
    CHECK(rule_for(flow_of("", "1")) ==
          "/rate: comes to 25000000 messages a second in each flow; must be at most 1000000: give larger "
          "messages");
    CHECK(rule_for(query_of("")) == "/queries_per_second: required");
    CHECK(rule_for(query_of(R"(, "queries_per_second": 1, "rate": "1Mbit")")).find("/rate: not with") == 0);
    CHECK(rule_for(flow_of("", "{}")) == "/message: must have \"distribution\" or \"cdf\"");
    CHECK(
        rule_for(flow_of("", R"({"distribution": "pareto", "mean": 10})")).find("/message/shape: required") ==
        0);
    CHECK(rule_for(flow_of("", R"({"distribution": "pareto", "mean": 10, "shape": 1.5, "most": 10})")) ==
          "/message/mean: a mean of 10 B needs a larger \"most\" than 10 B");
    CHECK(rule_for(flow_of("", R"({"cdf": "file.cdf"})")).find("/message/cdf: a file can only be named in") ==
          0);
    CHECK(rule_for(flow_of("", R"({"cdf": [[1, 0], [2, 0.5]]})")) ==
          "/message/cdf: the last probability must be 1 (or 100, in percent), is 0.5");
    CHECK(rule_for(flow_of("", R"({"cdf": [[1]]})")) ==
          "/message/cdf/0: must be [bytes, probability], is a list");
    CHECK(error_of(with_background(flow_of(R"(, "name": "a")") + "," + flow_of(R"(, "name": "a")"))) ==
          "test.json: /background/1/name: \"a\" is the name of two entries");
}

TEST_CASE("ranks of background traffic exist, and each client has enough servers", "[profile]") {
    const auto error = [](const std::string& entry, int world_size) {
        const Profile profile = parse(with_background(entry));
        return message_of<ProfileError>([&] { check_for_ranks(profile, world_size, {}, "f"); });
    };
    CHECK(error(flow_of(R"(, "to": [1, 4])"), 4) ==
          "f: /background/0/to/1: must be less than the number of ranks, 4, is 4");
    CHECK(error(flow_of(R"(, "to": [0])"), 4) ==
          "f: /background/0: \"from\" and \"to\" are the same rank, which sends nothing to itself");
    CHECK(error(query_of(R"(, "queries_per_second": 1, "fan_in": 4)"), 4) ==
          "f: /background/0/fan_in: rank 0 has 3 servers, which are not 4");
    CHECK(error(flow_of(R"(, "from": "all")"), 100).find("f: /background: comes to 9900 flows") == 0);
}

TEST_CASE("a CDF's file is read beside the profile", "[profile]") {
    namespace fs = std::filesystem;
    const fs::path folder = fs::temp_directory_path() / "gradburst_profile_background_test";
    fs::create_directories(folder);
    const std::string path = (folder / "own.json").string();
    std::ofstream(path) << with_background(flow_of("", R"({"cdf": "own.cdf"})"));
    std::ofstream(folder / "own.cdf") << "# percent\n0 0\n1000 50\n3000 100\n";
    const Profile profile = parse_profile(load_profile(path, {}));
    CHECK(profile.background[0].sizes == cdf_sizes({{0, 0}, {1000, 0.5}, {3000, 1}}));
    std::ofstream(folder / "own.cdf") << "0 0\n1000\n";
    CHECK(message_of<ProfileError>([&] { parse_profile(load_profile(path, {})); })
              .find("own.json: /background/0/message/cdf: own.cdf: line 2: must be bytes and cumulative "
                    "probability") != std::string::npos);
    std::ofstream(folder / "own.cdf") << std::string(1024 * 1024 + 1, ' ');
    CHECK(message_of<ProfileError>([&] { load_profile(path, {}); }).find("is larger than 1 MiB") !=
          std::string::npos);
    fs::remove(folder / "own.cdf");
    CHECK(message_of<ProfileError>([&] { load_profile(path, {}); }).find("own.cdf: cannot be opened") !=
          std::string::npos);
    fs::remove_all(folder);
}
