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
    fs::path path() const { return folder_ / "trace.csv"; }

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

struct Recording {
    SamplerReport report;
    Trace trace;
};

/// Records for `duration`: that is the subject here, not a way to wait for something.
Recording record(std::unique_ptr<CounterSource> source, const SamplerOptions& options,
                 std::chrono::nanoseconds duration) {
    const TemporaryTrace file;
    Sampler sampler(std::move(source), file.path(), {}, options);
    std::this_thread::sleep_for(duration);
    Recording recording;
    recording.report = sampler.stop("duration");
    recording.trace = read_trace(file.path());
    return recording;
}

} // namespace

TEST_CASE("every read becomes one sample, in order, within its window", "[sampler]") {
    const auto [report, trace] =
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
    CHECK(report.spin == 0ns); // from 1 ms on it only sleeps
}

TEST_CASE("samples come at their ticks, never before", "[sampler]") {
    const auto [report, trace] =
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
    const auto [report, trace] = record(fake(slow), every(5ms), 400ms);
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
    const auto [report, trace] = record(fake(broken), every(2ms), 200ms);
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
    const auto [report, trace] = record(fake(gone), every(2ms), 20ms);
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
    const auto [report, trace] = record(fake(falling), every(2ms), 200ms);
    REQUIRE(trace.samples.size() > 9);
    for (std::size_t i = 0; i < 10; ++i)
        CHECK(((trace.samples[i].flags & new_segment) != 0) == (i == 5 || i == 8));
}

TEST_CASE("the refresh period of a slow counter is detected", "[sampler]") {
    const auto stepping = [](std::uint64_t) {
        return bytes(static_cast<std::uint64_t>(clock_ns() / 200'000'000) * 25'000'000, 0); // each 200 ms
    };
    const auto [report, trace] = record(fake(stepping), every(1ms), 1500ms);
    const auto period = trace_quality(trace).rx_refresh_period;
    REQUIRE(period);
    CHECK(*period >= 150ms);
    CHECK(*period <= 250ms);
}

TEST_CASE("a full ring drops the newest samples, counts them and flags the next", "[sampler]") {
    SamplerOptions options = every(1ms);
    options.ring_capacity = 8; // the writer looks each 100 ms
    const auto [report, trace] = record(fake([](std::uint64_t n) { return bytes(n, n); }), options, 350ms);
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
    Sampler sampler(fake([](std::uint64_t n) { return bytes(n, n); }), file.path(), {}, every(10s));
    const auto before = std::chrono::steady_clock::now();
    const SamplerReport report = sampler.stop("signal 15");
    CHECK(std::chrono::steady_clock::now() - before < 1s); // usually below 60 ms; one interval is 10 s
    CHECK(report.samples >= 1);
    CHECK(report.samples <= 2);
    CHECK(sampler.stop("again").samples == report.samples);
    CHECK(read_trace(file.path()).info.reason == "signal 15");
}

TEST_CASE("a sampler that nobody stopped leaves a finished trace", "[sampler]") {
    const TemporaryTrace file;
    {
        const Sampler sampler(fake([](std::uint64_t n) { return bytes(n, n); }), file.path(), {}, every(1ms));
    }
    CHECK(read_trace(file.path()).info.reason == "abandoned");
}

TEST_CASE("a full disk ends the recording and is told by stop", "[sampler]") {
    const TemporaryTrace file;
    // The header fits, then the sidecar cannot be created: a folder stands in its way.
    fs::create_directory(file.path().parent_path() / "trace.json.new");
    Sampler sampler(fake([](std::uint64_t n) { return bytes(n, n); }), file.path(), {}, every(1ms));
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    while (!sampler.failed() && std::chrono::steady_clock::now() < deadline)
        std::this_thread::yield();
    CHECK(sampler.failed());
    CHECK_THROWS_AS(sampler.stop("duration"), std::system_error);
    CHECK_THROWS_AS(sampler.stop("duration"), std::system_error);
}

TEST_CASE("an interval of zero is refused", "[sampler]") {
    const TemporaryTrace file;
    CHECK_THROWS_AS(Sampler(fake([](std::uint64_t n) { return bytes(n, n); }), file.path(), {}, every(0ns)),
                    std::invalid_argument);
}
