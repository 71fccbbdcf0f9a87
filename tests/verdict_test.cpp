#include "generator/verdict.hpp"
#include "tests/catch.hpp"
#include "tests/report_runs.hpp"

using namespace generator;

namespace {

using Json = nlohmann::ordered_json;

Judgement judged(const std::string& text, const Json& run = tests::small_run()) {
    const std::vector<Expectation> expectations{parse_expectation(text)};
    return judge(expectations, run).judgements.at(0);
}

Result result_of(const std::string& text, const Json& run = tests::small_run()) {
    return judged(text, run).result;
}

Json with(const std::string& path, const Json& value) {
    Json run = tests::small_run();
    run[Json::json_pointer(path)] = value;
    return run;
}

} // namespace

TEST_CASE("the certified lower bound must reach a lower limit, on every interface", "[verdict]") {
    CHECK(result_of("ptm(5ms) >= 58") == Result::pass);
    CHECK(result_of("ptm(5ms) > 58") == Result::not_measured);
    CHECK(result_of("ptm(5ms) >= 60") == Result::not_measured); // b: 58 to 66
    CHECK(result_of("ptm(5ms, a.eth0) >= 60") == Result::pass);
    CHECK(result_of("ptm(5ms) >= 65") == Result::fail); // a: at most 64
    CHECK(result_of("ptm(5ms) >= 66.5") == Result::fail);
}

TEST_CASE("the certified upper bound must not pass an upper limit", "[verdict]") {
    CHECK(result_of("ptm(5ms) <= 66") == Result::pass);
    CHECK(result_of("ptm(5ms) < 66") == Result::not_measured);
    CHECK(result_of("ptm(5ms) <= 60") == Result::fail);  // a: at least 62
    CHECK(result_of("e(5ms) <= 330kB") == Result::pass); // 5000 x 66
    CHECK(result_of("backlog(100Mbit) <= 60kB") == Result::pass);
    CHECK(result_of("backlog(100Mbit) <= 50kB") == Result::not_measured); // 40 to 60 kB
    CHECK(result_of("backlog(100Mbit) <= 39kB") == Result::fail);
}

TEST_CASE("the interface that decides is named", "[verdict]") {
    const Judgement failed = judged("ptm(5ms) >= 65");
    CHECK(failed.where == "a.eth0 tx");
    CHECK(failed.reason == "62 to 64 on a.eth0 tx, wanted >= 65");
    CHECK(failed.lower == 62);
    CHECK(failed.upper == 64);
    CHECK(failed.limit == 65);
    CHECK(judged("ptm(5ms) >= 50").where == "b.eth0 tx"); // the nearest to failing
    CHECK(judged("ptm(5ms) >= 60").reason ==
          "58 to 66 on b.eth0 tx: cannot be told, the limit lies between the bounds, wanted >= 60");
}

TEST_CASE("limits of the prediction are factors on it", "[verdict]") {
    CHECK(result_of("iteration_p99 <= 1.1*predicted") == Result::pass);  // 100 <= 104.5 ms
    CHECK(result_of("iteration_p99 <= 1.05*predicted") == Result::fail); // 99.75 ms
    CHECK(judged("iteration_p99 <= 1.1*predicted").limit == Approx(0.1045));
    CHECK(result_of("ptm(5ms) >= predicted") == Result::pass);
    const Judgement unknown =
        judged("iteration_p99 <= predicted", with("/iterations/predicted_seconds", nullptr));
    CHECK(unknown.result == Result::not_measured);
    CHECK_FALSE(unknown.limit.has_value());
}

