#include "generator/addresses.hpp"
#include "generator/failure.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <string>
#include <vector>

using namespace generator;
using tests::contains;
using tests::message_of;

namespace {

const InterfaceAddress lo{"lo", "127.0.0.1", 8, true};
const InterfaceAddress docker{"docker0", "172.17.0.1", 16, false};

InterfaceAddress on(const std::string& interface, const std::string& address, int prefix_length = 24) {
    return {interface, address, prefix_length, false};
}

/// Host number i is called node-i and is a network of its own; lo comes first, as the kernel lists it.
std::vector<HostAddresses> hosts(const std::vector<std::vector<InterfaceAddress>>& addresses) {
    std::vector<HostAddresses> result;
    for (const auto& each : addresses) {
        const std::string name = "node-" + std::to_string(result.size());
        result.push_back({name, name, {lo}});
        result.back().addresses.insert(result.back().addresses.end(), each.begin(), each.end());
    }
    return result;
}

std::string chosen(const std::vector<HostAddresses>& ranks, std::size_t self,
                   const std::vector<std::string>& wanted = {}) {
    const InterfaceAddress address = choose_address(ranks, self, wanted);
    return address.interface + " " + address.address;
}

std::string choice_error(const std::vector<HostAddresses>& ranks, std::size_t self,
                         const std::vector<std::string>& wanted = {}) {
    return message_of<UserError>([&] { choose_address(ranks, self, wanted); });
}

const auto two_nodes = hosts({{on("eth0", "10.0.0.1")}, {on("eth0", "10.0.0.2")}});

} // namespace

TEST_CASE("ranks of one host meet on loopback", "[addresses]") {
    const HostAddresses host{"node-0", "node-0", {lo, on("eth0", "10.0.0.1")}};
    CHECK(chosen({host}, 0) == "lo 127.0.0.1");
    CHECK(chosen({host, host}, 1) == "lo 127.0.0.1");
    CHECK(chosen({host, host}, 1, {"eth0"}) == "eth0 10.0.0.1");
}

TEST_CASE("hosts of one subnet meet there", "[addresses]") {
    CHECK(chosen(two_nodes, 0) == "eth0 10.0.0.1");
    CHECK(chosen(two_nodes, 1) == "eth0 10.0.0.2");
    const auto three_ranks = std::vector<HostAddresses>{two_nodes[0], two_nodes[0], two_nodes[1]};
    CHECK(chosen(three_ranks, 1) == "eth0 10.0.0.1");
}

TEST_CASE("an address that other hosts have too is no way to reach them", "[addresses]") {
    const auto ranks = hosts({{docker, on("eth0", "10.0.0.1")}, {docker, on("eth0", "10.0.0.2")}});
    CHECK(chosen(ranks, 0) == "eth0 10.0.0.1");
    CHECK(chosen(ranks, 1) == "eth0 10.0.0.2");
    CHECK(contains(choice_error(hosts({{docker}, {docker}}), 0), "docker0 (172.17.0.1/16)"));
}

TEST_CASE("an interface that one host alone has is passed over for a shared subnet", "[addresses]") {
    const auto ranks = hosts({{docker, on("eth0", "10.0.0.1")}, {on("eth0", "10.0.0.2")}});
    CHECK(chosen(ranks, 0) == "eth0 10.0.0.1");
}

TEST_CASE("interfaces may have another name on each host", "[addresses]") {
    const auto ranks = hosts({{docker, on("eno1", "10.0.0.1")}, {docker, on("eth0", "10.0.0.2")}});
    CHECK(chosen(ranks, 0) == "eno1 10.0.0.1");
    CHECK(chosen(ranks, 1) == "eth0 10.0.0.2");
    for (const std::vector<std::string>& wanted :
         {std::vector<std::string>{"eno1", "eth0"}, {"10.0.0.0/24"}, {"e*"}, {"wlan0", "en*", "eth*"}}) {
        CHECK(chosen(ranks, 0, wanted) == "eno1 10.0.0.1");
        CHECK(chosen(ranks, 1, wanted) == "eth0 10.0.0.2");
    }
}

TEST_CASE("the wanted interfaces are tried in order", "[addresses]") {
    const auto ranks = hosts({{on("eth0", "10.0.0.1"), on("eth1", "10.1.0.1")}, {on("eth0", "10.0.0.2")}});
    CHECK(chosen(ranks, 0, {"eth1", "eth0"}) == "eth1 10.1.0.1");
    CHECK(chosen(ranks, 0, {"eth0", "eth1"}) == "eth0 10.0.0.1");
    CHECK(chosen(ranks, 0, {"10.1.0.0/16"}) == "eth1 10.1.0.1");
}

TEST_CASE("an interface that does not exist is named with host and what there is", "[addresses]") {
    CHECK(choice_error(two_nodes, 1, {"eth9"}) ==
          "no interface eth9 with an address on host node-1; available: "
          "lo (127.0.0.1/8), eth0 (10.0.0.2/24)");
    CHECK(contains(choice_error(two_nodes, 0, {"eth9", "ib*"}), "no interface eth9 or ib* with"));
    CHECK(contains(choice_error(two_nodes, 0, {"192.168.0.0/16"}), "no interface 192.168.0.0/16 with"));
}

