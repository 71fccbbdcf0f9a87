#include "collectors/sampler.hpp"

#include "collectors/burstiness.hpp"
#include "collectors/sampling_thread.hpp"
#include "collectors/tick_clock.hpp"
#include "collectors/trace_quality.hpp"

#include <atomic>
#include <chrono>
#include <filesystem>

#include <sched.h>

#include "catch.hpp"
#include "fake_counters.hpp"

using namespace collectors;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::bytes;
using tests::every;
using tests::fake;
using tests::one;
using tests::record;
using tests::TemporaryFolder;

TEST_CASE("intervals from 20 us to 10 s are taken, others refused", "[sampler]") {
    const TemporaryFolder folder;
    for (const std::chrono::nanoseconds interval : {0ns, 19'999ns, 10'000'000'001ns})
        CHECK_THROWS_WITH(
            Sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), folder / "trace.csv"),
                    every(interval)),
            Catch::Contains("from 20 us to 10 s"));
    CHECK_FALSE(fs::exists(folder / "trace.csv")); // found before anything is created
    CHECK_NOTHROW(check_options(every(20us)));
    CHECK_NOTHROW(check_options(every(10s)));
}

TEST_CASE("ticks after the last sample that was asked for are not missed", "[sampler]") {
    SamplerOptions options = every(1ms);
    options.max_samples = 3;
    const auto [report, trace, sampler] =
        record(fake([](std::uint64_t n) { return bytes(n, n); }), options, 150ms);
    CHECK(trace.samples.size() == 3);
    CHECK(report.missed <= static_cast<std::uint64_t>(trace.samples.back().t_ns / 1'000'000)); // before it
}

TEST_CASE("an interval that a wake-up would miss is spun through, a longer one for an eighth at most",
          "[sampler]") {
    const std::int64_t shortest = TickClock(20'000).spin_ns();
    CHECK((shortest == 20'000 || shortest <= 20'000 / 8)); // where a wake-up takes less than 10 us
    CHECK(TickClock(51'000).spin_ns() <= 51'000 / 8);
    CHECK(TickClock(1'000'000).spin_ns() == 0);
}

TEST_CASE("SCHED_FIFO is refused where the sampler spins", "[sampler]") {
    SamplerOptions options = every(999us);
    options.fifo = true;
    CHECK_THROWS_WITH(check_options(options), Catch::Contains("at least 1 ms"));
    options.interval = 1ms;
    CHECK_NOTHROW(check_options(options));
}

TEST_CASE("with SCHED_FIFO it samples, or says that it was refused and samples all the same", "[sampler]") {
    SamplerOptions options = every(2ms);
    options.fifo = true;
    const auto [report, trace, sampler] =
        record(fake([](std::uint64_t n) { return bytes(n, n); }), options, 50ms);
    const std::string& scheduling = sampler.sampler.scheduling;
    CHECK((scheduling == "SCHED_FIFO 10" ||
           Catch::StartsWith("SCHED_OTHER (SCHED_FIFO was refused: ").match(scheduling)));
    CHECK(trace.samples.size() >= 2);
    CHECK(trace.info.sampler.scheduling == scheduling);
    // The self-report of the sidecar is what the samples tell.
    const TraceQuality quality = trace_quality(trace);
    CHECK(trace.info.sampler.achieved_interval.p50 == quality.achieved_interval.p50);
    CHECK(trace.info.sampler.achieved_interval.max == quality.achieved_interval.max);
    CHECK(trace.info.sampler.read_width.max == quality.read_width.max);
    CHECK(trace.info.sampler.gaps == quality.gaps.count);
    CHECK(trace.info.sampler.longest_gap == quality.gaps.longest);
    CHECK(trace.info.sampler.resolved_from == resolved_from(quality.achieved_interval.p50, {}));
    CHECK_FALSE(trace.info.sampler.refresh_period);
    CHECK(trace.info.sampler.sources == 1);
    CHECK(trace.info.sampler.cpu_share > 0);
}

TEST_CASE("a pinned sampler runs on its CPU; one that cannot be pinned does not start", "[sampler]") {
    const int cpu = allowed_cpus().back();
    std::atomic<int> seen{-1};
    SamplerOptions options = every(2ms);
    options.cpu = cpu;
    const auto [report, trace, sampler] = record(fake([&](std::uint64_t n) {
                                                     seen = ::sched_getcpu();
                                                     return bytes(n, n);
                                                 }),
                                                 options, 20ms);
    CHECK(seen == cpu);
    CHECK(trace.info.sampler.cpu == cpu);
    options.cpu = 1000; // no machine of ours has it
    const TemporaryFolder folder;
    CHECK_THROWS_WITH(
        Sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), folder / "trace.csv"), options),
        Catch::Contains("CPU 1000"));
}
