#include "collectors/summary.hpp"

#include "collectors/summary_json.hpp"

#include <algorithm>
#include <string>

#include <nlohmann/json.hpp>

#include "catch.hpp"
#include "text.hpp"

using namespace collectors;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;
using tests::contains;

namespace {

constexpr nanoseconds from_first = nanoseconds::min();
constexpr nanoseconds to_last = nanoseconds::max();

/// tx: 10 ms at 1 Gbit/s (1.25 MB) each 100 ms for 2 s; rx: nothing. Read each 500 us within 2 x 2 us.
Trace bursty() {
    Trace trace;
    trace.info.host = "node-a";
    trace.info.interface = "eth0";
    trace.info.source = "sysfs";
    trace.info.driver = "virtual";
    trace.info.interval = 500us;
    trace.info.complete = true;
    trace.info.reason = "duration";
    trace.info.build_type = "Release";
    for (std::int64_t t = 0; t <= 2'000'000'000; t += 500'000) {
        const std::int64_t bits_ns =
            t / 100'000'000 * 10'000'000 + std::min<std::int64_t>(t % 100'000'000, 10'000'000);
        trace.samples.push_back({t, 2000, 2000, 0, static_cast<std::uint64_t>(bits_ns / 8), 0});
    }
    return trace;
}

InterfaceSummary summarize_all(const Trace& trace, Direction direction = Direction::tx) {
    return summarize(trace, direction, from_first, to_last, standard_windows());
}

bool warns(const InterfaceSummary& summary, const std::string& capitals) {
    return std::any_of(summary.warnings.begin(), summary.warnings.end(),
                       [&](const std::string& warning) { return warning.starts_with(capitals); });
}

} // namespace

