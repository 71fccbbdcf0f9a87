#include "generator/slow_results.hpp"
#include "tests/catch.hpp"

using namespace generator;

namespace {

SlowLaneResult lane(const std::string& host, std::int64_t queue_drops, std::int64_t retransmits) {
    return {host,
            "eth0",
            "nic/" + host + ".eth0.slow.csv",
            {{"rx_drops", "packets", 0},
             {"rx_errors", "packets", 1 * (queue_drops > 0)},
             {"tx_errors", "packets", 2 * (queue_drops > 0)},
             {"queue_backlog_bytes", "bytes", 99, true},
             {"queue_drops", "packets", queue_drops},
             {"tcp_sent_segments", "segments", 1000, false, true},
             {"tcp_retransmits", "segments", retransmits, false, true}}};
}

} // namespace

TEST_CASE("hosts that lost something are told, the others are counted", "[slow]") {
    CHECK(slow_lane_text({lane("a", 0, 0), lane("b", 17, 4), lane("c", 0, 0)}) ==
          "\nlosses in the whole run, warm-up included\n"
          "host       interface  rx drops tx drops errors queue drops retransmits timeouts marks received "
          "marks echoed\n"
          "b          eth0              0        -      3          17           4        -              - "
          "           -\n"
          "nothing on 2 more\n"
          "drops and errors: packets; retransmits (segments), timeouts and ECN marks: all TCP of the host's\n"
          "network namespace; - : the kernel does not tell; ? : not known to the end\n");
}

TEST_CASE("a run without losses says so in a line, one without slow lanes says nothing", "[slow]") {
    CHECK(slow_lane_text({lane("a", 0, 0), lane("b", 0, 0)}) ==
          "\nlosses           no drops, errors, retransmits, timeouts or ECN marks on any of 2 interfaces "
          "(whole run)\n");
    CHECK(slow_lane_text({lane("a", 0, 0)}).find(" on a eth0 (whole run)\n") != std::string::npos);
    CHECK(slow_lane_text({}).empty());
}

TEST_CASE("a counter that the kernel does not tell has no total", "[slow]") {
    const SlowLaneResult result = lane("a", 3, 0);
    REQUIRE(result.total("queue_drops"));
    CHECK(result.total("queue_drops")->total == 3);
    CHECK_FALSE(result.total("tcp_timeouts"));
}

TEST_CASE("an interface whose drops are not known to the end is none that lost nothing", "[slow]") {
    SlowLaneResult vanished = lane("a", 0, 0);
    vanished.totals[0].total.reset();
    vanished.totals[1].total.reset(); // rx_errors: so the sum of errors is not known
    CHECK_THAT(slow_lane_text({vanished}),
               Catch::Contains("a          eth0              ?        -      ?           0           0"));
}
