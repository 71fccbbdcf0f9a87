#include "collectors/netlink_counters.hpp"
#include "collectors/queue_lane.hpp"
#include "collectors/route_attributes.hpp"
#include "collectors/sysfs_counters.hpp"
#include "tests/catch.hpp"

#include <chrono>
#include <fstream>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <thread>
#include <unistd.h>

using namespace collectors;
using namespace std::chrono_literals;

namespace {

/// A folder of its own, removed at the end.
struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / ("gradburst-queue-" + std::to_string(::getpid()));
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() { std::filesystem::remove_all(path); }
};

} // namespace

TEST_CASE("lo has a queue that the kernel describes: noqueue, nothing waiting", "[queue]") {
    QueueReader reader("lo");
    QueueStatistics statistics;
    REQUIRE(reader.read(statistics) == 0);
    REQUIRE(statistics.kind == "noqueue");
    REQUIRE(statistics.backlog_bytes == 0);
}

TEST_CASE("an interface that is not there is refused by name", "[queue]") {
    REQUIRE_THROWS_WITH(QueueReader("none7"), Catch::Contains("none7"));
    REQUIRE_THROWS_WITH(NetlinkCounters("none7"), Catch::Contains("none7"));
}

TEST_CASE("rtnetlink counts what sysfs counts", "[queue]") {
    SysfsCounters files("lo");
    NetlinkCounters netlink("lo");
    const CounterSource::Counters before = files.read();
    const CounterSource::Counters between = netlink.read();
    const CounterSource::Counters after = files.read();
    REQUIRE(between.error == 0);
    REQUIRE(between.begin_ns <= between.middle_ns);
    REQUIRE(between.middle_ns <= between.end_ns);
    REQUIRE(before.rx_bytes <= between.rx_bytes);
    REQUIRE(between.rx_bytes <= after.rx_bytes);
    REQUIRE(before.tx_bytes <= between.tx_bytes);
    REQUIRE(between.tx_bytes <= after.tx_bytes);
}

TEST_CASE("damaged attributes end the walk, none is read beyond the message", "[queue]") {
    alignas(nlattr) std::array<std::byte, 12> bytes{};
    const auto set = [&](std::size_t at, std::uint16_t length, std::uint16_t type) {
        const nlattr header{length, type};
        std::memcpy(bytes.data() + at, &header, sizeof header);
    };
    int seen = 0;
    const auto count = [&](int, std::span<const std::byte> content) {
        ++seen;
        REQUIRE(content.size() <= bytes.size() - 4);
    };
    set(0, 5, 1); // one byte, padded to four
    set(8, 4, 2); // empty
    each_attribute(bytes, count);
    REQUIRE(seen == 2);
    for (const int length : {0, 3, 13, 65535}) {
        seen = 0;
        set(0, static_cast<std::uint16_t>(length), 1);
        each_attribute(bytes, count);
        REQUIRE(seen == 0);
    }
}

TEST_CASE("messages of other interfaces and of inner queues are not the root queue", "[queue]") {
    struct {
        nlmsghdr header;
        tcmsg queue;
    } message{};
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = RTM_NEWQDISC;
    message.queue.tcm_ifindex = 3;
    message.queue.tcm_parent = TC_H_ROOT;
    REQUIRE(root_queue(message.header, 3));
    REQUIRE_FALSE(root_queue(message.header, 4));
    message.queue.tcm_parent = 0x10000;
    REQUIRE_FALSE(root_queue(message.header, 3));
    message.queue.tcm_parent = TC_H_ROOT;
    message.header.nlmsg_len = NLMSG_LENGTH(4); // cut short
    REQUIRE_FALSE(root_queue(message.header, 3));
}

TEST_CASE("the lane writes what can be read again, with a sidecar that says where it stands", "[queue]") {
    const Folder folder;
    const std::filesystem::path file = queue_path(folder.path / "trace.csv");
    REQUIRE(file.filename() == "trace.queue.csv");
    QueueLane lane(std::make_unique<QueueReader>("lo"), "lo", file, 1ms, false);
    std::this_thread::sleep_for(250ms);
    // As after SIGKILL: what was written so far is there, a line that was cut does not count.
    const QueueTrace early = read_queue_trace(file);
    REQUIRE(early.samples.size() > 5);
    const QueueLane::Report report = lane.stop();
    REQUIRE(report.failed == 0);
    const QueueTrace trace = read_queue_trace(file);
    REQUIRE(trace.samples.size() == report.samples);
    REQUIRE(trace.kind == "noqueue");
    REQUIRE(trace.start_monotonic_ns > 0);
    for (std::size_t i = 1; i < trace.samples.size(); ++i)
        REQUIRE(trace.samples[i].t_ns > trace.samples[i - 1].t_ns);
    std::ofstream(file, std::ios::app) << "123,4";
    REQUIRE(read_queue_trace(file).samples.size() == report.samples);
    REQUIRE_THROWS_WITH(QueueLane(std::make_unique<QueueReader>("lo"), "lo", file, 1ms, false),
                        Catch::Contains("trace.queue.csv"));
}
