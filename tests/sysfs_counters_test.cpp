#include "collectors/sysfs_counters.hpp"

#include "collectors/interfaces.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "catch.hpp"
#include "fake_sysfs.hpp"

using namespace collectors;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::FakeSysfs;

TEST_CASE("both counters are read as they stand, with their windows", "[sysfs]") {
    const FakeSysfs sysfs;
    sysfs.add("eth0", "1");
    sysfs.set("eth0", "18446744073709551615\n", "42\n");
    SysfsCounters source("eth0", sysfs.root());
    const auto counters = source.read();
    CHECK(counters.error == 0);
    CHECK(counters.rx_bytes == 18'446'744'073'709'551'615ULL);
    CHECK(counters.tx_bytes == 42);
    CHECK(counters.begin_ns < counters.middle_ns);
    CHECK(counters.middle_ns < counters.end_ns);
    sysfs.set("eth0", "7\n", "8\n");
    CHECK(source.read().rx_bytes == 7);
    CHECK(source.name() == "sysfs");
}

TEST_CASE("an unknown interface is named together with those that exist", "[sysfs]") {
    const FakeSysfs sysfs;
    sysfs.add("lo", "772");
    sysfs.add("eth0", "1");
    for (const std::string name : {"eth9", "", "..", "eth0/statistics", "bonding_masters"}) {
        INFO(name);
        try {
            const SysfsCounters source(name, sysfs.root());
            FAIL("accepted");
        } catch (const NoInterface& error) {
            CHECK(std::string(error.what()) ==
                  "no interface " + name + " on host " + host_name() + "; available: eth0, lo");
        }
    }
}

TEST_CASE("a counter that cannot be read is an error, not a zero", "[sysfs]") {
    const FakeSysfs sysfs;
    sysfs.add("eth0", "1");
    SysfsCounters source("eth0", sysfs.root());
    sysfs.set("eth0", "1\n", "nonsense\n");
    CHECK(source.read().error == EBADMSG);
}

TEST_CASE("a device that comes back is found again, and says so once", "[sysfs]") {
    const FakeSysfs sysfs;
    sysfs.add("eth0", "1");
    SysfsCounters source("eth0", sysfs.root());
    REQUIRE(source.read().error == 0);
    sysfs.set("eth0", "", ""); // what a read at the end of an empty file gives
    CHECK(source.read().error == ENODATA);
    CHECK(source.read().error == ENODEV); // not even tried within 100 ms
    fs::remove_all(sysfs.root() / "eth0");
    std::this_thread::sleep_for(110ms);
    CHECK(source.read().error == ENOENT);

    sysfs.add("eth0", "1");
    sysfs.set("eth0", "5\n", "6\n");
    std::this_thread::sleep_for(110ms);
    const auto counters = source.read();
    CHECK(counters.error == 0);
    CHECK(counters.reopened);
    CHECK(counters.rx_bytes == 5);
    CHECK_FALSE(source.read().reopened);
}

TEST_CASE("interfaces are listed with state, driver and the speed of physical links", "[sysfs]") {
    const FakeSysfs sysfs;
    sysfs.add("lo", "772");
    sysfs.add("veth0", "1");
    sysfs.add("eth0", "1");
    sysfs.add_driver("eth0", "mlx5_core");
    const auto interfaces = list_interfaces(sysfs.root());
    REQUIRE(interfaces.size() == 3);
    CHECK(interfaces[0] == NetworkInterface{"eth0", "up", "mlx5_core", BitRate{100'000'000'000}});
    CHECK(interfaces[1] == NetworkInterface{"lo", "up", "loopback", std::nullopt});
    CHECK(interfaces[2] == NetworkInterface{"veth0", "up", "virtual", std::nullopt});
    CHECK(list_interfaces(sysfs.root() / "absent").empty());
}

TEST_CASE("the real loopback counters can be read", "[sysfs]") {
    SysfsCounters source("lo");
    const auto first = source.read();
    const auto second = source.read();
    CHECK(first.error == 0);
    CHECK(second.error == 0);
    CHECK(second.rx_bytes >= first.rx_bytes);
    CHECK(second.begin_ns >= first.end_ns);
    CHECK(describe_interface("lo").driver == "loopback");
}