TEST_CASE("the summary of bursts is what a hand computes", "[summary]") {
    const std::vector<nanoseconds> windows{1ms, 5ms, 50ms, 5s};
    const std::vector<BitRate> rates{BitRate{500'000'000}};
    const InterfaceSummary summary =
        summarize(bursty(), Direction::tx, from_first, to_last, windows, always(rates));
    CHECK(summary.nic_bytes == 25'000'000); // 20 bursts of 1.25 MB
    CHECK(summary.mean_bits_per_second == Approx(100e6));
    CHECK(summary.curve.resolved_from == 5ms);
    CHECK_FALSE(summary.curve.points[0].resolved);
    CHECK(peak_to_mean(summary.curve, summary.curve.points[1]).estimate == Approx(10)); // 100 ms / 10 ms
    CHECK(peak_to_mean(summary.curve, summary.curve.points[2]).estimate == Approx(2));  // 100 ms / 50 ms
    // 1.25 MB arrive in 10 ms, 0.625 MB leave.
    CHECK(summary.backlog.at(0).bytes.estimate == Approx(625'000));
    CHECK(summary.bursts.count == 20);
    CHECK(summary.bursts.length.p50 == 10ms);
    CHECK(summary.bursts.median_bytes == 1'250'000);
    CHECK(summary.warnings.empty());
}

TEST_CASE("only the samples between from and to count", "[summary]") {
    const InterfaceSummary summary = summarize(bursty(), Direction::tx, 50ms, 450ms, standard_windows());
    CHECK(summary.nic_bytes == 5'000'000); // the bursts at 100, 200, 300 and 400 ms
    CHECK(summary.quality.samples == 800);
    CHECK_FALSE(summary.curve.points.back().resolved); // 1 s of 0.4 s
}

TEST_CASE("a window that is not resolved has a reason and no number", "[summary]") {
    const std::vector<nanoseconds> windows{1ms, 5ms, 5s};
    const std::vector<std::optional<double>> predicted{10.0, std::nullopt, 0.5};
    const InterfaceSummary summary = summarize(bursty(), Direction::tx, from_first, to_last, windows);
    const std::string text = summary_text(summary, predicted);
    CHECK(contains(text, "1 ms  not resolved (needs --interval <= 100 us)"));
    CHECK(contains(text, "5 s  trace too short"));
    CHECK(contains(text, "predicted"));
    CHECK_FALSE(contains(summary_text(summary), "predicted"));

    const nlohmann::ordered_json json = summary_json(summary, predicted);
    CHECK(json["burstiness"][0]["ptm_estimate"].is_null());
    CHECK(json["burstiness"][0]["e_upper_bytes"].is_null());
    CHECK(json["burstiness"][0]["ptm_predicted"] == 10.0);
    CHECK(json["burstiness"][1]["ptm_estimate"].get<double>() == Approx(10));
    CHECK(json["burstiness"][1]["ptm_predicted"].is_null());
    CHECK(json["nic_bytes"] == 25'000'000);
}

TEST_CASE("no traffic is said in words and is null, never NaN", "[summary]") {
    Trace empty = bursty();
    empty.samples.clear();
    for (const InterfaceSummary& summary : {summarize_all(bursty(), Direction::rx), summarize_all(empty)}) {
        const std::string text = summary_text(summary);
        CHECK(contains(text, "no traffic"));
        CHECK_FALSE(contains(text, "nan"));
        CHECK_FALSE(contains(text, "inf"));
        const nlohmann::ordered_json json = summary_json(summary);
        for (const auto& point : json["burstiness"])
            CHECK(point["ptm_estimate"].is_null());
        CHECK_FALSE(contains(json.dump(), "nan"));
    }
    CHECK(summary_json(summarize_all(bursty(), Direction::rx))["nic_bytes"] == 0);
    CHECK(summary_json(summarize_all(empty))["nic_bytes"].is_null());
}

TEST_CASE("what makes a number doubtful is said in capitals", "[summary]") {
    Trace trace = bursty();
    trace.info.complete = false;
    CHECK(warns(summarize_all(trace), "INCOMPLETE TRACE"));

    trace = bursty();
    trace.info.missed = 41; // of 4042: 1.01 %
    CHECK(warns(summarize_all(trace), "MISSED TICKS"));
    trace.info.missed = 40; // of 4041: 0.99 %
    CHECK_FALSE(warns(summarize_all(trace), "MISSED TICKS"));

    trace = bursty();
    trace.samples.erase(trace.samples.begin() + 100, trace.samples.begin() + 400);
    CHECK(warns(summarize_all(trace), "GAPS: 1 gaps, 150.5 ms in total")); // of 2.2 s: 6.8 %
    trace = bursty();
    trace.samples.erase(trace.samples.begin() + 100, trace.samples.begin() + 144); // 22.5 ms: 1.1 %
    CHECK(warns(summarize_all(trace), "GAPS: 1 gaps, 22.5 ms in total"));
    trace = bursty();
    trace.samples.erase(trace.samples.begin() + 100,
                        trace.samples.begin() + 120); // 0.5 %: the bounds show it
    CHECK_FALSE(warns(summarize_all(trace), "GAPS"));
    trace = bursty();
    trace.samples.erase(trace.samples.begin() + 100,
                        trace.samples.begin() + 104); // 2.5 ms: no harm from 5 ms on
    CHECK(summarize_all(trace).quality.gaps.count == 1);
    CHECK_FALSE(warns(summarize_all(trace), "GAPS"));

    trace = bursty();
    trace.info.build_type = "Debugaddress,undefined";
    CHECK(warns(summarize_all(trace), "DEBUG BUILD"));
}

TEST_CASE("without an interval lateness and missed ticks are not known, not 0", "[summary]") {
    Trace trace = bursty();
    trace.info = {};
    InterfaceSummary summary = summarize_all(trace);
    CHECK(contains(summary_text(summary), "missed not known, failed not known, 0 gaps"));
    CHECK(contains(summary_text(summary), "lateness    not known"));
    nlohmann::ordered_json json = summary_json(summary);
    CHECK(json["missed"].is_null());
    CHECK(json["failed"].is_null());
    CHECK(json["lateness_seconds"].is_null());
    CHECK(json["interval_seconds"].is_null());
    CHECK(json["missed_at_least"] == 0);

    for (std::size_t i = 100; i < 150; ++i)
        trace.samples[i].flags = missed_ticks;
    summary = summarize_all(trace);
    CHECK(contains(summary_text(summary), "at least 50 missed, failed not known"));
    CHECK(warns(summary, "MISSED TICKS: at least 1.2 %"));
    json = summary_json(summary);
    CHECK(json["missed"].is_null());
    CHECK(json["missed_at_least"] == 50);
    json = summary_json(summarize_all(bursty()));
    CHECK(json["missed"] == 0);
    CHECK(json["missed_at_least"] == 0);
    CHECK(json["lateness_seconds"]["p50"] == 0.0);
}

TEST_CASE("a trace that holds less than was recorded is not whole, and not complete", "[summary]") {
    Trace trace = bursty();
    CHECK(summary_json(summarize_all(trace))["whole"].is_null()); // nobody counted
    trace.info.samples = trace.samples.size();
    trace.info.missed = 5;
    InterfaceSummary summary = summarize_all(trace);
    CHECK(summary.warnings.empty());
    CHECK(summary.quality.missed == 5);
    CHECK(summary_json(summary)["whole"] == true);
    // A part that was asked for is not a trace that was cut.
    CHECK(summarize(trace, Direction::tx, 50ms, 450ms, standard_windows()).warnings.empty());

    trace.samples.resize(2000);
    summary = summarize_all(trace);
    CHECK(warns(summary, "TRACE IS NOT WHOLE: 2000 samples of 4001 that were recorded"));
    CHECK_FALSE(warns(summary, "INCOMPLETE TRACE"));
    CHECK(summary_json(summary)["whole"] == false);
    CHECK(summary_json(summary)["complete"] == false);
    CHECK(warns(summarize(trace, Direction::tx, 50ms, 450ms, standard_windows()), "TRACE IS NOT WHOLE"));
}

TEST_CASE("a slow counter is refused below twice its period", "[summary]") {
    Trace trace = bursty();
    trace.info.driver = "bnxt_en";
    for (Sample& sample : trace.samples)
        sample.tx_bytes = static_cast<std::uint64_t>(sample.t_ns / 100'000'000) * 12'500'000;
    const InterfaceSummary summary = summarize_all(trace);
    CHECK(summary.refresh_period == 100ms);
    CHECK(summary.curve.resolved_from == 200ms);
    CHECK(warns(summary, "SLOW COUNTER: it moves only every 100 ms"));
    CHECK(contains(summary_text(summary), "100 ms  not resolved (the counter moves only every 100 ms)"));
    // It holds for a part that is too short to show it.
    CHECK(summarize(trace, Direction::tx, 0ms, 150ms, standard_windows()).refresh_period == 100ms);
}

TEST_CASE("the JSON has the keys that others rely on", "[summary]") {
    const nlohmann::ordered_json json = summary_json(summarize_all(bursty()));
    for (const char* key : {"host", "interface", "direction", "nic_bytes", "mean_bits_per_second",
                            "resolved_from_seconds", "samples", "missed", "gaps", "burstiness", "backlog"})
        CHECK(json.contains(key));
    for (const char* key : {"tau_seconds", "e_lower_bytes", "e_estimate_bytes", "e_upper_bytes", "ptm_lower",
                            "ptm_estimate", "ptm_upper", "ptm_predicted"})
        CHECK(json["burstiness"][0].contains(key));
    CHECK(json["direction"] == "tx");
}

TEST_CASE("a reading that is no count is a restart, not traffic", "[summary]") {
    Trace trace = bursty();
    trace.samples[2000].tx_bytes = ~std::uint64_t{0};
    const std::vector<BitRate> rates{BitRate{500'000'000}};
    const InterfaceSummary summary =
        summarize(trace, Direction::tx, from_first, to_last, standard_windows(), always(rates));
    CHECK(summary.quality.restarts == 2);
    CHECK(warns(summary, "COUNTERS STARTED ANEW 2 times"));
    CHECK(summary.nic_bytes <= 25'000'000);
    CHECK(summary.nic_bytes >= 24'000'000);
    CHECK(summary.curve.points.back().bytes.upper <= 25'000'000);
    CHECK(summary.backlog.at(0).bytes.lower <= 1'250'000);
}

TEST_CASE("nobody knows whether a pause went on in a gap", "[summary]") {
    Trace trace = bursty();
    std::erase_if(trace.samples, [](const Sample& sample) { // holds 10 bursts
        return sample.t_ns > 500'000'000 && sample.t_ns < 1'495'000'000;
    });
    const BurstSummary& bursts = summarize_all(trace).bursts;
    CHECK(bursts.pauses == 8); // four before the gap and four after it
    CHECK(bursts.pause.max < 91ms);
}

TEST_CASE("rates for a backlog may depend on the mean", "[summary]") {
    const InterfaceSummary summary =
        summarize(bursty(), Direction::tx, from_first, to_last, standard_windows(), [](double mean) {
            return std::vector<BitRate>{BitRate{static_cast<std::uint64_t>(5 * mean + 0.5)}};
        });
    REQUIRE(summary.backlog.size() == 1);
    CHECK(summary.backlog[0].rate.bits_per_second == 500'000'000);
    CHECK(summary.backlog[0].bytes.estimate == Approx(625'000).epsilon(0.01)); // 10 ms of half a Gbit/s
}
