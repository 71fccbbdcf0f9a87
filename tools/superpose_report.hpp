#pragma once

#include "tools/superpose_input.hpp"

#include "collectors/units.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

/// What gradburst-report --superpose says: superpose.json, and the same as a table and a figure.
namespace tools {

/// One trace that stands for jobs.
struct SuperposedTrace {
    ChosenTrace chosen;
    JobTrace job;
};

struct SuperposeSettings {
    std::size_t jobs = 0; ///< job i is trace i modulo their number
    std::size_t phases = 0;
    std::uint64_t seed = 1;
    std::vector<std::chrono::nanoseconds>
        offsets; ///< not empty: each job begins so late, and each period is a draw
    collectors::Direction direction = collectors::Direction::tx;
    std::chrono::nanoseconds cell{0};
    std::vector<std::chrono::nanoseconds> windows;
    std::optional<collectors::BitRate> rate;
    std::vector<std::uint64_t> buffers; ///< bytes
    std::string created_at;
};

/// Superposes by so many threads and writes down the draws: superpose.schema.json. Throws
/// generator::UserError if that would take hours.
nlohmann::ordered_json superpose_json(const std::vector<SuperposedTrace>& traces,
                                      const SuperposeSettings& settings, std::size_t threads);

/// In CAPITALS what should not be trusted; `load` is the share of the link that all offer on average.
std::vector<std::string> superposition_warnings(const std::vector<SuperposedTrace>& traces,
                                                const SuperposeSettings& settings, double load);

/// As a person reads it. Pure.
std::string superpose_text(const nlohmann::ordered_json& document);

/// The gnuplot script of the figure: which share of the draws has a longer queue. Throws
/// generator::UserError: no link, so no queue.
std::string superpose_figure(const std::filesystem::path& path, const nlohmann::ordered_json& document);

} // namespace tools
