#include "generator/expectation.hpp"

#include "generator/profile_suggestion.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include <fmt/format.h>

namespace generator {
namespace {

struct Operator {
    std::string_view text;
    Comparison comparison;
};

/// Those of two characters first.
constexpr std::array<Operator, 5> operators{{{">=", Comparison::at_least},
                                             {"<=", Comparison::at_most},
                                             {"==", Comparison::equal},
                                             {">", Comparison::above},
                                             {"<", Comparison::below}}};

constexpr std::string_view blanks = " \t";
constexpr std::string_view predicted_word = "predicted";

std::vector<std::string> quantity_names() {
    std::vector<std::string> names;
    for (const Quantity& quantity : quantities())
        names.push_back(quantity.name);
    return names;
}

/// Reads the text from left to right and knows in which column it is.
class ExpectationReader {
public:
    explicit ExpectationReader(std::string_view text) : text_(text) {}

    Expectation expectation() {
        Expectation result;
        result.text = std::string(text_);
        result.quantity = quantity();
        arguments(result);
        result.comparison = comparison();
        limit(result);
        return result;
    }

private:
    [[noreturn]] void fail(const std::string& reason) const { fail_at(at_, reason); }
    [[noreturn]] void fail_at(std::size_t at, const std::string& reason) const {
        throw std::invalid_argument(fmt::format("'{}', column {}: {}", text_, at + 1, reason));
    }

    void skip_blanks() { at_ = std::min(text_.find_first_not_of(blanks, at_), text_.size()); }

    bool take(std::string_view wanted) {
        skip_blanks();
        if (!text_.substr(at_).starts_with(wanted))
            return false;
        at_ += wanted.size();
        return true;
    }

    /// Up to one of the characters, without blanks around it.
    std::string_view take_until(std::string_view ends) {
        skip_blanks();
        const std::size_t end = std::min(text_.find_first_of(ends, at_), text_.size());
        std::string_view word = text_.substr(at_, end - at_);
        word.remove_suffix(word.size() - std::min(word.find_last_not_of(blanks) + 1, word.size()));
        at_ = end;
        return word;
    }

    Quantity quantity() {
        skip_blanks();
        const std::size_t begin = at_;
        const std::string name(take_until("(<>= \t"));
        for (const Quantity& each : quantities())
            if (each.name == name)
                return each;
        if (name.empty())
            fail_at(begin, "expected a quantity such as ptm(5ms) or iteration_p99");
        const std::vector<std::string> names = quantity_names();
        fail_at(begin, fmt::format("unknown quantity \"{}\"{}", name, suggestion(name, names)));
    }

    void arguments(Expectation& result) {
        const QuantityArgument wanted = result.quantity.argument;
        const bool needed = wanted == QuantityArgument::window || wanted == QuantityArgument::rate;
        const std::string example = wanted == QuantityArgument::window ? "5ms" : "10Gbit";
        if (!take("(")) {
            if (needed)
                fail(fmt::format("{0} needs an argument: {0}({1})", result.quantity.name, example));
            return;
        }
        bool first = true;
        do {
            skip_blanks();
            const std::size_t begin = at_;
            const std::string word(take_until(",)"));
            if (word.empty())
                fail_at(begin, "expected an argument");
            if (first && wanted != QuantityArgument::none)
                own_argument(result, word, begin);
            else
                selection(result, word, begin);
            first = false;
        } while (take(","));
        if (!take(")"))
            fail("expected )");
    }

    void own_argument(Expectation& result, const std::string& word, std::size_t begin) {
        try {
            if (result.quantity.argument == QuantityArgument::collective)
                result.collective = word;
            else if (result.quantity.argument == QuantityArgument::rate)
                result.rate = collectors::parse_bit_rate(word);
            else
                result.window = collectors::parse_duration(word);
        } catch (const std::invalid_argument& error) {
            fail_at(begin, error.what());
        }
        if (result.quantity.argument == QuantityArgument::window && result.window.count() == 0)
            fail_at(begin, "the window must be longer than 0");
    }

    void selection(Expectation& result, const std::string& word, std::size_t begin) {
        if (!result.quantity.of_interfaces)
            fail_at(begin, fmt::format("{} is not measured by interface", result.quantity.name));
        if (word == "tx" || word == "rx")
            result.direction = word == "tx" ? collectors::Direction::tx : collectors::Direction::rx;
        else if (word.find('.') != std::string::npos)
            result.interface = word;
        else
            fail_at(begin, fmt::format("expected tx, rx or HOST.INTERFACE, is \"{}\"", word));
    }

