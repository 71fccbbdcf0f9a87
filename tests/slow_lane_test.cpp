#include "collectors/slow_lane.hpp"

#include "collectors/link_statistics.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/tcp_statistics.hpp"

#include <array>
#include <fstream>
#include <optional>
#include <span>
#include <thread>

#include "catch.hpp"
#include "fake_sysfs.hpp"

using namespace collectors;
using namespace std::chrono_literals;

TEST_CASE("a counter of snmp and netstat is the value below its name", "[slow]") {
    const std::string text = "TcpExt: SyncookiesSent TCPTimeouts Last\nTcpExt: 1 22 333\n"
                             "IpExt: InNoRoutes InCEPkts\nIpExt: 4 -5\n"
                             "Tcp: Broken\nUdp: 6\n";
    CHECK(protocol_counter(text, "TcpExt", "TCPTimeouts") == 22);
    CHECK(protocol_counter(text, "TcpExt", "Last") == 333);
    CHECK(protocol_counter(text, "IpExt", "InCEPkts") == -5);
    CHECK_FALSE(protocol_counter(text, "TcpExt", "InCEPkts")); // of the other protocol
    CHECK_FALSE(protocol_counter(text, "Tcp", "Broken"));      // its values are missing
    CHECK_FALSE(protocol_counter(text, "TcpExt", ""));
    CHECK_FALSE(protocol_counter("TcpExt: A B\nTcpExt: 1", "TcpExt", "B")); // cut off
    CHECK_FALSE(protocol_counter("", "Tcp", "OutSegs"));
}

TEST_CASE("what the kernel does not tell is not known, never 0", "[slow]") {
    const tests::FakeSysfs folder;
    const TcpStatistics nothing = TcpReader(folder.root()).read();
    CHECK_FALSE(nothing.sent_segments);
    CHECK_FALSE(nothing.timeouts);
    tests::write_text(folder.root() / "snmp", "Tcp: OutSegs RetransSegs\nTcp: 10 3\n");
    const TcpStatistics some = TcpReader(folder.root()).read();
    CHECK(some.sent_segments == 10);
    CHECK(some.retransmitted_segments == 3);
    CHECK_FALSE(some.congestion_marks_received);
    const TcpStatistics real = TcpReader().read();
    CHECK(real.sent_segments.value_or(-1) >= 0);
    CHECK(real.timeouts.value_or(-1) >= 0);
    CHECK(real.congestion_marks_received.value_or(-1) >= 0);

    std::array<std::optional<LinkStatistics>, 2> links;
    CHECK(LinkReader({"lo", "none7"}).read(links) == 0);
    CHECK(links[0]);
    CHECK_FALSE(links[1]);
    CHECK(LinkReader({"none7"}).read(std::span(links).first(1)) == 0); // that it is not there is an answer
    CHECK_FALSE(links[0]);
}

TEST_CASE("a lane that is asked to stop does not sleep on until its next reading", "[slow]") {
    const tests::FakeSysfs folder;
    const tests::fs::path path = folder.root() / "long.csv";
    Lane::Files files;
    static constexpr LaneColumn column{"t_ns", "ns", "when"};
    files.emplace_back(path, LaneInfo{"test/1", "lo", {}, std::span(&column, 1), 0, 0}, false);
    const std::int64_t start_ns = clock_ns();
    Lane lane(std::move(files), 1h, start_ns, [&](Lane::Files& lanes) {
        lanes.front().add(std::array{clock_ns() - start_ns});
        return true;
    });
    const LaneReport report = lane.stop();
    CHECK(report.files.at(0).samples >= 1); // the last reading is taken
    CHECK(std::chrono::nanoseconds(clock_ns() - start_ns) < 60s);
}

TEST_CASE("the slow lane writes a file beside the trace, and its totals are what the counters rose by",
          "[slow]") {
    const tests::FakeSysfs folder;
    const tests::fs::path path = slow_path(folder.root() / "trace.csv");
    CHECK(path.filename() == "trace.slow.csv");
    const std::unique_ptr<Lane> lane = start_slow_lane({"lo"}, {path}, false);
    std::this_thread::sleep_for(250ms);
    const LaneReport report = lane->stop();
    CHECK(report.files.at(0).samples >= 2);
    CHECK(report.files.at(0).error.empty());
    CHECK(slow_totals(path).size() == 14); // all columns but the time

    // 5 retransmissions, then the counter began anew and came to 2: 3 + 2 of them, of 100 + 0 segments.
    std::ofstream(path, std::ios::trunc)
        << "t_ns,rx_drops,tx_drops,rx_errors,tx_errors,rx_missed,queue_backlog_bytes,queue_drops,"
           "queue_sent_bytes,tcp_sent_segments,tcp_retransmits,tcp_timeouts,tcp_loss_probes,"
           "ecn_marks_received,ecn_marks_echoed\n"
           "0,0,0,0,0,0,10,0,0,900,2,-1,0,0,0\n"
           "100,0,0,0,0,0,70,0,0,1000,5,-1,0,0,0\n"
           "200,1,0,0,0,0,30,0,0,1000,2,-1,0,0,0\n";
    const std::vector<SlowTotal> totals = slow_totals(path);
    REQUIRE(totals.size() == 13); // nobody knows the timeouts
    const auto total_of = [&](const std::string& name) {
        for (const SlowTotal& total : totals)
            if (total.name == name)
                return total.total;
        return std::optional<std::int64_t>();
    };
    CHECK(total_of("rx_drops") == 1);             // known in the first and in the last row
    CHECK(total_of("queue_backlog_bytes") == 70); // a level: the largest
    CHECK(total_of("tcp_sent_segments") == 100);
    CHECK(total_of("tcp_retransmits") == 5);
    CHECK_FALSE(total_of("tcp_timeouts"));
}

TEST_CASE("what the slow lane does not know to its end has no total; a reading left out on the way does not "
          "matter",
          "[slow]") {
    const tests::FakeSysfs folder;
    const tests::fs::path path = slow_path(folder.root() / "trace.csv");
    start_slow_lane({"lo"}, {path}, false)->stop();
    std::ofstream(path, std::ios::app) << "300000000,-1,-1,-1,-1,-1,-1,-1,-1,900000000000,0,0,0,0,0\n";
    for (const SlowTotal& total : slow_totals(path))
        CHECK(total.total.has_value() == total.of_host);
    std::ofstream(path, std::ios::app) << "400000000,7,0,0,0,0,0,0,0,900000000000,0,0,0,0,0\n";
    for (const SlowTotal& total : slow_totals(path))
        CHECK(total.total.has_value());
}
