#include "collectors/sampler.hpp"

#include "collectors/monotonic_clock.hpp"
#include "collectors/trace_quality.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <functional>
#include <system_error>
#include <thread>

#include <unistd.h>

#include "catch.hpp"

using namespace collectors;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using Counters = CounterSource::Counters;

namespace {

/// A path for one trace that goes away with the test.
class TemporaryTrace {
public:
    TemporaryTrace() {
        std::string name = (fs::temp_directory_path() / "sampler_test.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
        folder_ = name;
    }
    ~TemporaryTrace() {
        std::error_code ignored;
        fs::remove_all(folder_, ignored);
    }
    TemporaryTrace(const TemporaryTrace&) = delete;
    TemporaryTrace& operator=(const TemporaryTrace&) = delete;
    fs::path path(const std::string& name = "trace.csv") const { return folder_ / name; }

private:
    fs::path folder_;
};

/// Calls a function for each read; it is told how many reads came before.
class FakeCounters : public CounterSource {
public:
    using Function = std::function<Counters(std::uint64_t)>;
    explicit FakeCounters(Function function) : function_(std::move(function)) {}

    Counters read() noexcept override {
        const std::int64_t begin = clock_ns();
        Counters counters = function_(reads_++);
        counters.begin_ns = begin;
        counters.middle_ns = begin + (clock_ns() - begin) / 2;
        counters.end_ns = clock_ns();
        return counters;
    }
    std::string name() const override { return "fake"; }

private:
    Function function_;
    std::uint64_t reads_ = 0;
};

Counters bytes(std::uint64_t rx, std::uint64_t tx) {
    Counters counters;
    counters.rx_bytes = rx;
    counters.tx_bytes = tx;
    return counters;
}

std::unique_ptr<FakeCounters> fake(FakeCounters::Function function) {
    return std::make_unique<FakeCounters>(std::move(function));
}

SamplerOptions every(std::chrono::nanoseconds interval) {
    SamplerOptions options;
    options.interval = interval;
    return options;
}

std::vector<SamplerSource> one(std::unique_ptr<CounterSource> source, const fs::path& path) {
    std::vector<SamplerSource> sources;
    sources.push_back({std::move(source), path, {}});
    return sources;
}

struct Recorded {
    SourceReport report;
    Trace trace;
    SamplerReport sampler;
};

/// Records for `duration`: that is the subject here, not a way to wait for something.
Recorded record(std::unique_ptr<CounterSource> source, const SamplerOptions& options,
                std::chrono::nanoseconds duration) {
    const TemporaryTrace file;
    Sampler sampler(one(std::move(source), file.path()), options);
    std::this_thread::sleep_for(duration);
    Recorded recorded;
    recorded.sampler = sampler.stop("duration");
    recorded.report = recorded.sampler.sources.at(0);
    recorded.trace = read_trace(file.path());
    return recorded;
}

} // namespace

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
    CHECK(sampler.spin == 0ns); // from 1 ms on it only sleeps
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
    CHECK(trace.info.complete);
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
    const TemporaryTrace file;
    Sampler sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), file.path()), every(10s));
    const auto before = std::chrono::steady_clock::now();
    const SourceReport report = sampler.stop("signal 15").sources.at(0);
    CHECK(std::chrono::steady_clock::now() - before < 1s); // usually below 60 ms; one interval is 10 s
    CHECK(report.samples >= 1);
    CHECK(report.samples <= 2);
    CHECK(sampler.stop("again").sources.at(0).samples == report.samples);
    CHECK(read_trace(file.path()).info.reason == "signal 15");
}

TEST_CASE("a sampler that nobody stopped leaves a finished trace", "[sampler]") {
    const TemporaryTrace file;
    {
        const Sampler sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), file.path()),
                              every(1ms));
    }
    CHECK(read_trace(file.path()).info.reason == "abandoned");
}

