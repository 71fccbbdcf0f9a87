#include "collectors/units.hpp"
#include "collectors/wrapped_text.hpp"

#include <stdexcept>
#include <string>

#include "catch.hpp"
#include "text.hpp"

using namespace collectors;
using namespace std::chrono_literals;
using tests::contains;

namespace {

/// The reason why `parse` refuses `text`; empty if it does not.
template <typename Parse>
std::string refusal(Parse parse, std::string_view text) {
    try {
        parse(text);
    } catch (const std::invalid_argument& error) {
        return error.what();
    }
    return {};
}

} // namespace

TEST_CASE("a single letter and iB are powers of 1024, kB and MB powers of 1000", "[units]") {
    CHECK(parse_byte_size("4096") == 4096);
    CHECK(parse_byte_size("0") == 0);
    CHECK(parse_byte_size("17B") == 17);
    CHECK(parse_byte_size("64k") == 65536);
    CHECK(parse_byte_size("25MiB") == 26'214'400);
    CHECK(parse_byte_size("25 mib") == 26'214'400);
    CHECK(parse_byte_size("1.5MB") == 1'500'000);
    CHECK(parse_byte_size("1.1MB") == 1'100'000); // 1.1 has no exact binary form
    CHECK(parse_byte_size("0.5k") == 512);
    CHECK(parse_byte_size("2T") == 2'199'023'255'552);
    CHECK(parse_byte_size("9223372036854775807") == 9'223'372'036'854'775'807);
}

TEST_CASE("a byte size that cannot be meant is refused with the reason", "[units]") {
    CHECK(contains(refusal(parse_byte_size, ""), "is not a number"));
    CHECK(contains(refusal(parse_byte_size, "MiB"), "is not a number"));
    CHECK(contains(refusal(parse_byte_size, "."), "is not a number"));
    CHECK(contains(refusal(parse_byte_size, "12 parsecs"), "unknown unit 'parsecs'"));
    CHECK(contains(refusal(parse_byte_size, "1.2.3k"), "unknown unit"));
    CHECK(contains(refusal(parse_byte_size, "-1"), "negative"));
    CHECK(contains(refusal(parse_byte_size, "0.3"), "whole number of bytes"));
    CHECK(contains(refusal(parse_byte_size, "0.1k"), "whole number of bytes")); // 102.4
    CHECK(contains(refusal(parse_byte_size, "9223372036854775808"), "above 2^63 - 1"));
    CHECK(contains(refusal(parse_byte_size, "9000000T"), "above 2^63 - 1"));
    CHECK(contains(refusal(parse_byte_size, "99999999999999999999999"), "too many digits"));
}

TEST_CASE("a duration needs its unit", "[units]") {
    CHECK(parse_duration("250ns") == 250ns);
    CHECK(parse_duration("500us") == 500us);
    CHECK(parse_duration("112ms") == 112ms);
    CHECK(parse_duration("1.5s") == 1500ms);
    CHECK(parse_duration("2min") == 2min);
    CHECK(parse_duration("1h") == 1h);
    CHECK(contains(refusal(parse_duration, "500"), "has no unit"));
    CHECK(contains(refusal(parse_duration, "5m"), "unknown unit 'm'")); // minutes or milli?
    CHECK(contains(refusal(parse_duration, "0.5ns"), "whole number of nanoseconds"));
    CHECK(contains(refusal(parse_duration, "-1s"), "negative"));
    CHECK(contains(refusal(parse_duration, "3000000h"), "above 2^63 - 1"));
}

TEST_CASE("a rate is in bits per second", "[units]") {
    CHECK(parse_bit_rate("100Gbit").bits_per_second == 100'000'000'000);
    CHECK(parse_bit_rate("2.5gbit").bits_per_second == 2'500'000'000);
    CHECK(parse_bit_rate("10Mbit/s").bits_per_second == 10'000'000);
    CHECK(parse_bit_rate("100Gbps").bits_per_second == 100'000'000'000);
    CHECK(parse_bit_rate("1Tbit").bits_per_second == 1'000'000'000'000);
    CHECK(parse_bit_rate("8bit").bytes_per_second() == 1.0);
    CHECK(contains(refusal(parse_bit_rate, "100"), "has no unit"));
    CHECK(contains(refusal(parse_bit_rate, "10GBps"), "bytes per second"));
    CHECK(contains(refusal(parse_bit_rate, "10GB/s"), "bytes per second"));
    CHECK(contains(refusal(parse_bit_rate, "10Gib"), "unknown unit"));
}

TEST_CASE("numbers are printed with at most four significant digits in the fitting unit", "[units]") {
    CHECK(format_bytes(0) == "0 B");
    CHECK(format_bytes(1'022'900) == "1.023 MB");
    CHECK(format_bytes(999.96) == "1 kB");
    CHECK(format_bytes(999.4) == "999.4 B");
    CHECK(format_bytes(5e16) == "50000 TB");
    CHECK(format_duration(12'830us) == "12.83 ms");
    CHECK(format_duration(500us) == "500 us");
    CHECK(format_duration(1036ms) == "1.036 s");
    CHECK(format_duration(0ns) == "0 s");
    CHECK(format_duration(-2ms) == "-2 ms");
    CHECK(format_bit_rate(1e9) == "1 Gbit/s");
    CHECK(format_bit_rate(957.3e6) == "957.3 Mbit/s");
    CHECK(format_bit_rate(100e9) == "100 Gbit/s");
}

TEST_CASE("text is broken between words and nowhere else", "[wrapped_text]") {
    CHECK(wrapped("", 10).empty());
    CHECK(wrapped("one two three", 7) == "one two\nthree");
    CHECK(wrapped("one two three", 8) == "one two\nthree");
    CHECK(wrapped("one two three", 13) == "one two three");
    CHECK(wrapped("one two three", 6) == "one\ntwo\nthree");
    CHECK(wrapped("a longer_than_that b", 4) == "a\nlonger_than_that\nb");
}
