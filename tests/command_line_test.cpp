#include "generator/command_line.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace generator;
using tests::contains;
using tests::message_of;

namespace {

CommandLine parse(std::vector<const char*> arguments) {
    arguments.insert(arguments.begin(), "gradburst");
    return parse_command_line(static_cast<int>(arguments.size()), arguments.data());
}

std::string error_of(const std::vector<const char*>& arguments) {
    return message_of<UserError>([&] { parse(arguments); });
}

struct Option {
    const char* option;
    const char* value; ///< nullptr: a flag
    const char* pointer;
    const char* json;
};

const std::vector<Option> options{
    {"--iterations", "20", "/run/iterations", "20"},
    {"--duration", "60s", "/run/duration", "\"60s\""},
    {"--warmup", "2", "/run/warmup", "2"},
    {"--seed", "7", "/run/seed", "7"},
    {"--verify", nullptr, "/run/verify", "true"},
    {"--dry-run", nullptr, "/run/dry_run", "true"},
    {"--iface", "eth*,10.0.0.0/8", "/network/interfaces", "[\"eth*\",\"10.0.0.0/8\"]"},
    {"--ports", "42000-42007", "/network/ports", "\"42000-42007\""},
    {"--algorithm", "server", "/collective/algorithm", "\"server\""},
    {"--service", "sequenced", "/collective/service", "\"sequenced\""},
    {"--server-rank", "1", "/collective/server_rank", "1"},
    {"--channels", "2", "/collective/channels", "2"},
    {"--sockets-per-channel", "2", "/collective/sockets_per_channel", "2"},
    {"--in-flight", "2", "/collective/in_flight", "2"},
    {"--congestion-control", "bbr", "/network/congestion_control", "\"bbr\""},
    {"--dscp", "46", "/network/dscp", "46"},
    {"--pacing-rate", "1Gbit", "/network/pacing_rate", "\"1Gbit\""},
    {"--line-rate", "25Gbit", "/network/line_rate", "\"25Gbit\""},
    {"--scale-bytes", "0.01", "/scale/bytes", "0.01"},
    {"--scale-time", "0.5", "/scale/time", "0.5"},
    {"--interval", "1ms", "/sampling/interval", "\"1ms\""},
    {"--no-tcp-info", nullptr, "/sampling/tcp_info", "false"},
    {"--out", "my run", "/run/out", "\"my run\""},
    {"--overwrite", nullptr, "/run/overwrite", "true"},
    {"--json", nullptr, "/run/json", "true"},
};

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++found;
    return found;
}

std::string json_of(const char* option, const char* value) {
    return parse({"smoke", option, value}).overrides.at(0).json;
}

} // namespace

TEST_CASE("every option sets its field, and the profile accepts it", "[command_line]") {
    for (const Option& each : options) {
        std::vector<const char*> arguments{"smoke", each.option};
        if (each.value != nullptr)
            arguments.push_back(each.value);
        const CommandLine command = parse(arguments);
        CHECK(command.action == CommandLine::Action::run);
        CHECK(command.profile == "smoke");
        REQUIRE(command.overrides.size() == 1);
        CHECK(command.overrides[0].pointer == each.pointer);
        CHECK(command.overrides[0].json == each.json);
        CHECK(command.overrides[0].option == each.option);
        const ProfileSource source = load_profile(GRADBURST_SOURCE_DIR "/profiles/smoke.json", {});
        CHECK_NOTHROW(parse_profile(source, command.overrides));
    }
}

TEST_CASE("blanks around the names of a list do not belong to them", "[command_line]") {
    CHECK(json_of("--iface", "eth0, eth1 ") == R"(["eth0","eth1"])");
    CHECK(json_of("--iface", "eth0,") == R"(["eth0",""])"); // the profile refuses it
    CHECK(json_of("--iface", " ") == R"([""])");
}

TEST_CASE("without options nothing is set", "[command_line]") {
    CHECK(parse({"smoke"}).overrides.empty());
}

TEST_CASE("options may stand before the profile, and all at once", "[command_line]") {
    std::vector<const char*> arguments;
    for (const Option& each : options) {
        arguments.push_back(each.option);
        if (each.value != nullptr)
            arguments.push_back(each.value);
    }
    arguments.push_back("smoke");
    const CommandLine command = parse(arguments);
    CHECK(command.profile == "smoke");
    CHECK(command.overrides.size() == options.size());
}

