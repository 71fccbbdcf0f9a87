#pragma once

#include <stdexcept>
#include <string>

namespace collectors {

/// What `parse` makes of an option's text. Throws `Mistake` that names the option for what `parse` refuses
/// by std::invalid_argument.
template <class Mistake, class Parse>
auto parsed_option(const std::string& option, const std::string& text, Parse parse) {
    try {
        return parse(text);
    } catch (const std::invalid_argument& error) {
        throw Mistake(option + ": " + error.what());
    }
}

} // namespace collectors