TEST_CASE("several ways to the other hosts ask for a choice", "[addresses]") {
    const auto ranks = hosts(
        {{on("eth0", "10.0.0.1"), on("eth1", "10.1.0.1")}, {on("eth0", "10.0.0.2"), on("eth1", "10.1.0.2")}});
    const std::string error = choice_error(ranks, 0);
    CHECK(contains(error, "--iface"));
    CHECK(contains(error, "eth0 (10.0.0.1/24), eth1 (10.1.0.1/24)"));
    CHECK(contains(error, "node-0"));
}

TEST_CASE("loopback is never offered to another host", "[addresses]") {
    for (const char* wanted : {"lo", "127.0.0.0/8", "l*"}) {
        const std::string error = choice_error(two_nodes, 0, {wanted});
        CHECK(contains(error, "loopback"));
        CHECK(contains(error, "node-0"));
    }
    CHECK(contains(choice_error(hosts({{}, {on("eth0", "10.0.0.2")}}), 0),
                   "no address by which the other hosts"));
}

TEST_CASE("a wide pattern means an address that others reach, not loopback", "[addresses]") {
    CHECK(chosen(two_nodes, 0, {"0.0.0.0/0"}) == "eth0 10.0.0.1");
    CHECK(chosen(two_nodes, 1, {"*"}) == "eth0 10.0.0.2");
}

TEST_CASE("hosts in routed subnets need none in common", "[addresses]") {
    const auto ranks = hosts({{on("eth0", "10.0.0.1", 26)}, {on("eth0", "10.0.0.65", 26)}});
    CHECK(chosen(ranks, 0) == "eth0 10.0.0.1");
    CHECK(chosen(ranks, 1) == "eth0 10.0.0.65");
}

TEST_CASE("of several addresses of an interface, IPv4 comes first and link-local IPv6 last", "[addresses]") {
    const auto link_local = on("eth0", "fe80::1%eth0", 64);
    const auto ranks = hosts({{link_local, on("eth0", "fd00::1", 64), on("eth0", "10.0.0.1")},
                              {on("eth0", "fd00::2", 64), on("eth0", "10.0.0.2")}});
    CHECK(chosen(ranks, 0) == "eth0 10.0.0.1");
    CHECK(chosen(ranks, 0, {"eth0"}) == "eth0 10.0.0.1");
    CHECK(chosen(ranks, 0, {"fd00::/8"}) == "eth0 fd00::1");
    CHECK(chosen(ranks, 0, {"fe80::/10"}) == "eth0 fe80::1%eth0");
}

TEST_CASE("hosts with IPv6 alone meet there", "[addresses]") {
    const auto ranks = hosts({{on("eth0", "fd00::1", 64)}, {on("eth0", "fd00::2", 64)}});
    CHECK(chosen(ranks, 0) == "eth0 fd00::1");
}

TEST_CASE("a host with IPv4 and IPv6 meets one with IPv6 alone in IPv6", "[addresses]") {
    const auto ranks =
        hosts({{on("eth0", "10.0.0.1"), on("eth0", "fd00::1", 64)}, {on("eth0", "fd00::2", 64)}});
    CHECK(chosen(ranks, 0) == "eth0 fd00::1");
    CHECK(chosen(ranks, 0, {"eth0"}) == "eth0 fd00::1");
}

TEST_CASE("a prefix holds the addresses that share its first bits", "[addresses]") {
    CHECK(in_prefix("10.77.0.200", "10.77.0.0/24"));
    CHECK_FALSE(in_prefix("10.77.1.200", "10.77.0.0/24"));
    CHECK(in_prefix("10.77.0.65", "10.77.0.64/26"));
    CHECK_FALSE(in_prefix("10.77.0.63", "10.77.0.64/26"));
    CHECK(in_prefix("10.77.0.9", "10.77.0.1/24")); // host bits do not matter
    CHECK(in_prefix("200.1.2.3", "0.0.0.0/0"));
    CHECK(in_prefix("10.0.0.1", "10.0.0.1/32"));
    CHECK_FALSE(in_prefix("10.0.0.2", "10.0.0.1/32"));
    CHECK(in_prefix("fe80::1%eth0", "fe80::/10"));
    CHECK(in_prefix("fd00::1", "::/0"));
    CHECK(in_prefix("fd00::1", "fd00::1/128"));
    CHECK_FALSE(in_prefix("fd00::2", "fd00::1/128"));
    CHECK_FALSE(in_prefix("10.0.0.1", "::/0")); // other families never match
    CHECK_FALSE(in_prefix("fd00::1", "0.0.0.0/0"));
}

TEST_CASE("a malformed prefix is refused, not guessed", "[addresses]") {
    for (const char* prefix : {"10.0.0.0/", "10.0.0.0/33", "fd00::/129", "10.0.0.0/-1", "10.0.0.0/8x",
                               "10.0.0.0/ 8", "10.0.0/8", "/8", "/", "10.0.0.0", "eth0/8", "10.0.0.0/8/8"})
        CHECK_THROWS_AS(in_prefix("10.0.0.1", prefix), UserError);
}

TEST_CASE("this machine has a loopback address and a network identity", "[addresses]") {
    bool loopback = false;
    for (const InterfaceAddress& address : local_addresses())
        loopback = loopback || address == lo;
    CHECK(loopback);
    CHECK(network_identity() == network_identity());
    CHECK(network_identity().size() > 30);
}
