#include "generator/tcp_log.hpp"
#include "generator/tcp_results.hpp"
#include "tests/catch.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <stdexcept>

#include <linux/tcp.h>

using namespace generator;

namespace {

/// Rank 3 sent two buckets to rank 0 and one to rank 1; its kernel is old and knows little.
TcpLog rank_log() {
    TcpLog result;
    result.rank = 3;
    TcpInfo info;
    info.rtt_us = 400;
    info.min_rtt_us = 100;
    info.cwnd_segments = 10;
    info.delivery_rate_bytes_per_second = 125'000'000;
    info.retransmitted_segments = 2;
    info.delivered_segments = 100;
    info.ecn_marked_segments = 0;
    info.acked_bytes = 144'800;
    info.busy_us = 8'000;
    info.receiver_limited_us = 2'000;
    info.send_buffer_limited_us = 0;
    result.records = {{0, 0, 0, 0, info}, {1, 0, 0, 0, info}, {1, 1, 1, 4, {.rtt_us = 800}}};
    result.records[1].info.retransmitted_segments = 5;
    result.records[1].info.rtt_us = 600;
    return result;
}

/// What a kernel says whose struct tcp_info ends after `bytes`.
TcpInfo told(std::size_t bytes) {
    tcp_info kernel{};
    kernel.tcpi_rtt = 1;
    kernel.tcpi_snd_cwnd = 2;
    kernel.tcpi_total_retrans = 3;
    kernel.tcpi_bytes_acked = 4;
    kernel.tcpi_min_rtt = 5;
    kernel.tcpi_delivery_rate = 6;
    kernel.tcpi_busy_time = 7;
    kernel.tcpi_rwnd_limited = 8;
    kernel.tcpi_sndbuf_limited = 9;
    kernel.tcpi_delivered = 10;
    kernel.tcpi_delivered_ce = 11;
    std::array<std::byte, sizeof kernel> content;
    std::memcpy(content.data(), &kernel, sizeof kernel);
    return decode_tcp_info(std::span(content).first(bytes));
}

} // namespace

TEST_CASE("fields that an older kernel does not fill in are unknown, not 0", "[tcp]") {
    CHECK(told(sizeof(tcp_info)) == TcpInfo{1, 5, 2, 6, 3, 10, 11, 4, 7, 8, 9});
    CHECK(told(offsetof(tcp_info, tcpi_delivered)) == TcpInfo{1, 5, 2, 6, 3, -1, -1, 4, 7, 8, 9});
    CHECK(told(offsetof(tcp_info, tcpi_delivery_rate)) == TcpInfo{1, 5, 2, -1, 3, -1, -1, 4, -1, -1, -1});
    CHECK(told(offsetof(tcp_info, tcpi_pacing_rate)) == TcpInfo{1, -1, 2, -1, 3, -1, -1, -1, -1, -1, -1});
    CHECK(told(0) == TcpInfo{});
    CHECK(read_tcp_info(-1) == TcpInfo{});
}

TEST_CASE("a connection that has measured no round trip has no shortest one", "[tcp]") {
    tcp_info kernel{};
    kernel.tcpi_min_rtt = ~0u;
    std::array<std::byte, sizeof kernel> content;
    std::memcpy(content.data(), &kernel, sizeof kernel);
    CHECK(decode_tcp_info(content).min_rtt_us == -1);
}

