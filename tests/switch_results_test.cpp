#include "generator/switch_results.hpp"
#include "tests/catch.hpp"

using namespace generator;
using namespace std::chrono_literals;

TEST_CASE("bytes between two readings spread evenly over the bins that they touch", "[switch]") {
    collectors::Trace trace;
    trace.info.start_monotonic_ns = 1'000'000;
    // 3000 bytes from 0.5 ms to 2 ms of the trace: 1000 in each half millisecond.
    // 900 more at some time in the 2.5 ms after that: nobody knows in which bin.
    for (const auto& [at, bytes] :
         {std::pair{0, 0u}, {500'000, 0u}, {2'000'000, 3000u}, {4'500'000, 3900u}}) {
        collectors::Sample sample;
        sample.t_ns = at;
        sample.rx_bytes = bytes;
        trace.samples.push_back(sample);
    }
    const std::vector<double> bins = bin_bytes(trace, collectors::Direction::rx, 1'000'000, 5'000'000, 1ms);
    REQUIRE(bins.size() == 4);
    REQUIRE(bins[0] == Approx(1000));
    REQUIRE(bins[1] == Approx(2000));
    REQUIRE(bins[2] == 0);
    REQUIRE(bins[3] == 0);
}

TEST_CASE("senders that follow each other are not active together, senders that overlap are", "[switch]") {
    const std::vector<double> first{9, 9, 9, 9, 0, 0, 0, 0};
    const std::vector<double> next{0, 0, 0, 9, 9, 9, 9, 0}; // hands over inside bin 3
    REQUIRE(active_senders({first, next}, 1) == std::vector<int>{0, 1, 1, 0, 1, 1, 0, 0});
    const std::vector<double> beside{0, 9, 9, 9, 9, 0, 0, 0};
    REQUIRE(active_senders({first, beside}, 1) == std::vector<int>{0, 1, 2, 1, 0, 0, 0, 0});
    REQUIRE(active_senders({first}, 10) == std::vector<int>(8, 0)); // acknowledgements only
    REQUIRE(active_senders({}, 1).empty());
}
