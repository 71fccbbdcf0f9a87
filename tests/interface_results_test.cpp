#include "generator/crossing.hpp"
#include "generator/interface_results.hpp"
#include "tests/catch.hpp"

#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using collectors::Direction;

namespace {

/// Iteration 0 all-reduces 1,200 B, later ones 400 B. In a ring of four, a rank sends 2 x 3/4 of a bucket.
Workload ring_workload() {
    Workload workload;
    workload.first_iteration = {{{.bytes = 1'200}}};
    workload.later_iterations = {{{.bytes = 400}}};
    return workload;
}

std::uint64_t tx(const std::vector<int>& ranks, std::uint32_t first, std::uint32_t last,
                 bool loopback = false) {
    return crossing(ring_workload(), ranks, 4, Direction::tx, first, last, loopback).bytes;
}

std::uint64_t rx(const std::vector<int>& ranks, std::uint32_t first, std::uint32_t last,
                 bool loopback = false) {
    return crossing(ring_workload(), ranks, 4, Direction::rx, first, last, loopback).bytes;
}

} // namespace

TEST_CASE("an interface of one rank carries all that the rank sends and receives", "[interface_results]") {
    CHECK(tx({0}, 0, 1) == 1'800);
    CHECK(rx({0}, 0, 1) == 1'800);
    CHECK(tx({0}, 1, 2) == 600);
    CHECK(tx({0}, 0, 3) == 3'000); // 1800 + 2 x 600
    CHECK(tx({0}, 2, 5) == 1'800); // 3 x 600
}

TEST_CASE("no iterations are no bytes", "[interface_results]") {
    CHECK(tx({0}, 0, 0) == 0);
    CHECK(tx({0}, 3, 3) == 0);
    CHECK(tx({0}, 3, 2) == 0);
}

TEST_CASE("what ranks of one host send to each other does not cross its interface", "[interface_results]") {
    CHECK(tx({0, 1}, 1, 2) == 600); // 0 -> 1 stays inside, 1 -> 2 crosses
    CHECK(rx({0, 1}, 1, 2) == 600); // 3 -> 0
    CHECK(tx({0, 2}, 1, 2) == 1'200);
    CHECK(tx({0, 1, 2, 3}, 1, 2) == 0);
}

TEST_CASE("on loopback everything crosses", "[interface_results]") {
    CHECK(tx({0, 1, 2, 3}, 1, 2, true) == 2'400);
    CHECK(rx({0, 1, 2, 3}, 1, 2, true) == 2'400);
}

TEST_CASE("a broadcast crosses from its source on", "[interface_results]") {
    Workload workload;
    workload.first_iteration =
        workload.later_iterations = {{{.collective = Collective::broadcast, .bytes = 1'000}}};
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (int rank = 0; rank < 4; ++rank) {
        sent += crossing(workload, {rank}, 4, Direction::tx, 0, 1, false).bytes;
        received += crossing(workload, {rank}, 4, Direction::rx, 0, 1, false).bytes;
    }
    CHECK(sent == 3'000); // three ranks get it
    CHECK(received == 3'000);
    CHECK(crossing(workload, {0}, 4, Direction::rx, 0, 1, false).bytes == 0);
    CHECK(crossing(workload, {0}, 4, Direction::tx, 0, 1, false).bytes > 0);
}

TEST_CASE("a count that does not fit the payload is warned about", "[interface_results]") {
    InterfaceResult result;
    result.summary.host = "node-a";
    result.summary.interface = "eth0";
    result.summary.quality.samples = 1'000;
    result.payload_bytes = 100'000'000;
    const auto warning = [&](std::uint64_t nic_bytes) {
        result.summary.nic_bytes = nic_bytes;
        return count_warning(result);
    };
    CHECK(warning(100'000'000).empty());
    CHECK(warning(106'200'000).empty()); // headers at an MTU of 1500
    CHECK(warning(99'000'000).empty());  // the samples at both ends
    CHECK(warning(120'000'000) ==
          "OTHER TRAFFIC ON eth0 tx OF node-a: it counted 120000000 B for 100000000 B of payload");
    CHECK(warning(0).find("BYTES ARE MISSING ON eth0 tx OF node-a: it counted 0 B") == 0);
    result.summary.quality.samples = 1;
    CHECK(warning(0).find("NO METRICS OF eth0 tx OF node-a: 1 samples") == 0);
    result.summary.quality.samples = 1'000;
    result.to = 2s; // the disk was full after a second
    result.summary.quality.span = 1s;
    CHECK(warning(50'000'000) ==
          "TRACE OF eth0 tx OF node-a IS INCOMPLETE: it holds 1 s of the 2 s that were "
          "measured; its metrics and bytes are those of this part, which the payload is not");
    result.summary.quality.span = 1950ms;
    CHECK(warning(100'000'000).empty());
    result.payload_bytes = 0; // a lone rank
    CHECK(warning(0).empty());
    CHECK(warning(900'000).empty()); // an ssh session is no news
}

TEST_CASE("what other jobs sent is no surprise, unless they cannot tell", "[interface_results]") {
    InterfaceResult result;
    result.summary.host = "node-a";
    result.summary.interface = "eth0";
    result.summary.quality.samples = 1'000;
    result.payload_bytes = 100'000'000;
    result.shared_with = {"b"};
    result.others = {50'000'000, 100'000'000};
    const auto warning = [&](std::uint64_t nic_bytes) {
        result.summary.nic_bytes = nic_bytes;
        return count_warning(result);
    };
    CHECK(warning(150'000'000).empty());
    CHECK(warning(205'000'000).empty());
    CHECK_THAT(warning(240'000'000),
               Catch::Contains("OTHER TRAFFIC") && Catch::Contains("and 50000000 to 100000000 B of job b"));
    CHECK_THAT(warning(110'000'000), Catch::Contains("BYTES ARE MISSING"));
    result.others.most_bytes.reset();
    CHECK(warning(240'000'000).empty());
}

TEST_CASE("another job's small buckets are mostly headers and acknowledgements too", "[interface_results]") {
    InterfaceResult result;
    result.summary.quality.samples = 1'000;
    result.payload_bytes = result.opposite_payload_bytes = 1'000'000;
    result.shared_with = {"b"};
    result.others = result.opposite_others = {8'000'000, 8'000'000, 60'000};
    result.summary.nic_bytes = 9'000'000 + 120'000 * 70;
    CHECK(count_warning(result).empty());
    result.summary.nic_bytes += 6'000'000;
    CHECK(count_warning(result).starts_with("OTHER TRAFFIC"));
    result.opposite_others.most_bytes.reset(); // what it received may explain the acknowledgements
    CHECK(count_warning(result).empty());
}

TEST_CASE("small buckets are mostly headers and acknowledgements, which is no other traffic",
          "[interface_results]") {
    // 512 B in a ring of four: chunks of 128 B, six of them out and six in per iteration.
    Workload workload = ring_workload();
    workload.later_iterations = {{{.bytes = 512}}};
    const Crossing out = crossing(workload, {0}, 4, Direction::tx, 1, 10'001, false);
    CHECK(out.bytes == 10'000u * 6 * 128);
    CHECK(out.messages == 10'000u * 6);
    InterfaceResult result;
    result.summary.quality.samples = 1'000;
    result.payload_bytes = result.opposite_payload_bytes = out.bytes;
    result.messages = 2 * out.messages;
    result.summary.nic_bytes =
        out.bytes + 10'000u * 12 * 70; // a header for each, an acknowledgement for each
    CHECK(count_warning(result).empty());
    result.summary.nic_bytes += 6'000'000;
    CHECK(count_warning(result).starts_with("OTHER TRAFFIC"));
}

TEST_CASE("who only receives sends acknowledgements", "[interface_results]") {
    InterfaceResult result;
    result.summary.quality.samples = 1'000;
    result.opposite_payload_bytes = 100'000'000;
    result.summary.nic_bytes = 3'100'000; // 90 B for each two segments of 1448 B
    CHECK(count_warning(result).empty());
    result.summary.nic_bytes = 12'000'000;
    CHECK_FALSE(count_warning(result).empty());
}
