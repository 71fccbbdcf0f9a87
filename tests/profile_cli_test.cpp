#include <cstdlib>
#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "program_folder.hpp"

using tests::contains;
using tests::Outcome;

namespace {

/// gradburst-profile in a folder of its own, in a locale that knows ASCII only.
struct ProfileProgram : tests::ShellProgram {
    ProfileProgram() : ShellProgram("LC_ALL=C COLUMNS=80 timeout 60 '" GRADBURST_PROFILE "'") {}
};

const std::string good = R"({"description": "mine", "compute": {"time": "20ms"},
    "gradients": {"bucketing": "explicit", "buckets": [{"bytes": "1MiB", "ready_after": "12ms"}]}})";

} // namespace

TEST_CASE("list names every profile with its model, bytes and computing time", "[cli]") {
    const Outcome outcome = ProfileProgram().run("list");
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "resnet50-ddp     resnet50      102.4 MB  348.8 ms  7\n"));
    CHECK(contains(outcome.output, "ResNet-50 on V100 GPUs"));
    CHECK(contains(outcome.output, "smoke            -             1.049 MB     20 ms  1\n"));
}

TEST_CASE("list says what it cannot use, and goes on", "[cli]") {
    const ProfileProgram program;
    program.write("broken.json", "{");
    program.write("mine.json", good);
    setenv("GRADBURST_PROFILES", program.folder().c_str(), 1);
    const Outcome outcome = program.run("list");
    const Outcome as_json = program.run("list --json");
    unsetenv("GRADBURST_PROFILES");
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "not usable:\n"));
    CHECK(contains(outcome.output, "line 1, column 2"));
    CHECK(contains(outcome.output, "mine"));
    const auto profiles = nlohmann::json::parse(as_json.output).at("profiles");
    CHECK(profiles.size() > 2);
    CHECK(profiles.at(0).at("name") == "bert-large");
}

TEST_CASE("show draws the five buckets of DDP after the broadcasts", "[cli]") {
    const Outcome outcome = ProfileProgram().run("show resnet50-ddp");
    INFO(outcome.errors);
    CHECK(outcome.exit_code == 0);
    // forward: 0.32 x 128 / 367 s; the optimizer waits at 0.97 x 348.8 ms.
    CHECK(contains(outcome.output, "3 all_reduce  31.5 MB 129.3  338.3 "));
    CHECK(contains(outcome.output, "1 broadcast     424 B     0  338.3 *---"));
    CHECK(contains(outcome.output, "f forward 111.6 ms, b backward 226.7 ms, o optimizer 10.46 ms"));
    CHECK(contains(outcome.output, "7 buckets of 102.4 MB"));
}

TEST_CASE("show draws 161 buckets on a screen, and every one of them with --all", "[cli]") {
    const ProfileProgram program;
    const std::string settings =
        "show resnet50 --set /gradients/bucketing=per_tensor --set /gradients/overlap=true";
    const auto lines = [](const std::string& text) { return std::count(text.begin(), text.end(), '\n'); };
    CHECK(lines(program.run(settings).output) < 45);
    CHECK(lines(program.run(settings + " --all").output) > 161);
}

TEST_CASE("iteration 0 of DDP is one bucket", "[cli]") {
    CHECK(contains(ProfileProgram().run("show vgg16 --iteration 0").output, "0 all_reduce 553.4 MB"));
}

TEST_CASE("options override fields of the shown profile", "[cli]") {
    const ProfileProgram program;
    const Outcome outcome =
        program.run("show resnet50 --line-rate 1Gbit --set /compute/time=200ms --set /run/seed=7 --json");
    INFO(outcome.errors);
    REQUIRE(outcome.exit_code == 0);
    const auto shown = nlohmann::json::parse(outcome.output);
    CHECK(shown.at("format") == "gradburst-profile/1");
    CHECK(shown.at("profile").at("run").at("seed") == 7);
    CHECK(shown.at("byte_scale") == Approx(0.01));
    CHECK(shown.at("compute_seconds") == Approx(0.2));
    CHECK(shown.at("bytes") == 1022280); // 102,228,128 / 100, whole elements
    CHECK(shown.at("buckets").at(0).at("ready_after_seconds") == Approx(0.97 * 0.2));
    CHECK(shown.at("phases").size() == 3);
}

