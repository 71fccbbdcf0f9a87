#include "collectors/interface_index.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/netlink_counters.hpp"
#include "collectors/queue_lane.hpp"
#include "collectors/route_attributes.hpp"
#include "tests/catch.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <fstream>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
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
    QueueReader reader({"lo"});
    std::array<std::optional<QueueStatistics>, 1> queue;
    REQUIRE(reader.read(queue) == 0);
    REQUIRE(queue[0]);
    REQUIRE(queue[0]->kind == "noqueue");
    REQUIRE(queue[0]->backlog_bytes == 0);
}

TEST_CASE("an interface that is not there is refused by name", "[queue]") {
    REQUIRE_THROWS_WITH(QueueReader({"lo", "none7"}), Catch::Contains("none7"));
    REQUIRE_THROWS_WITH(NetlinkCounters("none7"), Catch::Contains("none7"));
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
    const auto start = [&](const std::filesystem::path& path) {
        return start_queue_lane(std::make_unique<QueueReader>(std::vector<std::string>{"lo"}), {path}, 1ms,
                                false);
    };
    const std::unique_ptr<Lane> lane = start(file);
    std::this_thread::sleep_for(250ms);
    // As after SIGKILL: what was written so far is there, a line that was cut does not count.
    const QueueTrace early = read_queue_trace(file);
    REQUIRE(early.samples.size() > 5);
    const LaneFileReport report = lane->stop().files.at(0);
    REQUIRE(report.failed == 0);
    REQUIRE(report.error.empty());
    const QueueTrace trace = read_queue_trace(file);
    REQUIRE(trace.samples.size() == report.samples);
    REQUIRE(trace.kind == "noqueue");
    REQUIRE(trace.start_monotonic_ns > 0);
    for (std::size_t i = 1; i < trace.samples.size(); ++i)
        REQUIRE(trace.samples[i].t_ns > trace.samples[i - 1].t_ns);
    std::ofstream(file, std::ios::app) << "123,4";
    REQUIRE(read_queue_trace(file).samples.size() == report.samples);
    REQUIRE_THROWS_WITH(start(file), Catch::Contains("trace.queue.csv"));
}

TEST_CASE("an interface is found by its name, and a name by its index, through the same socket", "[queue]") {
    RouteSocket socket;
    REQUIRE(interface_index(socket, "lo") == ::if_nametoindex("lo"));
    REQUIRE(interface_name(socket, ::if_nametoindex("lo")) == "lo");
    REQUIRE(interface_index(socket, "none7") == 0);
    REQUIRE(interface_index(socket, "") == 0);
    REQUIRE(interface_index(socket, "a name that is longer than names may be") == 0);
    REQUIRE(interface_name(socket, 123456789).empty());
}

TEST_CASE("one lane serves several files; one that cannot be written does not disturb the others",
          "[queue]") {
    const Folder folder;
    constexpr std::array<LaneColumn, 2> columns{{{"t_ns", "ns", "when"}, {"value", "things", "what"}}};
    const LaneInfo info{"test/1", "lo", {{"side", "left"}}, columns, 1'000'000, 5};
    std::filesystem::create_symlink("/dev/full", folder.path / "full.csv");
    {
        // Its header cannot be written: a full disk is found before the start.
        REQUIRE_THROWS_WITH(LaneFile(folder.path / "full.csv", info, true), Catch::Contains("full.csv"));
    }
    Lane::Files files;
    files.emplace_back(folder.path / "bad.csv", info, false);
    files.emplace_back(folder.path / "good.csv", info, false);
    std::filesystem::create_directory(folder.path / "bad.json.new"); // in the way of its last sidecar
    Lane lane(std::move(files), 1ms, clock_ns(), [value = 0](Lane::Files& all) mutable {
        for (LaneFile& file : all)
            file.add(std::array<std::int64_t, 2>{value, -value});
        ++value;
        return true;
    });
    std::this_thread::sleep_for(50ms);
    const LaneReport report = lane.stop();
    REQUIRE_THAT(report.files.at(0).error, Catch::Contains("bad.json.new"));
    REQUIRE_THROWS_WITH(report.require_written(), Catch::Contains("bad.json.new"));
    REQUIRE(report.files.at(1).error.empty());
    const LaneTable table = read_lane_file(folder.path / "good.csv", columns);
    REQUIRE(table.rows.size() == report.files.at(1).samples);
    REQUIRE(table.rows.at(3) == std::vector<std::int64_t>{3, -3});
    REQUIRE(table.start_monotonic_ns == 5);
    REQUIRE(table.fact("side") == "left");
    REQUIRE(table.fact("none").empty());
}

TEST_CASE("a lane gives up after three readings without an answer", "[queue]") {
    const Folder folder;
    constexpr std::array<LaneColumn, 1> columns{{{"t_ns", "ns", "when"}}};
    Lane::Files files;
    files.emplace_back(folder.path / "silent.csv", LaneInfo{"test/1", "lo", {}, columns, 1'000'000, 5},
                       false);
    std::atomic<int> readings{0};
    Lane lane(std::move(files), 1ms, clock_ns(), [&](Lane::Files& all) {
        all.front().add_failure();
        ++readings;
        return false;
    });
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (readings < 3 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    std::this_thread::sleep_for(20ms); // time for a fourth
    const LaneReport report = lane.stop();
    REQUIRE(readings == 3);
    REQUIRE(report.files.at(0).failed == 3);
    REQUIRE(report.files.at(0).samples == 0);
    REQUIRE_THAT(report.files.at(0).gave_up, Catch::StartsWith("no answer to 3 readings in a row"));
    REQUIRE(read_lane_file(folder.path / "silent.csv", columns).rows.empty());
}
