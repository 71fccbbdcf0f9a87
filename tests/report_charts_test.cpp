#include "tools/report_charts.hpp"
#include "tools/report_html.hpp"

#include "collectors/trace_file.hpp"

#include "catch.hpp"
#include "temporary_folder.hpp"
#include "text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

using collectors::Sample;
using tests::TemporaryFolder;
using tools::ReportInput;
using Json = nlohmann::ordered_json;

namespace {

constexpr std::int64_t half_millisecond = 500'000;

/// Rates that jump about, in bytes per half millisecond: a number generator of Knuth's (MMIX).
class Jumping {
public:
    std::uint64_t next() {
        state_ = state_ * 6364136223846793005U + 1442695040888963407U;
        return (state_ >> 40) % 60'000;
    }

private:
    std::uint64_t state_ = 1;
};

/// Samples every 500 us; bursts of 20 ms in every 100 ms.
std::vector<Sample> jumping_samples(std::size_t count) {
    Jumping jumping;
    std::vector<Sample> samples;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t more = jumping.next();
        bytes += i / 40 % 5 == 0 ? more : 0;
        samples.push_back({static_cast<std::int64_t>(i) * half_millisecond, 0, 0, bytes, bytes, 0});
    }
    return samples;
}

collectors::TraceInfo info_of(const std::string& host) {
    collectors::TraceInfo info;
    info.host = host;
    info.interface = "eth0";
    info.interval = std::chrono::microseconds(500);
    return info;
}

/// A trace as the report reads it.
tools::TraceSource source_of(const std::filesystem::path& path, const std::string& host) {
    return {path, info_of(host), 0, false};
}

ReportInput input_of(const std::filesystem::path& folder, const std::string& name,
                     const std::vector<Sample>& samples) {
    collectors::write_trace(folder / name, {info_of("alpha"), samples});
    ReportInput input;
    input.name = name;
    input.kind = ReportInput::Kind::trace;
    input.traces.push_back(source_of(folder / name, "alpha"));
    return input;
}

/// The largest 1 ms rate in Mbit/s, sample by sample.
double largest_rate_of(const std::vector<Sample>& samples) {
    double largest = 0;
    for (std::size_t i = 2; i < samples.size(); i += 2)
        largest =
            std::max(largest, static_cast<double>(samples[i].tx_bytes - samples[i - 2].tx_bytes) * 8e-3);
    return largest;
}

double largest_of(const Json& values) {
    double largest = 0;
    for (const Json& value : values)
        if (value.is_number())
            largest = std::max(largest, value.get<double>());
    return largest;
}

const Json& curve_of(const Json& charts, const std::string& kind, const std::string& name) {
    for (const Json& curve : charts["runs"][0]["curves"])
        if (curve["kind"] == kind && curve["name"] == name)
            return curve;
    throw std::runtime_error("no curve " + kind + " " + name);
}

/// `ranks` ranks, one second per iteration, `buckets` buckets of 10 ms in each.
void add_timeline(ReportInput& input, int ranks, std::uint32_t iterations, std::uint32_t buckets) {
    constexpr std::int64_t second = 1'000'000'000;
    for (int rank = 0; rank < ranks; ++rank)
        for (std::uint32_t iteration = 0; iteration < iterations; ++iteration)
            for (std::uint32_t bucket = 0; bucket < buckets; ++bucket) {
                const std::int64_t begin = iteration * second;
                const std::int64_t start = begin + second / 2 + bucket * 10'000'000;
                input.timeline.push_back({rank, iteration, bucket, begin, start, start + rank,
                                          start + 9'000'000 + rank, begin + second, rank, 1000, 1500, 1500});
            }
}

} // namespace

