#pragma once

#include "collectors/json_reason.hpp"
#include "generator/failure.hpp"
#include "tools/report_input.hpp"

#include <stdexcept>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace tools {

/// What `use(input)` returns. What fails because of what the input holds is the user's to put right: it
/// becomes a generator::UserError that names the input.
template <class Use>
auto using_input(const ReportInput& input, Use use) {
    const auto named = [&](const std::string& reason) {
        const std::string name = input.path.string();
        return reason.find(name) == std::string::npos ? fmt::format("{}: {}", name, reason) : reason;
    };
    try {
        return use(input);
    } catch (const generator::UserError& error) {
        throw generator::UserError(named(error.what()));
    } catch (const std::system_error&) { // a disk's or the memory's, and it names the file
        throw;
    } catch (const nlohmann::json::exception& error) {
        throw generator::UserError(named(collectors::json_reason(error)));
    } catch (const std::runtime_error& error) {
        throw generator::UserError(named(error.what()));
    } catch (const std::logic_error& error) { // ours, but only with this input
        throw std::runtime_error(named(error.what()));
    }
}

} // namespace tools
