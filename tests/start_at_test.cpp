#include "generator/failure.hpp"
#include "generator/start_at.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <string>

using namespace generator;
using namespace std::chrono_literals;
using tests::message_of;

namespace {

std::chrono::nanoseconds since_1970(const std::string& text) {
    return parse_wall_time(text).time_since_epoch();
}

} // namespace

TEST_CASE("a wall clock time is RFC 3339 or seconds since 1970", "[start_at]") {
    CHECK(since_1970("1970-01-01T00:00:00Z") == 0s);
    CHECK(since_1970("2026-12-02T23:59:00Z") == 1796255940s);
    CHECK(since_1970("2026-12-02t23:59:00z") == 1796255940s);
    CHECK(since_1970("2026-12-03 00:59:00+01:00") == 1796255940s);
    CHECK(since_1970("2026-12-02T18:29:00.25-05:30") == 1796255940s + 250ms);
    CHECK(since_1970("2024-02-29T12:00:00Z") == 1709208000s);
    CHECK(since_1970("1796255940") == 1796255940s);
    CHECK(since_1970("1796255940.000000001") == 1796255940s + 1ns);
}

TEST_CASE("what is no time says what one looks like", "[start_at]") {
    for (const char* text : {"",
                             "now",
                             "23:59:00",
                             "2026-12-02",
                             "2026-12-02T23:59:00",
                             "2026-13-02T23:59:00Z",
                             "2026-02-29T00:00:00Z",
                             "2026-12-02T24:00:00Z",
                             "2026-12-02T23:60:00Z",
                             "2026-12-02T23:59:61Z",
                             "2026-12-02T23:59:00.Z",
                             "2026-12-02T23:59:00Zz",
                             "2026-12-02T23:59:00+1:00",
                             "-5",
                             "1e9",
                             "1.2.3",
                             "99999999999999999999",
                             "2500-01-01T00:00:00Z",
                             "2611-06-24T08:23:25Z",
                             "2026-12-02T-3:59:00Z"}) {
        const std::string message = message_of<UserError>([&] { parse_wall_time(text); });
        CHECK(
            tests::contains(message, std::string("--start-at ") + text + ": expected a time such as 2026-"));
    }
}

TEST_CASE("a start is so far ahead, or so long past", "[start_at]") {
    const WallTime now = parse_wall_time("2026-12-02T23:59:00Z");
    CHECK(wall_time_text(now + 1500ms) == "2026-12-02T23:59:01.500Z");
    CHECK(time_ahead_text(now + 12s, now) == "in 12 s");
    CHECK(time_ahead_text(now + 5h, now) == "in 5.0 hours");
    CHECK(time_ahead_text(now + 24h * 30, now) == "in 30.0 days");
    CHECK(message_of<UserError>([&] { time_ahead_text(now - 2500ms, now); }) ==
          "--start-at 2026-12-02T23:58:57.500Z: is 2.5 s in the past; this host's clock says "
          "2026-12-02T23:59:00.000Z");
}

TEST_CASE("the kernel says something of its clock", "[start_at]") {
    CHECK_FALSE(clock_discipline().empty());
}
