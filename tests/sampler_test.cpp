#include "collectors/sampler.hpp"

#include "collectors/monotonic_clock.hpp"
#include "collectors/summary.hpp"
#include "collectors/trace_quality.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <thread>

#include "catch.hpp"
#include "fake_counters.hpp"

using namespace collectors;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::bytes;
using tests::Counters;
using tests::every;
using tests::fake;
using tests::one;
using tests::record;
using tests::TemporaryFolder;

TEST_CASE("every read becomes one sample, in order, within its window", "[sampler]") {
    const auto [report, trace, sampler] =
        record(fake([](std::uint64_t n) { return bytes(n, 2 * n); }), every(1ms), 200ms);
    REQUIRE(trace.samples.size() >= 10);
    CHECK(trace.samples.size() == report.samples);
    for (std::size_t i = 0; i < trace.samples.size(); ++i) {
        CHECK(trace.samples[i].rx_bytes == i);
        CHECK(trace.samples[i].tx_bytes == 2 * i);
    }
    CHECK(trace.info.complete);
    CHECK(trace.info.reason == "duration");
    CHECK(trace.info.source == "fake");
    CHECK(trace.info.interval == 1ms);
    CHECK(report.failed == 0);
    CHECK(sampler.sampler.spin == 0ns); // from 1 ms on it only sleeps
}

