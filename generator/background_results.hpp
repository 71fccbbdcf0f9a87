#pragma once

#include "generator/background_records.hpp"
#include "generator/distribution.hpp"
#include "generator/socket_state.hpp"

#include <nlohmann/json_fwd.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The figures of background traffic, apart from those of the collectives.
namespace generator {

/// Messages of like size, as the literature on flow completion times has them.
struct SizeClass {
    std::string_view name;
    std::uint64_t most_bytes = 0;
};
constexpr std::array size_classes{SizeClass{"below 100 kB", 99'999}, SizeClass{"100 kB to 10 MB", 10'000'000},
                                  SizeClass{"above 10 MB", ~std::uint64_t{0}}};

struct CompletionTimes {
    std::uint64_t messages = 0; ///< that were complete
    std::optional<Distribution> seconds;
};

struct BackgroundCount {
    std::uint64_t messages = 0;
    std::uint64_t bytes = 0;
};

/// One entry of the profile, over all its flows.
struct BackgroundEntryResult {
    std::size_t flows = 0;
    BackgroundCount planned;  ///< due before the senders stopped
    BackgroundCount sent;     ///< messages: whole ones
    BackgroundCount received; ///< the same
    std::uint64_t begun = 0;  ///< messages
    double asked_bits_per_second = 0;
    std::optional<double> offered_bits_per_second;  ///< what fell due by the seed; empty: no sender answered
    std::optional<double> received_bits_per_second; ///< the same span
    std::optional<Distribution> start_lateness_seconds;
    std::optional<Distribution> completion_seconds;
    std::array<CompletionTimes, size_classes.size()> by_size;
    std::uint64_t queries_planned = 0;            ///< of incast
    CompletionTimes queries;                      ///< of incast
    std::uint64_t without_times = 0;              ///< messages that were begun
    std::map<std::string, std::vector<int>> lost; ///< errors of connections, by what was said; the ranks
    std::vector<SocketUse> sockets;               ///< of the senders
    std::uint64_t receive_buffer_bytes = 0;       ///< the least, as the kernel counts; 0: not known
    std::vector<int> silent;                      ///< ranks that did not answer
};

std::vector<BackgroundEntryResult> background_results(const std::vector<FlowRecord>& flows,
                                                      const Profile& profile, int world_size);

/// What is not as asked or planned, each a warning.
std::vector<std::string> background_warnings(const std::vector<BackgroundEntryResult>& results,
                                             const std::vector<BackgroundEntry>& background);

/// For run.json.
nlohmann::ordered_json background_results_json(const std::vector<BackgroundEntryResult>& results,
                                               const std::vector<BackgroundEntry>& background);

/// The table in the summary of a run; empty without background traffic.
std::string background_text(const std::vector<BackgroundEntryResult>& results,
                            const std::vector<BackgroundEntry>& background);

/// "storage: 2 flows, constant, 200 Mbit/s each, 64 kB; congestion control bbr, DSCP 8", one line per entry.
std::vector<std::string> background_settings(const std::vector<BackgroundEntry>& background, int world_size);

} // namespace generator
