#include "collectors/source_choice.hpp"

#include "collectors/interfaces.hpp"
#include "collectors/netlink_counters.hpp"
#include "collectors/procfs_counters.hpp"
#include "collectors/rdma_counters.hpp"
#include "collectors/sysfs_counters.hpp"

#include <cerrno>
#include <exception>
#include <string>
#include <thread>

#include <sched.h>
#include <unistd.h>

#include "catch.hpp"
#include "fake_sysfs.hpp"

using namespace collectors;
using namespace std::chrono_literals;
using tests::FakeSysfs;
using tests::folders_of;
using tests::write_text;
namespace fs = std::filesystem;

namespace {

constexpr const char* heading =
    "Inter-|   Receive                                                |  Transmit\n"
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls "
    "carrier compressed\n";

std::string line(const std::string& name, std::uint64_t rx, std::uint64_t tx) {
    return name + ": " + std::to_string(rx) + " 1 2 3 4 5 6 7 " + std::to_string(tx) + " 8 9 0 1 2 3 4\n";
}

/// A port of a device without hardware: /sys/class/infiniband/mlx5_0/ports/1.
void add_port(const fs::path& root, const std::string& device, const std::string& port, const char* rx,
              const char* tx) {
    const fs::path folder = root / device / "ports" / port;
    fs::create_directories(folder / "counters");
    write_text(folder / "state", "4: ACTIVE\n");
    write_text(folder / "rate", "100 Gb/sec (4X EDR)\n");
    write_text(folder / "counters/port_rcv_data", rx);
    write_text(folder / "counters/port_xmit_data", tx);
}

} // namespace