TEST_CASE("quantities of the whole run", "[verdict]") {
    CHECK(result_of("retransmits == 3") == Result::pass);
    CHECK(result_of("retransmits == 0") == Result::fail);
    CHECK(result_of("drops == 3") == Result::pass); // 0 + 1 + 2
    CHECK(result_of("bus_bandwidth >= 50kB/s") == Result::pass);
    CHECK(result_of("bucket_p99 <= 20ms") == Result::pass);
    CHECK(result_of("bucket_p99(all_gather) <= 20ms") == Result::not_measured);
    CHECK(result_of("lateness_p99 <= 100us") == Result::pass);
    CHECK(result_of("rtt_p50 <= 1ms") == Result::pass);
    CHECK(result_of("mean_rate(tx) == 8Mbit") == Result::pass);
    CHECK(result_of("gaps == 0") == Result::pass);
    CHECK(result_of("missed_share < 1%") == Result::pass);
    CHECK(result_of("iterations == 3") == Result::pass);
    CHECK(result_of("sent_bytes == 6000B") == Result::pass);
    CHECK(result_of("switch_backlog < 1MB") == Result::not_measured);
}

TEST_CASE("what was not measured is neither passed nor failed", "[verdict]") {
    CHECK(judged("ptm(1ms) >= 1").reason ==
          "not measured on a.eth0 tx: 1 ms is not resolved there; the trace resolves "
          "windows from 5 ms on, up to its length of 1 s");
    CHECK(result_of("ptm(3ms) >= 1") == Result::not_measured);
    CHECK(result_of("backlog(1Gbit) >= 1B") == Result::not_measured);
    CHECK(result_of("ptm(5ms, rx) >= 1") == Result::not_measured);
    CHECK(result_of("ptm(5ms, c.eth0) >= 1") == Result::not_measured);
    CHECK(result_of("ptm(5ms) >= 1", with("/status", "interrupted")) == Result::not_measured);
    CHECK(result_of("retransmits == 3", with("/status", "failed")) == Result::not_measured);
    CHECK(result_of("retransmits == 3", with("/status", nullptr)) == Result::not_measured);
    CHECK(result_of("retransmits == 0", with("/tcp", nullptr)) == Result::not_measured);
    CHECK(result_of("drops == 0", with("/slow_lane", Json::array())) == Result::not_measured);
    CHECK(result_of("iteration_p50 < 1s", with("/iterations/seconds", nullptr)) == Result::not_measured);
}

TEST_CASE("each interface that was measured is named once", "[verdict]") {
    Json run = tests::small_run();
    run["interfaces"].push_back(tests::small_interface("a", "rx", 62, 64));
    CHECK(judged("ptm(5ms, c.eth0) >= 1", run).reason ==
          "not measured: no such interface was measured, only a.eth0, b.eth0");
}

TEST_CASE("a trace with missed ticks or a long gap measures no peaks", "[verdict]") {
    CHECK(result_of("ptm(5ms) >= 1", with("/interfaces/0/missed", 20)) == Result::pass); // 20 of 2020: 0.99 %
    CHECK(result_of("ptm(5ms) >= 1", with("/interfaces/0/missed", 21)) == Result::not_measured);
    CHECK(result_of("missed_share < 1%", with("/interfaces/0/missed", nullptr)) == Result::not_measured);
    CHECK(result_of("ptm(5ms) >= 1", with("/interfaces/0/whole", false)) == Result::not_measured);
    CHECK(result_of("ptm(5ms) >= 1", with("/interfaces/0/whole", true)) == Result::pass);
    CHECK(result_of("ptm(5ms) >= 1", with("/interfaces/1/longest_gap_seconds", 0.005)) == Result::pass);
    CHECK(result_of("ptm(5ms) >= 1", with("/interfaces/1/longest_gap_seconds", 0.0051)) ==
          Result::not_measured);
    CHECK(result_of("backlog(100Mbit) >= 1B", with("/interfaces/1/total_gap_seconds", 0.011)) ==
          Result::not_measured);
    CHECK(result_of("ptm(5ms) >= 1", with("/interfaces/1/sampler_cpu_share", 0.95)) == Result::not_measured);
    CHECK(result_of("gaps == 0", with("/interfaces/0/missed", 100)) == Result::pass);
    CHECK(result_of("ptm(5ms) >= 1", with("/interfaces/0/failed", 21)) == Result::not_measured);
    CHECK(judged("mean_rate >= 1B/s", with("/interfaces/0/lost_from_seconds", 0.99)).reason ==
          "not measured on a.eth0 tx: the counters could not be read any more from 990 ms on");
}

