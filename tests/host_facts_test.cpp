#include "generator/host_facts.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <stdexcept>
#include <string>
#include <vector>

using namespace generator;
using tests::contains;
using tests::message_of;

namespace {

HostFacts facts(const std::string& host) {
    return {.version = "0.1.0",
            .build_type = "Release",
            .profile_hash = "00ff00ff00ff00ff",
            .addresses = {host, "boot/" + host, {{"lo", "127.0.0.1", 8, true}, {"eth0", "fe80::1%eth0", 64}}},
            .kernel = "Linux 6.1.0",
            .cpus_online = 8,
            .cpus_allowed = 4,
            .free_memory_bytes = 16'000'000'000};
}

std::string agreement_error(const std::vector<HostFacts>& ranks) {
    return message_of<std::runtime_error>([&] { require_same_program(ranks); });
}

} // namespace

TEST_CASE("facts survive the way to the other ranks", "[host_facts]") {
    const HostFacts sent = facts("node-a");
    const HostFacts read = parse_facts(serialize(sent));
    CHECK(read.version == sent.version);
    CHECK(read.build_type == sent.build_type);
    CHECK(read.profile_hash == sent.profile_hash);
    CHECK(read.addresses.host == sent.addresses.host);
    CHECK(read.addresses.network == sent.addresses.network);
    CHECK(read.addresses.addresses == sent.addresses.addresses);
    CHECK(read.kernel == sent.kernel);
    CHECK(read.cpus_online == 8);
    CHECK(read.cpus_allowed == 4);
    CHECK(read.free_memory_bytes == 16'000'000'000);
}

TEST_CASE("a host that does not tell its free memory is no mistake", "[host_facts]") {
    HostFacts sent = facts("node-a");
    sent.free_memory_bytes.reset();
    CHECK_FALSE(parse_facts(serialize(sent)).free_memory_bytes);
    CHECK(local_facts("").free_memory_bytes.value_or(0) > 0);
}

TEST_CASE("ranks of one program and profile are accepted", "[host_facts]") {
    CHECK(agreement_error({facts("node-a")}) == "no error");
    CHECK(agreement_error({facts("node-a"), facts("node-b"), facts("node-b")}) == "no error");
}

TEST_CASE("another version is told with both versions, ranks and hosts", "[host_facts]") {
    HostFacts other = facts("node-b");
    other.version = "0.2.0";
    const std::string error = agreement_error({facts("node-a"), facts("node-a"), other});
    for (const char* part : {"rank 0 on node-a", "version 0.1.0", "rank 2 on node-b", "0.2.0", "install"})
        CHECK(contains(error, part));
}

TEST_CASE("another build type is told", "[host_facts]") {
    HostFacts other = facts("node-b");
    other.build_type = "Debug";
    const std::string error = agreement_error({facts("node-a"), other});
    for (const char* part : {"build type", "Release", "Debug", "rank 1 on node-b"})
        CHECK(contains(error, part));
}

TEST_CASE("other options are told as such, not as another installation", "[host_facts]") {
    HostFacts other = facts("node-b");
    other.profile_hash = "1111111111111111";
    const std::string error = agreement_error({facts("node-a"), other});
    for (const char* part : {"profile hash", "00ff00ff00ff00ff", "1111111111111111", "same options"})
        CHECK(contains(error, part));
    CHECK_FALSE(contains(error, "install"));
}

TEST_CASE("ranks bound to one CPU are warned about, once per host", "[host_facts]") {
    std::vector<HostFacts> ranks{facts("node-a"), facts("node-a"), facts("node-b")};
    CHECK(cpu_warnings(ranks).empty());
    ranks[0].cpus_allowed = ranks[1].cpus_allowed = 1;
    const std::vector<std::string> warnings = cpu_warnings(ranks);
    REQUIRE(warnings.size() == 1);
    CHECK(contains(warnings[0], "node-a"));
    CHECK(contains(warnings[0], "--bind-to none"));
}

TEST_CASE("more ranks than CPUs are warned about", "[host_facts]") {
    std::vector<HostFacts> ranks(5, facts("node-a"));
    for (HostFacts& rank : ranks)
        rank.cpus_online = 4;
    const std::vector<std::string> warnings = cpu_warnings(ranks);
    REQUIRE(warnings.size() == 1);
    CHECK(contains(warnings[0], "5 RANKS SHARE 4 CPUS ON node-a"));
    ranks.pop_back();
    CHECK(cpu_warnings(ranks).empty());
}

TEST_CASE("a host with one CPU is not told to bind otherwise", "[host_facts]") {
    HostFacts small = facts("node-a");
    small.cpus_online = small.cpus_allowed = 1;
    CHECK(cpu_warnings({small}).empty());
}

TEST_CASE("this host has a name, a kernel and at least one CPU", "[host_facts]") {
    const HostFacts own = local_facts("hash");
    CHECK(own.version == GRADBURST_VERSION);
    CHECK(own.profile_hash == "hash");
    CHECK_FALSE(own.addresses.host.empty());
    CHECK(contains(own.kernel, "Linux "));
    CHECK(own.cpus_online >= 1);
    CHECK(own.cpus_allowed >= 1);
}
