#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tools {

/// gradburst-report --superpose as given on the command line: texts, not yet understood.
struct SuperposeOptions {
    std::vector<std::string> inputs;
    std::optional<std::int64_t> jobs;
    std::optional<std::int64_t> phases;
    std::string rate;
    std::vector<std::string> buffers;
    std::vector<std::string> windows;
    std::string period;
    std::string cell;
    std::string direction = "tx";
    std::vector<std::string> offsets;
    std::optional<std::uint64_t> seed;
    std::optional<std::int64_t> threads;
    std::vector<std::string> figures;
    std::string out;
    bool json = false;
    bool overwrite = false;
};

/// Prints, and writes superpose.json and figures. Throws generator::UserError, which names the option.
void superpose(const SuperposeOptions& options);

} // namespace tools
