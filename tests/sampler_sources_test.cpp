#include "collectors/sampler.hpp"

#include "collectors/trace_quality.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
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
using tests::TemporaryFolder;

TEST_CASE("several sources are read at each tick, one after another, each into its own trace", "[sampler]") {
    const TemporaryFolder folder;
    std::vector<SamplerSource> sources;
    for (std::uint64_t number = 0; number < 3; ++number)
        sources.push_back({fake([number](std::uint64_t n) { return bytes(1000 * number + n, n); }),
                           folder / ("trace." + std::to_string(number) + ".csv"),
                           {}});
    Sampler sampler(std::move(sources), every(2ms));
    std::this_thread::sleep_for(200ms);
    const SamplerReport report = sampler.stop("duration");
    REQUIRE(report.sources.size() == 3);
    CHECK(report.cpu_share_of_one() == Approx(report.sampler.cpu_share / 3));
    std::vector<Trace> traces;
    for (std::uint64_t number = 0; number < 3; ++number) {
        const Trace trace = read_trace(folder / ("trace." + std::to_string(number) + ".csv"));
        REQUIRE(trace.samples.size() >= 10);
        CHECK(trace.samples.size() == report.sources[number].samples);
        CHECK(trace.samples[5].rx_bytes == 1000 * number + 5);
        CHECK(trace.info.complete);
        traces.push_back(trace);
    }
    for (std::size_t n = 0; n < traces[0].samples.size(); ++n)
        for (std::size_t number = 1; number < 3; ++number) {
            const Sample& before = traces[number - 1].samples.at(n);
            CHECK(traces[number].samples.at(n).t_ns >= before.t_ns + before.rx_width_ns + before.tx_width_ns);
        }
    CHECK(traces[2].info.start_monotonic_ns == traces[0].info.start_monotonic_ns);
}

TEST_CASE("a source that fails does not disturb the others", "[sampler]") {
    const TemporaryFolder folder;
    std::vector<SamplerSource> sources;
    sources.push_back({fake([](std::uint64_t n) {
                           Counters counters = bytes(n, n);
                           counters.error = n >= 10 ? ENODEV : 0;
                           return counters;
                       }),
                       folder / "gone.csv",
                       {}});
    fs::create_directory(folder / "unwritable.json.new"); // in the way of its sidecar
    sources.push_back({fake([](std::uint64_t n) { return bytes(n, n); }), folder / "unwritable.csv", {}});
    sources.push_back({fake([](std::uint64_t n) { return bytes(n, n); }), folder / "good.csv", {}});
    Sampler sampler(std::move(sources), every(2ms));
    std::this_thread::sleep_for(200ms);
    CHECK_FALSE(sampler.failed()); // two can still be written
    const SamplerReport report = sampler.stop("duration");
    CHECK(report.sources[0].last_error == ENODEV);
    CHECK(report.sources[0].samples == 10);
    CHECK(report.sources[0].error.empty());
    CHECK(read_trace(folder / "gone.csv").info.complete);
    CHECK_FALSE(report.sources[1].error.empty());
    CHECK(report.sources[2].failed == 0);
    const Trace good = read_trace(folder / "good.csv");
    CHECK(good.samples.size() > 10);
    CHECK(good.samples.size() == report.sources[2].samples);
    CHECK(trace_quality(good).failed == 0);
}

TEST_CASE("a slow source makes the next one late, and that is recorded", "[sampler]") {
    const TemporaryFolder folder;
    std::vector<SamplerSource> sources;
    sources.push_back({fake([](std::uint64_t n) {
                           std::this_thread::sleep_for(6ms);
                           return bytes(n, n);
                       }),
                       folder / "slow.csv",
                       {}});
    sources.push_back({fake([](std::uint64_t n) { return bytes(n, n); }), folder / "fast.csv", {}});
    Sampler sampler(std::move(sources), every(5ms));
    std::this_thread::sleep_for(300ms);
    const SamplerReport report = sampler.stop("duration");
    const Trace fast = read_trace(folder / "fast.csv");
    REQUIRE(fast.samples.size() >= 3);
    CHECK(fast.samples[0].t_ns >= 6'000'000); // it served tick 1: tick 0 is missed
    CHECK((fast.samples[0].flags & missed_ticks) != 0);
    CHECK(report.sources[1].missed >= fast.samples.size() - 2);
}
