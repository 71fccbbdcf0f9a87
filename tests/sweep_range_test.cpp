#include "generator/sweep_range.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::contains;
using tests::message_of;

namespace {

using Offsets = std::vector<nanoseconds>;

std::string sweep_error(const std::string& text) {
    return message_of<UserError>([&] { parse_sweep(text); });
}

JobSpec job_that_starts(const std::string& name, const JobStart& start = {}) {
    return {name, "smoke", {}, {}, start};
}

} // namespace

TEST_CASE("a sweep's offsets are evenly spaced, both ends included", "[sweep]") {
    CHECK(sweep_offsets(parse_sweep("0..T:5"), 200ms) == Offsets{0ms, 50ms, 100ms, 150ms, 200ms});
    CHECK(sweep_offsets(parse_sweep("10ms..40ms:4"), 7ms) == Offsets{10ms, 20ms, 30ms, 40ms});
    CHECK(sweep_offsets(parse_sweep("b=20ms..0.5T:2"), 100ms) == Offsets{20ms, 50ms});
    CHECK(sweep_offsets(parse_sweep("0..1us:4"), 1s) == Offsets{0ns, 333ns, 667ns, 1000ns});
}

TEST_CASE("the ends of a sweep are times, or periods in whole and in parts", "[sweep]") {
    CHECK(parse_sweep("b=0..250ms:6") == SweepRange{"b", {}, {250ms, {}}, 6});
    CHECK(parse_sweep("0..T/8:2") == SweepRange{"", {}, {{}, 0.125}, 2});
    CHECK(parse_sweep("T/4..3T/4:3") == SweepRange{"", {{}, 0.25}, {{}, 0.75}, 3});
    CHECK(parse_sweep("0.5T..2T:1000").count == 1000);
}

TEST_CASE("what is no sweep is refused with what would be one", "[sweep]") {
    CHECK(sweep_error("0..T/8") == "--sweep-offset 0..T/8: how many offsets? e.g. 0..T/8:9, with both ends");
    CHECK(contains(sweep_error("0..T:1"), "\"1\" is no whole number from 2 to 1000"));
    CHECK(contains(sweep_error("0..T:1001"), "from 2 to 1000"));
    CHECK(contains(sweep_error("0..T:9x"), "from 2 to 1000"));
    for (const char* const shapeless : {"T", "", "=0..T:3", "0-T:3", "0.T:3"})
        CHECK(contains(sweep_error(shapeless), "expected [JOB=]FROM..TO:COUNT, e.g. 0..T:9"));
    for (const char* const time : {"0..12:3", "0..:3", "-5ms..T:3", "0..T/0:3", "0..TT:3", "0..xT:3",
                                   "0..T*2:3", "0..infT:3", "0..nanT:3"})
        CHECK(contains(sweep_error(time), "is no time such as 250ms, T or T/2"));
    CHECK(contains(sweep_error("0..25h:3"), "more than a day"));
    CHECK(contains(sweep_error("0..2000000T:3"), "more than 1000000 periods"));
}

TEST_CASE("a sweep must ascend, and says so when it can know", "[sweep]") {
    CHECK(sweep_error("T..0:3") == "--sweep-offset: must ascend, but goes from 1 T = 1 s to 0 s");
    CHECK(contains(sweep_error("0..0:3"), "must ascend"));
    CHECK(contains(sweep_error("20ms..20ms:3"), "must ascend, but goes from 20 ms to 20 ms"));
    const SweepRange mixed = parse_sweep("150ms..T:3");
    CHECK(sweep_offsets(mixed, 250ms) == Offsets{150ms, 200ms, 250ms});
    CHECK(message_of<UserError>([&] { sweep_offsets(mixed, 100ms); }) ==
          "--sweep-offset: must ascend, but goes from 150 ms to 1 T = 100 ms");
}

TEST_CASE("the last job is shifted unless another is named, against the one whose phase it has", "[sweep]") {
    const std::vector<JobSpec> jobs{job_that_starts("a"), job_that_starts("bulk"),
                                    job_that_starts("c", {0ns, 0.5, "bulk", {}})};
    CHECK(sweep_roles(parse_sweep("0..T:3"), jobs) == SweepRoles{2, 1});
    CHECK(sweep_roles(parse_sweep("bulk=0..T:3"), jobs) == SweepRoles{1, 0});
    CHECK(sweep_roles(parse_sweep("a=0..T:3"), jobs) == SweepRoles{0, 1});
    CHECK(message_of<UserError>([&] { sweep_roles(parse_sweep("bulks=0..T:3"), jobs); }) ==
          "--sweep-offset bulks=...: there is no such job; did you mean \"bulk\"?; the jobs are a, bulk, c");
    CHECK(message_of<UserError>([&] { sweep_roles(parse_sweep("0..T:3"), {job_that_starts("a")}); }) ==
          "--sweep-offset: shifts one job against another; the jobs file has only one");
}
