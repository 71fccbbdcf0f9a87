#pragma once

#include "collectors/trace.hpp"
#include "collectors/units.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What somebody expects of a run, as text: `ptm(5ms, tx) >= 60`, `iteration_p99 <= 1.1*predicted`,
/// `retransmits == 0`. Pure.
namespace generator {

enum class Comparison { at_least, at_most, above, below, equal };

/// What the numbers of a quantity are; limits are written in a unit that fits.
enum class QuantityUnit { ratio, bytes, seconds, bytes_per_second, count, share };

/// What stands in parentheses behind a quantity, beside the selection of interfaces.
enum class QuantityArgument { none, window, rate, collective };

struct Quantity {
    std::string name;
    QuantityUnit unit = QuantityUnit::ratio;
    QuantityArgument argument = QuantityArgument::none;
    bool of_interfaces = false; ///< one value for each direction of each interface; all must meet a limit
    bool predicted = false;     ///< the fluid model may predict it: limits such as 1.1*predicted
    bool needs_cpu = false;     ///< tells nothing when a rank had too little CPU
    std::string meaning;
};

/// All that an expectation may name.
const std::vector<Quantity>& quantities();

struct Expectation {
    std::string text; ///< as it was written
    Quantity quantity;
    std::chrono::nanoseconds window{0};             ///< QuantityArgument::window
    collectors::BitRate rate;                       ///< QuantityArgument::rate
    std::string collective = "all_reduce";          ///< QuantityArgument::collective
    std::optional<collectors::Direction> direction; ///< empty: both
    std::string interface;                          ///< "host.interface"; empty: all
    Comparison comparison = Comparison::at_least;
    double limit = 0;              ///< in the quantity's unit: bytes, seconds, bytes/s; a share is 0 to 1
    bool is_of_prediction = false; ///< `limit` is a factor on what was predicted
};

/// Throws std::invalid_argument that quotes the text and says in which column what is wrong.
Expectation parse_expectation(std::string_view text);

std::string_view to_text(Comparison comparison); ///< ">="
std::string_view to_text(QuantityUnit unit);     ///< "bytes", "s", "bytes/s", "" ...
/// As people read it: "1.5 ms", "12 %".
std::string format_quantity(double value, QuantityUnit unit);

} // namespace generator