    Comparison comparison() {
        for (const Operator& each : operators)
            if (take(each.text))
                return each.comparison;
        fail("expected >=, <=, >, < or ==");
    }

    /// A quantity, `predicted`, `1.1*predicted` or `predicted*1.1`.
    void limit(Expectation& result) {
        skip_blanks();
        const std::size_t begin = at_;
        std::string word(take_until(""));
        if (word.empty())
            fail("expected a limit");
        if (word.find(predicted_word) == std::string::npos) {
            result.limit = value(word, result.quantity, begin);
            return;
        }
        if (!result.quantity.predicted)
            fail_at(begin, fmt::format("{} is not predicted", result.quantity.name));
        result.is_of_prediction = true;
        std::erase_if(word, [](char c) { return blanks.find(c) != std::string_view::npos; });
        word.erase(word.find(predicted_word), predicted_word.size());
        if (word.ends_with('*'))
            word.pop_back();
        else if (word.starts_with('*'))
            word.erase(0, 1);
        else if (!word.empty())
            fail_at(begin, "expected predicted, or a factor such as 1.1*predicted");
        result.limit =
            word.empty() && text_.find('*', begin) == std::string_view::npos ? 1 : number(word, begin);
    }

    double value(std::string word, const Quantity& quantity, std::size_t begin) const {
        try {
            switch (quantity.unit) {
            case QuantityUnit::seconds:
                return collectors::in_seconds(collectors::parse_duration(word));
            case QuantityUnit::bytes:
                return static_cast<double>(collectors::parse_byte_size(word));
            case QuantityUnit::bytes_per_second:
                if (word.find("bit") != std::string::npos || word.find("bps") != std::string::npos)
                    return collectors::parse_bit_rate(word).bytes_per_second();
                if (!word.ends_with("/s"))
                    fail_at(begin, "expected a rate such as 9Gbit or 800MB/s");
                word.resize(word.size() - 2);
                return static_cast<double>(collectors::parse_byte_size(word));
            case QuantityUnit::share:
                if (word.ends_with('%')) {
                    word.pop_back();
                    return number(word, begin) / 100;
                }
                break;
            case QuantityUnit::ratio:
            case QuantityUnit::count:
                break;
            }
        } catch (const std::invalid_argument& error) {
            if (std::string_view(error.what()).find("column") != std::string_view::npos)
                throw;
            fail_at(begin, error.what());
        }
        return number(word, begin);
    }

    double number(std::string_view word, std::size_t begin) const {
        word.remove_suffix(word.size() - std::min(word.find_last_not_of(blanks) + 1, word.size()));
        double result = 0;
        const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), result);
        if (error != std::errc{} || end != word.data() + word.size() || !std::isfinite(result) || result < 0)
            fail_at(begin, fmt::format("expected a number that is not negative, is \"{}\"", word));
        return result;
    }

    std::string_view text_;
    std::size_t at_ = 0;
};

} // namespace

Expectation parse_expectation(std::string_view text) {
    return ExpectationReader(text).expectation();
}

std::string_view to_text(Comparison comparison) {
    for (const Operator& each : operators)
        if (each.comparison == comparison)
            return each.text;
    return "";
}

std::string_view to_text(QuantityUnit unit) {
    switch (unit) {
    case QuantityUnit::bytes:
        return "bytes";
    case QuantityUnit::seconds:
        return "s";
    case QuantityUnit::bytes_per_second:
        return "bytes/s";
    case QuantityUnit::ratio:
    case QuantityUnit::count:
    case QuantityUnit::share:
        break;
    }
    return "1"; // dimensionless
}

std::string format_quantity(double value, QuantityUnit unit) {
    switch (unit) {
    case QuantityUnit::bytes:
        return collectors::format_bytes(value);
    case QuantityUnit::seconds:
        return collectors::format_duration(std::chrono::nanoseconds(std::llround(1e9 * value)));
    case QuantityUnit::bytes_per_second:
        return collectors::format_bytes(value) + "/s";
    case QuantityUnit::share:
        return fmt::format("{:.4g} %", 100 * value);
    case QuantityUnit::count:
        return fmt::format("{:.0f}", value);
    case QuantityUnit::ratio:
        break;
    }
    return fmt::format("{:.4g}", value);
}

} // namespace generator