TEST_CASE("/proc/net/dev is read to the line of the interface, whatever stands before it", "[source]") {
    const FakeSysfs sysfs;
    const fs::path file = sysfs.root() / "dev";
    std::string text = heading;
    for (int number = 0; number < 600; ++number) // 16 KiB are read at once: lines are cut
        text += line("veth" + std::to_string(number), 1, 2);
    text += line("  eth1", 11, 12) + line("   eth0", 18'446'744'073'709'551'615ULL, 42);
    REQUIRE(text.size() > 20'000);
    write_text(file, text);
    ProcfsCounters eth0("eth0", file);
    const auto counters = eth0.read();
    CHECK(counters.error == 0);
    CHECK(counters.rx_bytes == 18'446'744'073'709'551'615ULL);
    CHECK(counters.tx_bytes == 42);
    CHECK(counters.begin_ns < counters.middle_ns);
    CHECK(counters.middle_ns < counters.end_ns);
    CHECK(ProcfsCounters("eth1", file).read().rx_bytes == 11);
    CHECK(ProcfsCounters("veth0", file).read().tx_bytes == 2);
    for (const std::string absent : {"eth", "eth00", "veth600", "th0", ""})
        CHECK_THROWS_WITH(ProcfsCounters(absent, file), Catch::Contains("find " + absent + " in "));
    CHECK_THROWS_WITH(ProcfsCounters("eth0", sysfs.root() / "none"), Catch::Contains("none"));
}

TEST_CASE("an interface that is gone from /proc/net/dev is an error until it comes back", "[source]") {
    const FakeSysfs sysfs;
    const fs::path file = sysfs.root() / "dev";
    write_text(file, heading + line("eth0", 100, 200));
    ProcfsCounters source("eth0", file);
    REQUIRE(source.read().rx_bytes == 100);
    write_text(file, heading);
    CHECK(source.read().error == ENODEV);
    write_text(file, heading + line("eth0", 5, 6));
    std::this_thread::sleep_for(110ms); // looked for at most every 100 ms
    const auto counters = source.read();
    CHECK(counters.error == 0);
    CHECK(counters.reopened);
    CHECK(counters.rx_bytes == 5);
    write_text(file, heading + std::string("eth0: 5 x\n"));
    CHECK(source.read().error == EBADMSG);
}

TEST_CASE("the words of an RDMA port are four bytes", "[source]") {
    const FakeSysfs sysfs;
    add_port(sysfs.root(), "mlx5_0", "1", "1000\n", "3\n");
    RdmaCounters source("mlx5_0/1", sysfs.root());
    const auto counters = source.read();
    CHECK(counters.error == 0);
    CHECK(counters.rx_bytes == 4000);
    CHECK(counters.tx_bytes == 12);
    CHECK(source.name() == "rdma");
    // A counter of 32 bits that stands at its end counts no more.
    write_text(sysfs.root() / "mlx5_0/ports/1/counters/port_rcv_data", "4294967295\n");
    CHECK(source.read().error == EOVERFLOW);
    CHECK_THROWS_WITH(RdmaCounters("mlx5_0/2", sysfs.root()),
                      Catch::Contains("no interface mlx5_0/2") && Catch::Contains("available: mlx5_0/1"));
}

TEST_CASE("RDMA ports are listed by name with state, rate and driver", "[source]") {
    const FakeSysfs sysfs;
    add_port(sysfs.root(), "mlx5_1", "1", "1\n", "1\n");
    add_port(sysfs.root(), "mlx5_0", "2", "1\n", "1\n");
    add_port(sysfs.root(), "mlx5_0", "1", "1\n", "1\n");
    write_text(sysfs.root() / "mlx5_0/ports/2/state", "1: DOWN\n");
    sysfs.add_driver("mlx5_1", "mlx5_core");
    const auto ports = list_rdma_ports(sysfs.root());
    REQUIRE(ports.size() == 3);
    CHECK(ports[0] == NetworkInterface{"mlx5_0/1", "up", "rdma", BitRate{100'000'000'000}});
    CHECK(ports[1] == NetworkInterface{"mlx5_0/2", "down", "rdma", BitRate{100'000'000'000}});
    CHECK(ports[2] == NetworkInterface{"mlx5_1/1", "up", "mlx5_core", BitRate{100'000'000'000}});
    CHECK(list_rdma_ports(sysfs.root() / "absent").empty());
}

TEST_CASE("sources are tried in order, and the reason says why the first was not taken", "[source]") {
    const FakeSysfs sysfs;
    const SourceFolders folders = folders_of(sysfs);
    sysfs.add("eth0", "1");
    write_text(folders.device_list, heading + line("eth0", 5, 6) + line("lo", 7, 8));
    const ChosenSource first = choose_source("eth0", std::nullopt, folders);
    CHECK(first.source->name() == "sysfs");
    CHECK(first.reason == "the first choice");

    const ChosenSource second = choose_source("lo", std::nullopt, folders); // not in the fake sysfs
    CHECK(second.source->name() == "procfs");
    CHECK_THAT(second.reason, Catch::StartsWith("not sysfs: no interface lo"));

    fs::remove(folders.device_list);
    const ChosenSource third = choose_source("lo", std::nullopt, folders); // the kernel's own
    CHECK(third.source->name() == "rtnetlink");
    CHECK_THAT(third.reason, Catch::Contains("not sysfs: ") && Catch::Contains("not procfs: "));
    CHECK_THROWS_AS(choose_source("none7", std::nullopt, folders), NoSource);
    CHECK_THROWS_WITH(choose_source("none7", std::nullopt, folders), Catch::Contains("not sysfs") &&
                                                                         Catch::Contains("not procfs") &&
                                                                         Catch::Contains("not rtnetlink"));
}

TEST_CASE("a source that was asked for is taken or refused, never replaced", "[source]") {
    const FakeSysfs sysfs;
    const SourceFolders folders = folders_of(sysfs);
    add_port(folders.rdma, "mlx5_0", "1", "1000\n", "3\n");
    CHECK(choose_source("mlx5_0/1", std::nullopt, folders).reason == "an RDMA port");
    CHECK(choose_source("mlx5_0/1", SourceKind::rdma, folders).source->name() == "rdma");
    CHECK_THROWS_AS(choose_source("mlx5_0/1", SourceKind::sysfs, folders), NoSource);
    CHECK_THROWS_WITH(choose_source("lo", SourceKind::rdma, folders), Catch::Contains("DEVICE/PORT"));
    for (const SourceKind kind : {SourceKind::sysfs, SourceKind::procfs, SourceKind::rtnetlink}) {
        const ChosenSource chosen = choose_source("lo", kind);
        CHECK(chosen.source->name() == to_text(kind));
        CHECK(parse_source_kind(std::string(to_text(kind))) == kind);
        CHECK(chosen.reason == "asked for");
        CHECK(chosen.source->read().error == 0);
    }
    CHECK_THROWS_WITH(parse_source_kind("xdp"), Catch::Contains("sysfs, procfs, rtnetlink, rdma, ebpf"));
}

TEST_CASE("ebpf is taken when it is asked for, and never otherwise", "[source]") {
    CHECK(parse_source_kind("ebpf") == SourceKind::ebpf);
    int opened = 0;
    const OpenEbpf ebpf = [&](const std::string& interface) {
        ++opened;
        return std::make_unique<NetlinkCounters>(interface);
    };
    CHECK(choose_source("lo", SourceKind::ebpf, {}, ebpf).reason == "asked for");
    CHECK(opened == 1);
    CHECK_THROWS_AS(choose_source("none7", std::nullopt, {}, ebpf), NoSource);
    CHECK(opened == 1);
    CHECK_THROWS_WITH(choose_source("lo", SourceKind::ebpf),
                      Catch::Contains("only gradburst-collect has it"));
}

TEST_CASE("all sources count what sysfs counts", "[source]") {
    SysfsCounters files("lo");
    for (const SourceKind kind : {SourceKind::procfs, SourceKind::rtnetlink}) {
        const ChosenSource other = choose_source("lo", kind);
        const auto before = files.read();
        const auto between = other.source->read();
        const auto after = files.read();
        CHECK(between.error == 0);
        CHECK(before.rx_bytes <= between.rx_bytes);
        CHECK(between.rx_bytes <= after.rx_bytes);
        CHECK(before.tx_bytes <= between.tx_bytes);
        CHECK(between.tx_bytes <= after.tx_bytes);
    }
}

TEST_CASE("after a change of the network namespace /sys is not believed", "[source]") {
    ChosenSource chosen;
    std::vector<NetworkInterface> interfaces;
    std::exception_ptr failure;
    bool allowed = false;
    std::thread([&] { // a thread that only enters another network namespace still sees the old /sys
        allowed = ::unshare(CLONE_NEWNET) == 0;
        try {
            if (allowed) {
                chosen = choose_source("lo");
                interfaces = list_interfaces();
            }
        } catch (...) {
            failure = std::current_exception();
        }
    })
        .join();
    if (!allowed) {
        WARN("not tested: it needs the right to make a network namespace");
        return;
    }
    if (failure)
        std::rethrow_exception(failure);
    CHECK(chosen.source->name() == "procfs");
    CHECK_THAT(chosen.reason, Catch::Contains("/sys/class/net shows another network namespace"));
    // Read from here, it still counts there: nothing has passed that loopback device, which is down.
    const auto counters = chosen.source->read();
    CHECK(counters.error == 0);
    CHECK(counters.rx_bytes == 0);
    const auto lo = std::find_if(interfaces.begin(), interfaces.end(),
                                 [](const NetworkInterface& each) { return each.name == "lo"; });
    REQUIRE(lo != interfaces.end());
    CHECK(lo->state == "down");
    CHECK(lo->driver == "loopback");
}
