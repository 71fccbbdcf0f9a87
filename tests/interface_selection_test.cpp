#include "collectors/interface_selection.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "fake_sysfs.hpp"

using namespace collectors;
using tests::FakeSysfs;
using tests::folders_of;
using tests::write_text;

namespace {

std::vector<std::string> names_of(const InterfaceSelection& selection) {
    std::vector<std::string> names;
    for (const NetworkInterface& interface : selection.interfaces)
        names.push_back(interface.name);
    return names;
}

class FourInterfaces : public FakeSysfs {
public:
    FourInterfaces() {
        add("lo", "772");
        for (const char* name : {"eth1", "eth0", "ens5"})
            add(name, "1");
    }
};

using Names = std::vector<std::string>;

} // namespace

TEST_CASE("names and patterns select interfaces, each once", "[interfaces]") {
    const FourInterfaces sysfs;
    const auto select = [&](const Names& words) { return select_interfaces(words, folders_of(sysfs)); };
    CHECK(names_of(select({"eth1"})) == Names{"eth1"});
    CHECK(names_of(select({"eth1", "eth0"})) == Names{"eth1", "eth0"});
    CHECK(names_of(select({"eth*"})) == Names{"eth0", "eth1"});
    CHECK(names_of(select({"ens5", "e*"})) == Names{"ens5", "eth0", "eth1"});
    CHECK(names_of(select({"eth[1-9]", "lo", "lo"})) == Names{"eth1", "lo"});
    CHECK(names_of(select({"*"})) == Names{"ens5", "eth0", "eth1", "lo"});
}

TEST_CASE("RDMA ports are selected by patterns with their slash", "[interfaces]") {
    const FourInterfaces sysfs;
    for (const char* port : {"infiniband/mlx5_0/ports/1", "infiniband/mlx5_1/ports/1"}) {
        tests::fs::create_directories(sysfs.root() / port / "counters");
        write_text(sysfs.root() / port / "counters/port_rcv_data", "0\n");
    }
    const auto select = [&](const Names& words) { return select_interfaces(words, folders_of(sysfs)); };
    CHECK(names_of(select({"mlx5_1/1"})) == Names{"mlx5_1/1"});
    CHECK(names_of(select({"*/1"})) == Names{"mlx5_0/1", "mlx5_1/1"});
    CHECK(names_of(select({"*"})) == Names{"ens5", "eth0", "eth1", "lo"});
    CHECK_THROWS_AS(select({"mlx5_0"}), NoInterface);
}

TEST_CASE("a word that fits no interface is named with those that exist", "[interfaces]") {
    const FourInterfaces sysfs;
    for (const std::string word : {"eth9", "wlan*", ""})
        CHECK_THROWS_WITH(select_interfaces({"eth0", word}, folders_of(sysfs)),
                          Catch::Contains("no interface " + word + " on host") &&
                              Catch::Contains("available: ens5, eth0, eth1, lo"));
}

TEST_CASE("--out names the trace of one interface; several have their names in it", "[interfaces]") {
    const FourInterfaces sysfs;
    const auto single = [&](const Names& words) {
        return select_interfaces(words, folders_of(sysfs)).single;
    };
    CHECK(single({"eth0"}));
    CHECK(single({"eth0", "eth0"}));
    CHECK_FALSE(single({"eth0", "eth1"}));
    CHECK_FALSE(single({"ens*"})); // one match here, but maybe two on the next host
    CHECK(trace_path_of("run/trace.csv", "eth0", true) == "run/trace.csv");
    CHECK(trace_path_of("run/trace.csv", "eth0", false) == "run/trace.eth0.csv");
    CHECK(trace_path_of("trace", "eth0", false) == "trace.eth0.csv");
    CHECK(trace_path_of("trace.csv", "eth0.100", false) == "trace.eth0.100.csv");
    CHECK(trace_path_of("t.csv", "mlx5_0/1", false) == "t.mlx5_0-1.csv");
}

TEST_CASE("interfaces that carry the same traffic are named in pairs", "[interfaces]") {
    const FakeSysfs sysfs;
    for (const char* name : {"bond0", "eth0", "eth1", "va", "vb"})
        sysfs.add(name, "1");
    const auto index = [&](const std::string& name, const char* own, const char* link) {
        write_text(sysfs.root() / name / "ifindex", own);
        write_text(sysfs.root() / name / "iflink", link);
    };
    index("bond0", "2\n", "2\n");
    index("eth0", "3\n", "3\n");
    index("eth1", "4\n", "4\n");
    index("va", "5\n", "6\n");
    index("vb", "6\n", "5\n");
    tests::fs::create_symlink("../eth0", sysfs.root() / "bond0/lower_eth0");
    const auto sentences = [&](const Names& words) {
        return shared_traffic(select_interfaces(words, folders_of(sysfs)).interfaces, sysfs.root());
    };
    CHECK(sentences({"eth0", "eth1"}).empty());
    CHECK(sentences({"bond0", "eth1", "va"}).empty());
    REQUIRE(sentences({"*"}).size() == 2);
    CHECK_THAT(sentences({"*"})[0], Catch::Contains("bond0 AND eth0 COUNT THE SAME TRAFFIC"));
    CHECK_THAT(sentences({"*"})[1], Catch::Contains("va AND vb COUNT THE SAME TRAFFIC"));
}
