#pragma once

#include "collectors/printable.hpp"
#include "generator/failure.hpp"

#include <exception>
#include <functional>
#include <string>

#include <fmt/format.h>

namespace tools {

/// Runs the whole of a program and returns its exit code: what `run` returns; 2 for the user's mistake, 1 for
/// any other failure, with the reason on standard error.
inline int run_program(const std::string& name, const std::function<int()>& run) {
    try {
        return run();
    } catch (const generator::UserError& error) {
        collectors::print_safely(stderr, "{}: {}\n", name, error.what());
        return 2;
    } catch (const std::exception& error) {
        collectors::print_safely(stderr, "{}: {}\n", name, error.what());
        return 1;
    }
}

} // namespace tools