TEST_CASE("a full disk ends the recording and is told by stop", "[sampler]") {
    const TemporaryTrace file;
    // The header fits, then the sidecar cannot be created: a folder stands in its way.
    fs::create_directory(file.path("trace.json.new"));
    Sampler sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), file.path()), every(1ms));
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

TEST_CASE("several sources are read at each tick, one after another, each into its own trace", "[sampler]") {
    const TemporaryTrace folder;
    std::vector<SamplerSource> sources;
    for (std::uint64_t number = 0; number < 3; ++number)
        sources.push_back({fake([number](std::uint64_t n) { return bytes(1000 * number + n, n); }),
                           folder.path("trace." + std::to_string(number) + ".csv"),
                           {}});
    Sampler sampler(std::move(sources), every(2ms));
    std::this_thread::sleep_for(200ms);
    const SamplerReport report = sampler.stop("duration");
    REQUIRE(report.sources.size() == 3);
    CHECK(report.cpu_share_of_one() == Approx(report.cpu_share / 3));
    std::vector<Trace> traces;
    for (std::uint64_t number = 0; number < 3; ++number) {
        const Trace trace = read_trace(folder.path("trace." + std::to_string(number) + ".csv"));
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
    const TemporaryTrace folder;
    std::vector<SamplerSource> sources;
    sources.push_back({fake([](std::uint64_t n) {
                           Counters counters = bytes(n, n);
                           counters.error = n >= 10 ? ENODEV : 0;
                           return counters;
                       }),
                       folder.path("gone.csv"),
                       {}});
    fs::create_directory(folder.path("unwritable.json.new")); // in the way of its sidecar
    sources.push_back({fake([](std::uint64_t n) { return bytes(n, n); }), folder.path("unwritable.csv"), {}});
    sources.push_back({fake([](std::uint64_t n) { return bytes(n, n); }), folder.path("good.csv"), {}});
    Sampler sampler(std::move(sources), every(2ms));
    std::this_thread::sleep_for(200ms);
    CHECK_FALSE(sampler.failed()); // two can still be written
    const SamplerReport report = sampler.stop("duration");
    CHECK(report.sources[0].last_error == ENODEV);
    CHECK(report.sources[0].samples == 10);
    CHECK(report.sources[0].error.empty());
    CHECK(read_trace(folder.path("gone.csv")).info.complete);
    CHECK_FALSE(report.sources[1].error.empty());
    CHECK(report.sources[2].failed == 0);
    const Trace good = read_trace(folder.path("good.csv"));
    CHECK(good.samples.size() > 10);
    CHECK(good.samples.size() == report.sources[2].samples);
    CHECK(trace_quality(good).failed == 0);
}

TEST_CASE("a slow source makes the next one late, and that is recorded", "[sampler]") {
    const TemporaryTrace folder;
    std::vector<SamplerSource> sources;
    sources.push_back({fake([](std::uint64_t n) {
                           std::this_thread::sleep_for(6ms);
                           return bytes(n, n);
                       }),
                       folder.path("slow.csv"),
                       {}});
    sources.push_back({fake([](std::uint64_t n) { return bytes(n, n); }), folder.path("fast.csv"), {}});
    Sampler sampler(std::move(sources), every(5ms));
    std::this_thread::sleep_for(300ms);
    const SamplerReport report = sampler.stop("duration");
    const Trace fast = read_trace(folder.path("fast.csv"));
    REQUIRE(fast.samples.size() >= 3);
    CHECK(fast.samples[0].t_ns >= 6'000'000); // it served tick 1: tick 0 is missed
    CHECK((fast.samples[0].flags & missed_ticks) != 0);
    CHECK(report.sources[1].missed >= fast.samples.size() - 2);
}

TEST_CASE("an interval of zero is refused", "[sampler]") {
    const TemporaryTrace file;
    CHECK_THROWS_AS(Sampler(one(fake([](std::uint64_t n) { return bytes(n, n); }), file.path()), every(0ns)),
                    std::invalid_argument);
}