TEST_CASE("counters become differences, across the end of their 32 bits too; levels stay", "[tcp]") {
    TcpInfo before{.rtt_us = 50, .retransmitted_segments = 4'294'967'290, .acked_bytes = 6'000'000'000};
    TcpInfo now{
        .rtt_us = 40, .retransmitted_segments = 4, .delivered_segments = 9, .acked_bytes = 6'000'000'500};
    TcpInfo rise = tcp_difference(now, before);
    CHECK(rise.rtt_us == 40);
    CHECK(rise.retransmitted_segments == 10);
    CHECK(rise.acked_bytes == 500);
    CHECK(rise.delivered_segments == -1); // unknown before
    const TcpInfo fell = tcp_difference({.retransmitted_segments = 1, .acked_bytes = 5},
                                        {.retransmitted_segments = 2, .acked_bytes = 9});
    CHECK(fell.retransmitted_segments == -1);
    CHECK(fell.acked_bytes == -1);
    add_tcp_counters(rise, {.rtt_us = 7, .retransmitted_segments = 1, .delivered_segments = 3});
    CHECK(rise.rtt_us == 40);
    CHECK(rise.retransmitted_segments == 11);
    CHECK(rise.acked_bytes == 500);
    CHECK(rise.delivered_segments == -1);
}

TEST_CASE("tcp.csv has a line per bucket and connection; what is not known is empty", "[tcp]") {
    const std::string lines = tcp_lines(rank_log());
    CHECK(tcp_csv({lines, ""}) ==
          "rank,iteration,bucket,peer,lane,rtt_us,min_rtt_us,cwnd_segments,delivery_rate_bytes_per_second,"
          "retransmitted_segments,delivered_segments,ecn_marked_segments,acked_bytes,busy_us,"
          "receiver_limited_us,send_buffer_limited_us\n"
          "3,0,0,0,0,400,100,10,125000000,2,100,0,144800,8000,2000,0\n"
          "3,1,0,0,0,600,100,10,125000000,5,100,0,144800,8000,2000,0\n"
          "3,1,1,1,4,800,,,,,,,,,,\n");
}

TEST_CASE("a log survives the way to rank 0", "[tcp]") {
    TcpLog sent = rank_log();
    CHECK(parse_tcp_lines(tcp_lines(sent)) == sent);
    sent.records[0].info.acked_bytes = std::numeric_limits<std::int64_t>::max();
    sent.records[0].iteration = std::numeric_limits<std::uint32_t>::max();
    CHECK(parse_tcp_lines(tcp_lines(sent)) == sent);
    CHECK(tcp_lines(TcpLog{}) == "");
    CHECK(parse_tcp_lines("") == TcpLog{});
    for (const char* line : {"3", "3,1,0", "3,1,0,0,0,x,,,,,,,,,,\n", "3,1,0,0,0,400,,,,,,,,,,"})
        CHECK_THROWS_AS(parse_tcp_lines(line), std::invalid_argument);
}

TEST_CASE("the summary adds counters, names the worst and takes shares of the busy time", "[tcp]") {
    TcpLog quiet;
    quiet.rank = 1;
    quiet.records = {{1, 0, 3, 0, rank_log().records[0].info}};
    quiet.records[0].info.min_rtt_us = 60;
    const auto result = tcp_result({quiet, rank_log()}, 1);
    REQUIRE(result);
    CHECK(result->records == 4);
    CHECK(result->retransmitted_segments == 2 + 2 + 5);
    CHECK(result->retransmitted_in_warmup == 2); // iteration 0
    REQUIRE(result->worst);
    CHECK(result->worst->segments == 5);
    CHECK(result->worst->rank == 3);
    CHECK(result->worst->peer == 0);
    CHECK(result->worst->iteration == 1);
    CHECK(result->delivered_segments == 300);
    CHECK(result->acked_bytes == 3 * 144'800);
    CHECK(result->rtt_seconds.value().p50 == Approx(400e-6)); // of 400, 400, 600, 800
    CHECK(result->rtt_seconds.value().max == Approx(800e-6));
    CHECK(result->min_rtt_seconds.value() == Approx(60e-6));
    CHECK(result->cwnd_segments.value().p50 == 10);
    CHECK(result->receiver_limited_share.value() == Approx(0.25));
    CHECK(result->send_buffer_limited_share.value() == 0);
    CHECK(tcp_text(result, true) ==
          "tcp              retransmits 9 (2 in warm-up; most: 5 from rank 3 to 0 in iteration 1, bucket 0), "
          "ECN marks 0\n"
          "                 rtt p50 400 us p99 800 us, cwnd p50 10 segments, limited by receiver 25.0 %, by "
          "send buffer 0.0 % of the time\n");
}

TEST_CASE("a summary of logs that were full says which part of the run it covers", "[tcp]") {
    TcpLog full = rank_log();
    CHECK_THAT(tcp_method(*tcp_result({full}, 0)), Catch::Contains("cover the whole run, warm-up included;"));
    full.left_out_from = 70;
    TcpLog fuller = full;
    fuller.left_out_from = 60;
    const auto result = tcp_result({full, fuller, rank_log()}, 0);
    CHECK_THAT(tcp_method(*result),
               Catch::Contains("cover iterations 0 to 59 of all ranks, warm-up included"));
    CHECK_THAT(tcp_text(result, true), Catch::Contains("of iterations 0 to 59 of all ranks"));
}

TEST_CASE("what no kernel tells is unknown in the summary", "[tcp]") {
    TcpLog silent;
    silent.records = {{0, 0, 1, 0, {}}};
    const auto result = tcp_result({silent}, 0);
    REQUIRE(result);
    CHECK_FALSE(result->retransmitted_segments);
    CHECK_FALSE(result->rtt_seconds);
    CHECK_FALSE(result->receiver_limited_share);
    CHECK(tcp_text(result, true) ==
          "tcp              retransmits unknown\n"
          "                 limited by receiver unknown, by send buffer unknown of the time\n");
    CHECK_FALSE(tcp_result({TcpLog{}}, 0));
    CHECK(tcp_text(std::nullopt, true) == "tcp              not measured\n");
    CHECK(tcp_text(std::nullopt, false) ==
          "tcp              not measured (sampling.tcp_info of the profile is off)\n");
}
