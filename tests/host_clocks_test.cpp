#include "collectors/host_clocks.hpp"

#include "collectors/summary.hpp"
#include "collectors/summary_warnings.hpp"
#include "collectors/trace_quality.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include "catch.hpp"
#include "fake_counters.hpp"

using namespace collectors;
using namespace std::chrono_literals;
using tests::bytes;
using tests::every;
using tests::fake;
using tests::one;
using tests::TemporaryFolder;

namespace {

// What the fake clocks add to the real ones.
std::atomic<std::int64_t> wall_step_ns{0};
std::atomic<std::int64_t> suspended_ns{0};

std::int64_t fake_clock(clockid_t clock) noexcept {
    const std::int64_t now = clock_ns(clock);
    if (clock == CLOCK_BOOTTIME)
        return now + suspended_ns;
    return clock == CLOCK_REALTIME ? now + suspended_ns + wall_step_ns : now;
}

Trace record_while(const std::function<void()>& happens) {
    const TemporaryFolder folder;
    SamplerOptions options = every(1ms);
    options.clock = fake_clock;
    Sampler sampler(one(fake([](std::uint64_t n) { return bytes(1000 * n, 0); }), folder / "trace.csv"),
                    options);
    std::this_thread::sleep_for(60ms);
    happens();
    std::this_thread::sleep_for(60ms);
    sampler.stop("duration");
    return read_trace(folder / "trace.csv");
}

std::string host_warnings_of(const Trace& trace) {
    std::string text;
    for (const std::string& warning : warnings_about_hosts(std::span(&trace.info, 1)))
        text += warning + "\n";
    return text;
}

std::string warnings_of(const Trace& trace) {
    const std::vector<std::chrono::nanoseconds> windows{10ms};
    std::string text;
    for (const std::string& warning : summarize(trace, Direction::rx, std::chrono::nanoseconds::min(),
                                                std::chrono::nanoseconds::max(), windows)
                                          .warnings)
        text += warning + "\n";
    return text;
}

} // namespace

TEST_CASE("only a jump that no interruption explains is a suspend", "[clocks]") {
    SuspendWatch watch;
    CHECK(watch.add(100, 5'000'000'120, 140) == 0); // ahead by 4'999'999'980 to 5'000'000'020
    CHECK(watch.add(1'000, 5'000'001'020, 1'040) == 0);
    // Interrupted for 7 ms after the first reading, then after the second.
    CHECK(watch.add(2'000, 5'007'002'000, 7'002'040) == 0);
    CHECK(watch.add(8'000'000, 5'008'000'010, 15'000'000) == 0);
    // Suspended for 3 s: at least what the narrow readings around it prove.
    CHECK(watch.add(20'000'000, 8'020'000'020, 20'000'040) ==
          3'000'000'000 - 30); // the narrowest was ahead by 10 ns less
    CHECK(watch.add(21'000'000, 8'021'000'020, 21'000'040) == 0);
    // 0.9 ms is none.
    CHECK(watch.add(22'000'000, 8'022'900'020, 22'000'040) == 0);
}

TEST_CASE("the facts of the clocks are differences between both ends", "[clocks]") {
    const ClockMoment start{1'000, 1'700'000'000'000'001'000, 1'000, 5'000};
    // 10 s later, of which the monotonic clock ran 50 ppm fast; suspended for 2 s; the wall clock set back 1
    // s.
    const ClockMoment end{10'000'501'000, 1'700'000'011'000'501'000, 12'000'501'000, 10'000'005'000};
    const ClockFacts facts = clock_facts(start, end);
    CHECK(facts.slew_ppm == Approx(50).epsilon(0.01));
    CHECK(facts.suspended_ns == 2'000'000'000);
    TraceInfo info;
    info.start_monotonic_ns = start.monotonic_ns;
    info.start_realtime_ns = start.realtime_ns;
    CHECK(realtime_step_ns(info) == 0); // nobody knows
    info.clocks = facts;
    CHECK(realtime_step_ns(info) == -1'000'000'000);
}

TEST_CASE("a wall clock that is set changes no interval, and is told", "[clocks]") {
    wall_step_ns = 0;
    const Trace quiet = record_while([] {});
    CHECK(host_warnings_of(quiet).empty());
    CHECK(quiet.info.clocks.end_monotonic_ns > quiet.info.start_monotonic_ns);
    CHECK(std::abs(realtime_step_ns(quiet.info)) < 1'000'000);

    const Trace stepped = record_while([] { wall_step_ns = -3'600'000'000'000; });
    wall_step_ns = 0;
    CHECK(stepped.samples.size() > 10);
    CHECK(stepped.samples.back().t_ns < 10'000'000'000);
    for (const Sample& sample : stepped.samples)
        CHECK((sample.flags & (new_segment | host_suspended)) == 0);
    CHECK_THAT(host_warnings_of(stepped), Catch::Contains("WALL CLOCK MOVED by -3600"));
}

TEST_CASE("a wall clock that was set is told once for each host, not for each trace", "[clocks]") {
    TraceInfo stepped;
    stepped.host = "node-a";
    stepped.start_monotonic_ns = 1;
    stepped.clocks.end_monotonic_ns = 1;
    stepped.clocks.end_realtime_ns = 2'000'000'000;
    TraceInfo other = stepped;
    other.host = "node-b";
    TraceInfo steady = stepped;
    steady.host = "node-c";
    steady.clocks.end_realtime_ns = 0;
    const std::vector<TraceInfo> traces{stepped, stepped, other, steady, stepped};
    const std::vector<std::string> warnings = warnings_about_hosts(traces);
    REQUIRE(warnings.size() == 2);
    CHECK_THAT(warnings[0], Catch::StartsWith("WALL CLOCK MOVED by 2.000000 s on node-a"));
    CHECK_THAT(warnings[1], Catch::StartsWith("WALL CLOCK MOVED by 2.000000 s on node-b"));
}

TEST_CASE("a suspended host leaves a gap that no window spans", "[clocks]") {
    suspended_ns = 0;
    const Trace trace = record_while([] { suspended_ns = 7'000'000'000; });
    suspended_ns = 0;
    std::size_t flagged = 0;
    for (const Sample& sample : trace.samples)
        if ((sample.flags & host_suspended) != 0) {
            ++flagged;
            CHECK((sample.flags & new_segment) != 0);
        }
    CHECK(flagged == 1);
    CHECK(std::abs(trace.info.clocks.suspended_ns - 7'000'000'000) < 1'000'000);
    CHECK(std::abs(realtime_step_ns(trace.info)) < 1'000'000); // not a wall clock that was set
    CHECK(trace_quality(trace).suspends == 1);
    CHECK(trace_quality(trace).restarts == 0); // the counters went on
    CHECK_THAT(warnings_of(trace), Catch::Contains("HOST WAS SUSPENDED 1 time, for 7 s"));
}