TEST_CASE("the effective profile that show prints is a profile", "[cli]") {
    const ProfileProgram program;
    const Outcome outcome = program.run("show smoke --json");
    const std::string path =
        program.write("again.json", nlohmann::json::parse(outcome.output).at("profile").dump());
    CHECK(program.run("check " + path).exit_code == 0);
    CHECK(contains(program.run("diff smoke " + path).output, "no field differs"));
}

TEST_CASE("check finds every mistake of every file", "[cli]") {
    const ProfileProgram program;
    const std::string bad = program.write(
        "bad.json",
        R"({"run": {"seed": -1}, "compute": {"tme": "5ms"}, "gradients": {"bucketing": "explicit"}})");
    const Outcome outcome = program.run("check " + program.write("good.json", good) + " " + bad + " smoke");
    CHECK(outcome.exit_code == 2);
    CHECK(contains(outcome.output, "good.json: good\n"));
    CHECK(contains(outcome.output, "/run/seed: must be at least 0, is -1\n"));
    CHECK(contains(outcome.output, "/compute/tme: unknown key; did you mean \"time\"?"));
    CHECK(contains(outcome.output, "/gradients/buckets: required"));
    CHECK(contains(outcome.output, "smoke: good\n"));
    CHECK(program.run("check smoke resnet50").exit_code == 0);
    CHECK(program.run("check none.json").exit_code == 2);
    CHECK(program.run("check llm-3d --ranks 8").exit_code == 0);
    const Outcome few = program.run("check llm-3d --ranks 4");
    CHECK(few.exit_code == 2);
    CHECK(contains(few.output, "llm-3d.json: /groups/"));
}

TEST_CASE("diff says what two profiles have different", "[cli]") {
    const Outcome outcome = ProfileProgram().run("diff resnet50 resnet50-ddp");
    CHECK(outcome.exit_code == 0);
    CHECK(contains(outcome.output, "/compute/backward\n  - 673.1 ms\n  + 226.7 ms\n"));
    CHECK(contains(outcome.output, "/gradients/bucketing\n  - \"single\"\n  + \"ddp\"\n"));
    CHECK(contains(outcome.output, "- buckets           1 all_reduce\n"));
    CHECK(contains(outcome.output, "5 all_reduce, 2 broadcast\n"));
}

TEST_CASE("gradburst-profile answers the user's mistakes with one message and exit code 2", "[cli]") {
    const ProfileProgram program;
    CHECK(contains(program.complaint("show nosuch"), "there are: bert-large"));
    CHECK(contains(program.complaint("show resnt50"), "did you mean \"resnet50\"?"));
    CHECK(contains(program.complaint("show"), "--help"));
    CHECK(contains(program.complaint(""), "--help"));
    CHECK(contains(program.complaint("nosuch"), "--help"));
    CHECK(contains(program.complaint("show smoke --set x=4"), "expected /pointer=value"));
    CHECK(contains(program.complaint("show smoke --set /run/seed"), "expected /pointer=value"));
    CHECK(contains(program.complaint("show smoke --set /run/sed=4"), "did you mean \"seed\"?"));
    CHECK(contains(program.complaint("show smoke --rank -1"), "--rank"));
    CHECK(contains(program.complaint("show smoke --iteration x"), "--iteration"));
    CHECK(contains(program.complaint("diff smoke"), "--help"));
}

TEST_CASE("help and version of gradburst-profile are no mistakes", "[cli]") {
    const ProfileProgram program;
    program.check_help_and_version("gradburst-profile");
    CHECK(program.run("show --help").exit_code == 0);
}
