#include "collectors/time_keeping.hpp"

#include "catch.hpp"
#include "collectors/sidecar.hpp"
#include "tests/temporary_folder.hpp"

#include <sys/timex.h>

using namespace collectors;
using namespace std::chrono_literals;

TEST_CASE("what the kernel says of the clock is put into units", "[time]") {
    timex answer{};
    answer.status = STA_PLL;
    answer.maxerror = 2'500;
    answer.esterror = 40;
    answer.freq = -12 * 65'536 - 32'768; // -12.5 ppm, in units of 1/65536 ppm
    CHECK(steering_of(TIME_OK, answer) == TimeSteering{true, 2'500us, 40us, -12.5});
}

TEST_CASE("a clock that nobody steers is not synchronised", "[time]") {
    timex answer{};
    answer.status = STA_UNSYNC;
    CHECK_FALSE(steering_of(TIME_OK, answer).synchronised);
    CHECK_FALSE(steering_of(TIME_ERROR, timex{}).synchronised);
    CHECK(steering_of(TIME_INS, timex{}).synchronised); // a leap second is to come
}

TEST_CASE("an interface that is not there has no known hardware clock", "[time]") {
    CHECK_FALSE(time_keeping("").ptp_clock);
    CHECK_FALSE(time_keeping("no-such-link").ptp_clock);
    CHECK_FALSE(time_keeping("a-name-that-is-too-long-for-one").ptp_clock);
}

TEST_CASE("the sidecar keeps what is known of the time, and what is not as null", "[time]") {
    const tests::TemporaryFolder folder;
    for (const TimeKeeping& kept :
         {TimeKeeping{}, TimeKeeping{TimeSteering{true, 16'000'000us, 3us, 0.25}, "ptp7"},
          TimeKeeping{{}, "none"}}) {
        TraceInfo info;
        info.host = "node-a";
        info.time_keeping = kept;
        write_sidecar(folder / "trace.json", folder / "trace.csv", info);
        CHECK(read_sidecar(folder / "trace.json").time_keeping == kept);
    }
}
