#include "generator/start_offsets.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::contains;
using tests::message_of;

namespace {

Agreement job_at(const std::string& name, const JobStart& start) {
    Agreement job;
    job.record.job = name;
    job.start = start;
    return job;
}

} // namespace

TEST_CASE("a phase counts in periods of the other job, from its start", "[start_offsets]") {
    const std::vector<Agreement> jobs{job_at("a", {.offset = 2s}),
                                      job_at("b", {.phase = 0.5, .of = "a", .period = 100ms}),
                                      job_at("c", {.phase = 3.0, .of = "b", .period = 10ms})};
    CHECK(start_offsets(jobs) == std::vector<nanoseconds>{2s, 2050ms, 2080ms});
}

TEST_CASE("no job starts later than a day after the launch", "[start_offsets]") {
    const std::vector<Agreement> jobs{job_at("a", {}), job_at("b", {.phase = 1e6, .of = "a", .period = 24h})};
    const std::string message = message_of<UserError>([&] { start_offsets(jobs); });
    CHECK(contains(message, "job b: /start/phase: "));
    CHECK(contains(message, "24 h"));
}
