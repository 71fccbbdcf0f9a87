#include "tools/schema_check.hpp"
#include "tools/superpose_report.hpp"

#include "collectors/burstiness.hpp"
#include "collectors/trace_file.hpp"
#include "generator/failure.hpp"
#include "tests/catch.hpp"
#include "tests/report_runs.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

using collectors::Direction;
using namespace std::chrono_literals;

namespace {

namespace fs = std::filesystem;
using OrderedJson = nlohmann::ordered_json;

/// A trace of one reading for each 500 us; `bytes(i)` came between reading i and i + 1.
template <class Bytes>
collectors::Trace half_millisecond_trace(std::size_t cells, Bytes bytes) {
    collectors::Trace trace;
    trace.info.host = "a";
    trace.info.interface = "eth0";
    trace.info.byte_unit = "device";
    trace.info.interval = 500us;
    trace.info.complete = true;
    std::uint64_t sum = 1'000'000;
    for (std::size_t i = 0; i <= cells; ++i) {
        trace.samples.push_back({static_cast<std::int64_t>(500'000 * i), 1000, 1000, 3 * sum, sum, 0});
        sum += bytes(i);
    }
    return trace;
}

struct SuperposedFile {
    explicit SuperposedFile(const collectors::Trace& trace) { collectors::write_trace(path(), trace); }
    fs::path path() const { return folder / "trace.csv"; }

    tools::SuperposedTrace read(const tools::JobTraceSettings& settings = {},
                                std::chrono::nanoseconds cell = 500us) const {
        tools::ChosenTrace chosen = tools::choose_trace(path());
        tools::JobTrace job = tools::job_trace(chosen, settings, cell);
        return {std::move(chosen), std::move(job)};
    }

    tests::TemporaryFolder folder;
};

tools::SuperposeSettings two_windows(std::size_t jobs) {
    tools::SuperposeSettings settings;
    settings.jobs = jobs;
    settings.phases = 200;
    settings.cell = 500us;
    settings.windows = {1ms, 5ms, 20ms};
    settings.rate = collectors::BitRate{1'000'000'000};
    settings.buffers = {100'000};
    settings.created_at = "2026-01-31T12:00:00Z";
    return settings;
}

} // namespace

TEST_CASE("one job alone has the metrics of its trace", "[superpose]") {
    // Rates that jump about (Knuth's MMIX generator), up to 1.3 Gbit/s, then nothing for longer than windows
    // and queue reach.
    std::uint64_t state = 1;
    const collectors::Trace trace = half_millisecond_trace(2000, [&](std::size_t i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return i % 100 < 60 && i < 1900 ? (state >> 40) % 81'250 : 0;
    });
    const SuperposedFile file(trace);
    tools::SuperposeSettings settings = two_windows(1);
    settings.offsets = {0ns};
    const OrderedJson document = tools::superpose_json({file.read()}, settings, 1);
    const auto readings = collectors::readings(trace, Direction::tx);
    const collectors::BurstinessCurve own = collectors::burstiness_curve(readings, settings.windows);
    CHECK(document["burstiness"][0]["e_bytes"].is_null()); // below 5 ms nothing is resolved
    for (const std::size_t i : {1U, 2U}) {
        CHECK(document["burstiness"][i]["e_bytes"]["max"] == own.points[i].bytes.estimate);
        CHECK(document["burstiness"][i]["e_bound_bytes"] == own.points[i].bytes.estimate);
        CHECK(document["burstiness"][i]["ptm"]["max"].get<double>() ==
              Approx(collectors::peak_to_mean(own, own.points[i]).estimate));
    }
    CHECK(document["backlog"]["bytes"]["max"].get<double>() ==
          Approx(collectors::max_backlog(readings, *settings.rate).estimate).epsilon(1e-12));
    CHECK(document["overlap"]["share"] == 0.0);
    CHECK(document["convergence"].is_null());
    CHECK(document["mean_bits_per_second"].get<double>() == Approx(8 * own.mean_bytes_per_second));
}

TEST_CASE("a trace is repeated by whole periods", "[superpose]") {
    // 10 ms at 1 Gbit/s in each 100 ms, from 55 ms on, for 1.23 s.
    const SuperposedFile file(half_millisecond_trace(
        2460, [](std::size_t i) { return i % 200 >= 110 && i % 200 < 130 ? 62'500U : 0U; }));
    const tools::SuperposedTrace trace = file.read();
    CHECK(std::chrono::abs(trace.job.period - 100ms) < 1us);
    CHECK(trace.job.periods == 12);
    CHECK(trace.job.period_source == "autocorrelation 0.92");
    REQUIRE(trace.job.traffic.bytes.size() == 2400);
    CHECK(trace.job.sending_bits_per_second == Approx(1e9));
    REQUIRE(trace.job.traffic.bursts.size() == 12);
    CHECK(trace.job.traffic.bursts[0] == tools::BurstSpan{110, 130});
    CHECK(trace.job.warnings.empty());
    CHECK(file.read({Direction::rx}).job.sending_bits_per_second == Approx(3e9));
    CHECK(file.read({Direction::tx, 400ms}).job.periods == 3);
    CHECK_THROWS_WITH(file.read({Direction::tx, 2s}), Catch::Contains("shorter than the period of 2 s"));

    // Every draw of one job alone is its trace: bursts never meet, E is that of one burst.
    const tools::SuperposeSettings settings = two_windows(2);
    const OrderedJson document = tools::superpose_json({trace}, settings, 2);
    CHECK(document["covered_seconds"].get<double>() == Approx(0.1));
    tools::SuperposeSettings many = settings;
    many.phases = 20'000;
    const OrderedJson sharper = tools::superpose_json({trace}, many, 2);
    CHECK(sharper["overlap"]["share"].get<double>() ==
          Approx(0.2).margin(4 * std::sqrt(0.2 * 0.8 / 20'000))); // 2 L / T, four standard errors
    CHECK(sharper["overlap"]["upper"].get<double>() - sharper["overlap"]["lower"].get<double>() < 0.012);
    CHECK(document["backlog"]["bytes"]["max"].get<double>() <= 1.25e6); // C L
    CHECK(document["convergence"]["steps"].size() == 4);
    CHECK(document["convergence"]["steps"][3]["overlap"] == document["overlap"]);
    CHECK(document["convergence"]["converged"] == false); // 200 draws tell no 99th percentile
    const auto schema =
        nlohmann::json::parse(tests::text_of(fs::path(GRADBURST_SOURCE_DIR) / "tools/superpose.schema.json"));
    CHECK(tools::schema_problems(schema, nlohmann::json::parse(document.dump())).empty());
    CHECK(tools::superpose_text(document).find("each covers 100 ms") != std::string::npos);
}

TEST_CASE("what a trace cannot tell is told", "[superpose]") {
    const auto has = [](const tools::SuperposedTrace& trace, const std::string& text) {
        for (const std::string& warning : trace.job.warnings)
            if (warning.find(text) != std::string::npos)
                return true;
        return false;
    };
    const SuperposedFile even(half_millisecond_trace(1000, [](std::size_t) { return 500U; }));
    CHECK(has(even.read(), "NO PERIOD FOUND"));
    CHECK(even.read().job.traffic.bursts.size() == 1); // it always sends
    CHECK(even.read().job.periods == 1);
    const SuperposedFile idle(half_millisecond_trace(1000, [](std::size_t) { return 0U; }));
    CHECK_THROWS_AS(idle.read(), generator::UserError);
    collectors::Trace holes =
        half_millisecond_trace(1000, [](std::size_t i) { return i % 100 < 10 ? 9000U : 0U; });
    holes.samples.erase(holes.samples.begin() + 300, holes.samples.begin() + 350);
    CHECK(has(SuperposedFile(holes).read(), "GAPS IN"));
    collectors::Trace anew =
        half_millisecond_trace(1000, [](std::size_t i) { return i % 100 < 10 ? 9000U : 0U; });
    for (std::size_t i = 500; i < anew.samples.size(); ++i)
        anew.samples[i].tx_bytes -= anew.samples[499].tx_bytes;
    CHECK(has(SuperposedFile(anew).read(), "COUNTER STARTED ANEW 1 TIMES"));

    tools::SuperposeSettings settings = two_windows(2);
    settings.rate = collectors::BitRate{10'000'000}; // two jobs of 8 Mbit/s
    const OrderedJson overloaded = tools::superpose_json({even.read()}, settings, 1);
    CHECK(overloaded["backlog"].is_null());
    CHECK(overloaded["buffers"][0]["probability"].is_null());
    CHECK(overloaded["warnings"].dump().find("LOAD IS 160.0 % OF THE LINK") != std::string::npos);
}

TEST_CASE("a run's job is its measured iterations", "[superpose]") {
    // The run of report_runs.hpp: iterations of 100 ms, the first of three as warm-up, in which more is sent.
    const tests::TemporaryFolder folder;
    OrderedJson run = tests::small_run();
    run["context"]["hosts"][0]["ranks"][0]["start_monotonic_ns"] = 0;
    fs::create_directories(folder / "nic");
    tests::write_text(folder / "run.json", run.dump());
    tests::write_text(folder / "timeline.csv", tests::small_timeline());
    collectors::write_trace(folder / "nic/a.eth0.csv", half_millisecond_trace(700, [](std::size_t i) {
                                return i < 200 ? 60'000U : i % 200 >= 50 && i % 200 < 70 ? 20'000U : 0U;
                            }));
    for (const fs::path& path : {folder.path(), folder / "nic/a.eth0.csv"}) {
        const tools::ChosenTrace chosen = tools::choose_trace(path);
        const tools::JobTrace job = tools::job_trace(chosen, {}, 500us);
        CHECK(job.period_source == "timeline");
        CHECK(job.periods == 2);
        CHECK(job.sending_bits_per_second == Approx(320e6));
    }
    CHECK(tools::common_cell(std::vector{tools::choose_trace(folder.path())}) == 500us);
}

TEST_CASE("with given offsets each period is a draw", "[superpose]") {
    // Ten periods of 50 ms, a burst of 5 ms at 1 Gbit/s in each; in the fourth it comes 5 ms later.
    const SuperposedFile file(half_millisecond_trace(1000, [](std::size_t i) {
        const std::size_t begin = i / 100 == 3 ? 10 : 0;
        return i % 100 >= begin && i % 100 < begin + 10 ? 62'500U : 0U;
    }));
    const SuperposedFile steady(
        half_millisecond_trace(1000, [](std::size_t i) { return i % 100 < 10 ? 62'500U : 0U; }));
    tools::SuperposeSettings settings = two_windows(2);
    settings.offsets = {0ns, 0ns};
    settings.buffers = {500'000};
    const tools::JobTraceSettings period{Direction::tx, 50ms};
    const OrderedJson aligned = tools::superpose_json({file.read(period), steady.read(period)}, settings, 1);
    CHECK(aligned["draws"] == 10);
    CHECK(aligned["backlog"]["bytes"]["p50"] == 625'000.0); // C L
    CHECK(aligned["backlog"]["bytes"]["min"] == 0.0);
    CHECK(aligned["buffers"][0]["probability"]["share"] == 0.9);
    CHECK(aligned["overlap"]["share"] == 0.9);
    settings.offsets = {0ns, 5ms}; // only in the fourth do they meet
    const OrderedJson apart = tools::superpose_json({file.read(period), steady.read(period)}, settings, 1);
    CHECK(apart["backlog"]["bytes"]["p50"] == 0.0);
    CHECK(apart["backlog"]["bytes"]["max"] == 625'000.0);
    CHECK(apart["overlap"]["share"] == 0.1);
}