TEST_CASE("the whole command is kept", "[command_line]") {
    CHECK(parse({"smoke", "--seed=3"}).whole == "gradburst smoke --seed=3");
}

TEST_CASE("numbers stay numbers in every notation that JSON knows", "[command_line]") {
    CHECK(json_of("--scale-bytes", "1e-3") == "1e-3");
    CHECK(json_of("--scale-bytes", "2.5E6") == "2.5E6");
    CHECK(json_of("--iterations", "0") == "0");
    CHECK(json_of("--scale-time", "-1") == "-1"); // the profile says why not
}

TEST_CASE("what is no number becomes text, which the profile refuses", "[command_line]") {
    for (const char* value :
         {"many", "1.", ".5", "007", "1e", "0x10", "1 2", "", "nan", "1,5", "--", "1.2.3"}) {
        const std::string json = json_of("--scale-bytes", value);
        CHECK(json == '"' + std::string(value) + '"');
    }
}

TEST_CASE("quotes, backslashes and control characters cannot break out of their text", "[command_line]") {
    CHECK(json_of("--out", R"(a"b\c)") == R"("a\"b\\c")");
    CHECK(json_of("--out", "a\nb") == R"("a\nb")");
}

TEST_CASE("--set reaches every field; JSON stays JSON", "[command_line]") {
    const CommandLine command = parse({"smoke", "--set", "/compute/time=180ms", "--iterations", "3", "--set",
                                       "/compute/jitter/drift=0.1", "--set", "/run/out=a=b"});
    REQUIRE(command.overrides.size() == 4);
    CHECK(command.overrides[0].option == "--iterations");
    CHECK(command.overrides[1].pointer == "/compute/time");
    CHECK(command.overrides[1].json == "\"180ms\"");
    CHECK(command.overrides[1].option == "--set /compute/time");
    CHECK(command.overrides[2].json == "0.1");
    CHECK(command.overrides[3].json == "\"a=b\"");
    for (const char* setting : {"compute/time=1s", "/compute/time", ""})
        CHECK(contains(error_of({"smoke", "--set", setting}), "expected /pointer=value"));
}

TEST_CASE("help names every option and has four examples", "[command_line]") {
    for (const char* option : {"--help", "-h"}) {
        const CommandLine command = parse({option});
        CHECK(command.action == CommandLine::Action::show_text);
        for (const Option& each : options)
            CHECK(contains(command.text, std::string(each.option) + " "));
        for (const char* other :
             {"--jobs FILE", "--start-at TIME", "--list-profiles", "--version", "--help", "Exit codes: 0"})
            CHECK(contains(command.text, other));
        const std::string examples = command.text.substr(command.text.find("Examples:"));
        // lines that begin with a command
        CHECK(count(examples, "\n  mpirun ") + count(examples, "\n  gradburst ") == 4);
    }
}

TEST_CASE("--version says which", "[command_line]") {
    const CommandLine command = parse({"--version"});
    CHECK(command.action == CommandLine::Action::show_text);
    CHECK(command.text == "gradburst " GRADBURST_VERSION "\n");
}

TEST_CASE("a jobs file names the profiles", "[command_line]") {
    const CommandLine command =
        parse({"--jobs", "jobs.json", "--iterations", "3", "--start-at", "1796255940"});
    CHECK(command.action == CommandLine::Action::run);
    CHECK(command.jobs == "jobs.json");
    CHECK(command.start_at == "1796255940");
    CHECK(command.overrides.size() == 1);
    CHECK(contains(error_of({"smoke", "--jobs", "jobs.json"}), "--jobs jobs.json: names the profiles"));
}

TEST_CASE("--list-profiles needs no profile", "[command_line]") {
    CHECK(parse({"--list-profiles"}).action == CommandLine::Action::list_profiles);
}

TEST_CASE("mistakes are told with the way to the help", "[command_line]") {
    CHECK(contains(error_of({}), "which profile?"));
    CHECK(contains(error_of({"smoke", "--iteration", "3"}), "--iteration"));
    for (const auto& arguments : std::vector<std::vector<const char*>>{
             {"smoke", "--iteration", "3"}, {"smoke", "--iterations"}, {"smoke", "other"}, {"smoke", "-x"}})
        CHECK(contains(error_of(arguments), "--help"));
}