TEST_CASE("samples come at their ticks, never before", "[sampler]") {
    const auto [report, trace, sampler] =
        record(fake([](std::uint64_t n) { return bytes(n, n); }), every(500us), 200ms);
    // Each tick is served at most once, and all ticks are served or counted as missed; the last sample is
    // extra.
    std::int64_t previous_tick = -1;
    for (std::size_t i = 0; i + 1 < trace.samples.size(); ++i) {
        const std::int64_t tick = trace.samples[i].t_ns / 500'000;
        CHECK(tick > previous_tick);
        if (tick > previous_tick + 1)
            CHECK((trace.samples[i].flags & missed_ticks) != 0);
        previous_tick = tick;
    }
    const auto ticks = static_cast<std::uint64_t>(trace.samples.back().t_ns / 500'000);
    CHECK(report.samples + report.missed >= ticks + 1); // ticks 0 to `ticks`
    CHECK(report.samples + report.missed <= ticks + 2);
}

TEST_CASE("a slow source misses ticks and is not read back to back", "[sampler]") {
    const auto slow = [](std::uint64_t n) {
        std::this_thread::sleep_for(12ms);
        return bytes(n, n);
    };
    const auto [report, trace, sampler] = record(fake(slow), every(5ms), 400ms);
    CHECK(report.missed >= 2 * (report.samples - 2)); // 12 ms take two ticks with them
    REQUIRE(trace.samples.size() >= 3);
    for (std::size_t i = 1; i + 1 < trace.samples.size(); ++i) {
        CHECK((trace.samples[i].flags & missed_ticks) != 0);
        CHECK(trace.samples[i].t_ns / 5'000'000 > (trace.samples[i - 1].t_ns + 12'000'000) / 5'000'000);
    }
    CHECK(trace.info.missed == report.missed);
}

TEST_CASE("a failed read is a gap, not a zero", "[sampler]") {
    const auto broken = [](std::uint64_t n) {
        Counters counters = bytes(1000 + n, 1000 + n);
        if (n >= 3 && n < 6) {
            counters = Counters{};
            counters.error = EIO;
        }
        return counters;
    };
    const auto [report, trace, sampler] = record(fake(broken), every(2ms), 200ms);
    CHECK(report.failed == 3);
    CHECK(report.last_error == 0);
    REQUIRE(trace.samples.size() > 4);
    CHECK(trace.samples[2].rx_bytes == 1002);
    CHECK(trace.samples[3].rx_bytes == 1006);
    CHECK((trace.samples[3].flags & failed_reads) != 0);
    CHECK((trace.samples[4].flags & failed_reads) == 0);
    CHECK(trace_quality(trace).gaps.count >= 1);
}

TEST_CASE("a device that is gone at the end is told", "[sampler]") {
    const auto gone = [](std::uint64_t) {
        Counters counters;
        counters.error = ENODEV;
        return counters;
    };
    const auto [report, trace, sampler] = record(fake(gone), every(2ms), 20ms);
    CHECK(report.last_error == ENODEV);
    CHECK(report.failed > 0);
    CHECK(trace.samples.empty());
    CHECK(trace.info.complete); // the file is
    CHECK(trace.info.lost_from.value() < 2ms);
    CHECK(trace.info.reason.starts_with("duration; interface vanished after "));
}

TEST_CASE("a trace whose counters were lost on the way says since when, one that got them back does not",
          "[sampler]") {
    const auto lost_from_fifth = [](std::uint64_t n) {
        Counters counters = bytes(n, n);
        counters.error = n >= 4 ? EIO : 0;
        return counters;
    };
    const auto [report, trace, sampler] = record(fake(lost_from_fifth), every(5ms), 100ms);
    REQUIRE(trace.samples.size() == 4);
    REQUIRE(trace.info.lost_from);
    CHECK(trace.info.lost_from->count() > trace.samples.back().t_ns);
    CHECK(trace.info.reason.starts_with("duration; counters unreadable after "));
    CHECK(report.loss().ends_with("Input/output error"));
    const InterfaceSummary summary =
        summarize(trace, Direction::rx, 1ns, 60ms, standard_windows()); // not the whole trace
    CHECK(summary.quality.failed >= static_cast<std::uint64_t>((60ms - *trace.info.lost_from) / 5ms));
    CHECK(summary.warnings.at(0).starts_with("LOST COUNTERS: "));

    const auto back = [](std::uint64_t n) {
        Counters counters = bytes(n, n);
        counters.error = n < 4 ? ENODEV : 0;
        return counters;
    };
    const auto returned = record(fake(back), every(5ms), 100ms);
    CHECK_FALSE(returned.trace.info.lost_from);
    CHECK(returned.trace.info.reason == "duration");
}

TEST_CASE("a counter that falls, or a device that came back, starts a segment", "[sampler]") {
    const auto falling = [](std::uint64_t n) {
        Counters counters = bytes(n < 5 ? 1'000'000 + n : n, n);
        counters.reopened = n == 8;
        return counters;
    };
    const auto [report, trace, sampler] = record(fake(falling), every(2ms), 200ms);
    REQUIRE(trace.samples.size() > 9);
    for (std::size_t i = 0; i < 10; ++i)
        CHECK(((trace.samples[i].flags & new_segment) != 0) == (i == 5 || i == 8));
}

TEST_CASE("the refresh period of a slow counter is detected", "[sampler]") {
    const auto stepping = [](std::uint64_t) {
        return bytes(static_cast<std::uint64_t>(clock_ns() / 200'000'000) * 25'000'000, 0); // each 200 ms
    };
    const auto [report, trace, sampler] = record(fake(stepping), every(1ms), 1500ms);
    const auto period = trace_quality(trace).rx_refresh_period;
    REQUIRE(period);
    CHECK(*period >= 150ms);
    CHECK(*period <= 250ms);
}

TEST_CASE("a full ring drops the newest samples, counts them and flags the next", "[sampler]") {
    SamplerOptions options = every(1ms);
    options.ring_capacity = 8; // the writer looks each 100 ms
    const auto [report, trace, sampler] =
        record(fake([](std::uint64_t n) { return bytes(n, n); }), options, 350ms);
    CHECK(report.failed > 0);
    CHECK(report.samples == trace.samples.size());
    bool flagged = false;
    for (std::size_t i = 1; i < trace.samples.size(); ++i) {
        const bool hole = trace.samples[i].rx_bytes != trace.samples[i - 1].rx_bytes + 1;
        CHECK(hole == ((trace.samples[i].flags & failed_reads) != 0));
        flagged = flagged || hole;
    }
    CHECK(flagged);
}

TEST_CASE("stop is quick at any interval and takes a last sample", "[sampler]") {
    const TemporaryFolder folder;
    Sampler sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), folder / "trace.csv"), every(10s));
    const auto before = std::chrono::steady_clock::now();
    const SourceReport report = sampler.stop("signal 15").sources.at(0);
    CHECK(std::chrono::steady_clock::now() - before < 1s); // usually below 60 ms; one interval is 10 s
    CHECK(report.samples >= 1);
    CHECK(report.samples <= 2);
    CHECK(sampler.stop("again").sources.at(0).samples == report.samples);
    CHECK(read_trace(folder / "trace.csv").info.reason == "signal 15");
}

TEST_CASE("a sampler that nobody stopped leaves a finished trace", "[sampler]") {
    const TemporaryFolder folder;
    {
        const Sampler sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), folder / "trace.csv"),
                              every(1ms));
    }
    CHECK(read_trace(folder / "trace.csv").info.reason == "abandoned");
}

TEST_CASE("a full disk ends the recording and is told by stop", "[sampler]") {
    const TemporaryFolder folder;
    // The header fits, then the sidecar cannot be created: a folder stands in its way.
    fs::create_directory(folder / "trace.json.new");
    Sampler sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), folder / "trace.csv"), every(1ms));
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!sampler.failed() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    CHECK(sampler.failed());
    for (int call = 0; call < 2; ++call) {
        const SamplerReport report = sampler.stop("duration");
        CHECK_THAT(report.sources.at(0).error, Catch::Contains("trace.json.new"));
        CHECK_THROWS_WITH(report.require_written(), Catch::Contains("trace.json.new"));
    }
}