TEST_CASE("what passed while a counter started anew has no upper bound", "[verdict]") {
    const Json restarted = with("/interfaces/0/restarts", 1);
    CHECK(result_of("ptm(5ms, a.eth0) >= 60", restarted) == Result::pass);
    CHECK(result_of("ptm(5ms, a.eth0) <= 60", restarted) == Result::fail);
    CHECK(result_of("ptm(5ms, a.eth0) <= 1000", restarted) == Result::not_measured);
    CHECK(result_of("backlog(100Mbit, a.eth0) <= 1MB", restarted) == Result::not_measured);
    CHECK(result_of("mean_rate(a.eth0) <= 1GB/s", restarted) == Result::not_measured);
    CHECK(result_of("mean_rate(a.eth0) >= 0.9MB/s", restarted) == Result::pass);
    CHECK(judged("e(5ms, a.eth0) <= 1MB", restarted).reason ==
          "at least 310 kB on a.eth0 tx: cannot be told, the limit lies between the bounds, wanted <= 1 MB");
}

TEST_CASE("a counter of drops that could not be read may have counted some", "[verdict]") {
    const Json unknown = with("/slow_lane/0/rx_drops", nullptr);
    CHECK(result_of("drops >= 3", unknown) == Result::pass);
    CHECK(result_of("drops <= 3", unknown) == Result::not_measured);
    CHECK(result_of("drops <= 2", unknown) == Result::fail);
}

TEST_CASE("numbers that differ look different", "[verdict]") {
    CHECK(judged("mean_rate(tx, a.eth0) == 1000001B/s").reason ==
          "1000000 bytes/s on a.eth0 tx, wanted == 1000001 bytes/s");
}

TEST_CASE("ranks without CPU time left measure no times of the network", "[verdict]") {
    const Json busy_rank = with("/cpu_share_of_a_core/1/rank", 0.95);
    CHECK(judged("iteration_p99 <= 1s", busy_rank).reason ==
          "not measured: rank 1 used 95 % of a core: it may have waited for CPU time");
    CHECK(result_of("ptm(5ms) >= 1", busy_rank) == Result::not_measured);
    CHECK(result_of("retransmits == 3", busy_rank) == Result::pass);
    CHECK(result_of("lateness_p99 <= 1ms", busy_rank) == Result::pass);
    Json busy_host = with("/cpu_share_of_a_core/1/rank", 0.85);
    busy_host["cpu_share_of_a_core"][1]["sampler"] = 0.1;
    CHECK(result_of("iteration_p99 <= 1s", busy_host) == Result::pass);
    busy_host["context"]["hosts"][1]["cpus_online"] = 1;
    CHECK(result_of("iteration_p99 <= 1s", busy_host) == Result::not_measured);
}

TEST_CASE("the verdict is its worst part", "[verdict]") {
    const auto verdict_of = [](const std::vector<std::string>& texts) {
        std::vector<Expectation> expectations;
        for (const std::string& text : texts)
            expectations.push_back(parse_expectation(text));
        return judge(expectations, tests::small_run());
    };
    const std::string pass = "ptm(5ms) >= 1", unknown = "ptm(1ms) >= 1", fail = "drops == 0";
    CHECK(verdict_of({}).result == Result::none);
    CHECK(verdict_of({pass}).result == Result::pass);
    CHECK(verdict_of({unknown, pass}).result == Result::not_measured);
    CHECK(verdict_of({fail, unknown, pass}).result == Result::fail);
    CHECK(verdict_of({fail, unknown, pass}).reasons().size() == 2);
    const Json json = verdict_json(verdict_of({fail, pass}));
    CHECK(json["result"] == "fail");
    CHECK(json["reasons"] == Json{"drops == 0: 3, wanted == 0"});
    CHECK(json["expectations"][0]["measured"] == 3);
    CHECK(json["expectations"][1]["result"] == "pass");
}