TEST_CASE("the largest bin of a chart is the largest rate of all samples", "[charts]") {
    const TemporaryFolder folder;
    const std::vector<Sample> samples = jumping_samples(40'001); // 20 s
    const std::vector<ReportInput> inputs{input_of(folder.path(), "trace.csv", samples)};
    const double largest = largest_rate_of(samples);
    for (const std::size_t most_bins : {std::size_t{100}, std::size_t{777}, std::size_t{100'000}}) {
        const Json charts = tools::charts_json(inputs, {.most_bins = most_bins});
        const Json& tx = curve_of(charts, "rate", "tx");
        REQUIRE(tx["mean"].size() <= most_bins);
        const Json& bins = tx.contains("most") ? tx["most"] : tx["mean"];
        REQUIRE(largest_of(bins) == Approx(largest).epsilon(5e-4)); // four digits
        REQUIRE(tx["largest"].get<double>() == Approx(largest).epsilon(5e-4));
        REQUIRE(charts["runs"][0]["peak"]["value"].get<double>() == Approx(largest).epsilon(5e-4));
        if (most_bins < 1000) { // the peak stands in full beside the bins
            REQUIRE(tx["fine"].size() == 1);
            REQUIRE(largest_of(tx["fine"][0]["values"]) == Approx(largest).epsilon(5e-4));
        }
    }
}

TEST_CASE("the mean of the bins is that of the samples", "[charts]") {
    const TemporaryFolder folder;
    const std::vector<Sample> samples = jumping_samples(2 * 6400 + 1);
    const Json charts =
        tools::charts_json(std::vector{input_of(folder.path(), "trace.csv", samples)}, {.most_bins = 100});
    const Json& means = curve_of(charts, "rate", "tx")["mean"]; // 6400 ms in 100 bins of 64
    REQUIRE(means.size() == 100);
    double sum = 0;
    for (const Json& mean : means)
        sum += mean.get<double>();
    const double expected =
        static_cast<double>(samples.back().tx_bytes - samples.front().tx_bytes) * 8e-6 / 6.4;
    REQUIRE(sum / 100 == Approx(expected).epsilon(1e-4));
}

TEST_CASE("traces of no and of one sample have no curves", "[charts]") {
    const TemporaryFolder folder;
    const std::vector<ReportInput> inputs{input_of(folder.path(), "none.csv", {}),
                                          input_of(folder.path(), "one.csv", jumping_samples(1))};
    const Json charts = tools::charts_json(inputs);
    for (const Json& run : charts["runs"]) {
        REQUIRE(run["curves"].empty());
        REQUIRE(run["peak"].is_null());
        REQUIRE(run["timeline"].is_null());
    }
}

TEST_CASE("the first two measured iterations are drawn in full", "[charts]") {
    const TemporaryFolder folder;
    ReportInput input = input_of(folder.path(), "trace.csv", jumping_samples(40'000));
    input.run = {{"iterations", {{"warmup", 3}}}};
    add_timeline(input, 2, 20, 2);
    const Json charts = tools::charts_json(std::vector{input}, {.most_bins = 200});
    const Json& first = charts["runs"][0]["windows"][0];
    REQUIRE(first["why"] == "first measured iterations");
    REQUIRE(first["from_s"].get<double>() == Approx(3.48)); // 20 ms before the first byte
    REQUIRE(first["to_s"].get<double>() > 4.519);           // 20 ms behind the last
    REQUIRE(curve_of(charts, "rate", "tx")["fine"][0]["values"].size() > 1000);
}

TEST_CASE("the timeline shows whole iterations within its room and says which", "[charts]") {
    ReportInput input;
    add_timeline(input, 4, 600, 5); // 20 bars per iteration
    const Json all = tools::charts_json(std::vector{input})["runs"][0]["timeline"];
    REQUIRE(all["shown"] == "all 600 iterations"); // 12,000 bars
    const Json some = tools::charts_json(std::vector{input}, {.most_bars = 800})["runs"][0]["timeline"];
    REQUIRE(some["shown"] == "iterations 0-39 of 600");
    REQUIRE(some["bars"].size() == 800 * 5);
    REQUIRE(some["iterations"].size() == 40 * 4 * 4);
    const Json few = tools::charts_json(std::vector{input}, {.most_bars = 10})["runs"][0]["timeline"];
    REQUIRE(few["shown"] == "iterations 0-1 of 600, 1 of 4 ranks");
    REQUIRE(few["bars"].size() == 2 * 5 * 5);
}

TEST_CASE("buckets that did not end have no bar", "[charts]") {
    ReportInput input;
    add_timeline(input, 1, 1, 3);
    input.timeline[2].end_ns.reset();
    input.timeline[2].iteration_end_ns.reset();
    const Json run = tools::charts_json(std::vector{input})["runs"][0];
    REQUIRE(run["timeline"]["bars"].size() == 2 * 5);
    REQUIRE(run["distributions"]["buckets"].size() == 2);
    REQUIRE(run["distributions"]["lateness"]["count"] == 2);
}

TEST_CASE("backlog, drops and connections are read where they were sampled", "[charts]") {
    const TemporaryFolder folder;
    tests::write_text(folder / "p0.queue.csv",
                      "t_ns,backlog_bytes,backlog_packets,drops,sent_bytes,overlimits\n"
                      "0,0,0,7,0,0\n2000000,900,1,7,0,0\n4000000,0,0,9,0,0\n6000000,1,1,9");
    tests::write_text(folder / "tcp.csv",
                      "rank,iteration,bucket,peer,lane,rtt_us,cwnd_segments,retransmitted_segments\n"
                      "0,0,0,1,0,250,10,0\n0,1,0,1,0,500,20,\n0,9,0,1,0,1,1,1\n");
    ReportInput input;
    input.lanes.push_back(
        {folder / "p0.queue.csv", "switch", "p0", tools::LaneSource::Kind::queue, 0, 0, true});
    input.tcp_path = folder / "tcp.csv";
    add_timeline(input, 1, 2, 1);
    const Json charts = tools::charts_json(std::vector{input});
    REQUIRE(curve_of(charts, "backlog", "switch port queue")["mean"] == Json({0, 900, 0}));
    REQUIRE(curve_of(charts, "drops", "switch port queue")["sum"] == Json({0, 2})); // from the second row on
    REQUIRE(curve_of(charts, "rtt", "rank 0")["largest"] == 0.5);                   // ms
    REQUIRE(curve_of(charts, "cwnd", "rank 0")["start_s"] == 0.509);
    REQUIRE(charts["runs"][0]["stayed_zero"][0]["kind"] == "resent");
}

TEST_CASE("only the queue beside a switch port's trace is called that port's", "[charts]") {
    for (const bool is_port : {false, true}) {
        const TemporaryFolder folder;
        collectors::TraceInfo info = info_of("alpha");
        info.side = is_port ? "switch port, after its queue" : "";
        collectors::write_trace(folder / "trace.csv", {info, jumping_samples(100)});
        tests::write_text(folder / "trace.queue.csv",
                          "t_ns,backlog_bytes,backlog_packets,drops,sent_bytes,overlimits\n"
                          "0,0,0,0,0,0\n2000000,900,1,0,0,0\n4000000,0,0,0,0,0\n");
        tests::write_text(folder / "trace.queue.json",
                          R"({"start_monotonic_ns": 0, "interval_ns": 2000000})");
        const Json charts = tools::charts_json(std::vector{tools::read_input(folder / "trace.csv")});
        const std::string name = is_port ? "switch port queue" : "interface queue every 2 ms";
        REQUIRE(curve_of(charts, "backlog", name)["switch_port"] == is_port);
    }
}

TEST_CASE("what stayed 0 all the time is named, not drawn", "[charts]") {
    const TemporaryFolder folder;
    std::vector<Sample> samples = jumping_samples(2000);
    for (Sample& sample : samples)
        sample.rx_bytes = 0;
    ReportInput input = input_of(folder.path(), "trace.csv", samples);
    tests::write_text(folder / "trace.slow.csv", "t_ns,queue_backlog_bytes,rx_drops\n0,0,0\n100000000,0,0\n");
    input.lanes.push_back({folder / "trace.slow.csv", "alpha", "eth0", tools::LaneSource::Kind::slow, 0});
    const Json run = tools::charts_json(std::vector{input})["runs"][0];
    REQUIRE(run["curves"].size() == 1);
    REQUIRE(run["curves"][0]["name"] == "tx");
    std::vector<std::string> zero;
    for (const Json& each : run["stayed_zero"])
        zero.push_back(each["kind"].get<std::string>() + " " + each["name"].get<std::string>());
    REQUIRE(zero == std::vector<std::string>{"rate rx", "backlog interface queue", "drops rx"});
}

TEST_CASE("a damaged trace costs its curves and is named", "[charts]") {
    const TemporaryFolder folder;
    ReportInput input = input_of(folder.path(), "good.csv", jumping_samples(2000));
    tests::write_text(folder / "bad.csv", "t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags\n0,0,zero\n");
    input.traces.push_back(source_of(folder / "bad.csv", "beta"));
    const Json run = tools::charts_json(std::vector{input})["runs"][0];
    REQUIRE(run["curves"].size() == 2); // tx and rx of the good one
    REQUIRE(run["not_drawn"].size() == 1);
    REQUIRE(tests::contains(run["not_drawn"][0], "bad.csv:2: "));
}

TEST_CASE("nothing in a report can end the element that holds it", "[charts]") {
    const std::string evil = "</script><script>alert(1)</script><!--";
    const Json report{{"runs", {{{"title", evil}, {"warnings", {evil}}}}}};
    const std::string page = tools::report_html(report, Json::object(), evil);
    REQUIRE_FALSE(tests::contains(page, "alert(1)</script>"));
    REQUIRE(tests::contains(page, "\\u003c/script>\\u003cscript>alert(1)"));
    REQUIRE(tests::contains(page, "&lt;/script&gt;")); // the title, and the text without JavaScript
    REQUIRE_FALSE(tests::contains(page, "{{title}}"));
}

TEST_CASE("the page names no other file", "[charts]") {
    const std::string page = tools::report_html(Json{{"runs", Json::array()}}, Json::object());
    for (const std::string part : {" src=", "@import", "url(", "href=\"http", "sourceMappingURL"})
        REQUIRE_FALSE(tests::contains(page, part));
}

TEST_CASE("ten minutes of eight hosts are a page below 5 MB", "[charts]") {
    const TemporaryFolder folder;
    const std::filesystem::path path = folder / "long.bin";
    collectors::write_trace(path, {info_of("alpha"), jumping_samples(1'200'000)});
    ReportInput input;
    for (int host = 0; host < 8; ++host)
        input.traces.push_back(source_of(path, "host" + std::to_string(host)));
    add_timeline(input, 8, 600, 5);
    const auto begin = std::chrono::steady_clock::now();
    const Json charts = tools::charts_json(std::vector{input});
    const auto took = std::chrono::steady_clock::now() - begin;
    const std::string page = tools::report_html(Json{{"runs", Json::array()}}, charts);
    const double seconds = std::chrono::duration<double>(took).count();
    WARN(page.size() << " bytes, of which charts " << charts.dump().size() << "; made in " << seconds
                     << " s");
    REQUIRE(page.size() < 4'000'000); // the report's own numbers come on top
    REQUIRE(took < std::chrono::seconds(60));
}
