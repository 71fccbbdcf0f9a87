#include "collectors/printable.hpp"

#include "catch.hpp"

using namespace collectors;

TEST_CASE("control characters are shown, never obeyed; lines and other scripts stay as they are", "[text]") {
    CHECK(printable("a\tb\nc \xc3\xa4 \xe2\x97\x8f") == "a\tb\nc \xc3\xa4 \xe2\x97\x8f");
    CHECK(printable("\x1b[31mred\r") == "\\x1b[31mred\\x0d");
    CHECK(printable("\x7f \xc2\x9b"
                    "31m") == "\\x7f \\xc2\\x9b31m");
    CHECK(printable("\xc2") == "\xc2"); // cut off
    CHECK(printable("").empty());
    CHECK(has_control_characters("a\nb"));
    CHECK(has_control_characters("\xc2\x80"));
    CHECK_FALSE(has_control_characters("resnet50 \xc3\xa4"));
}
