#pragma once

#include "tools/report_input.hpp"

#include <map>
#include <string>
#include <utility>

namespace tools {

/// Hosts and interfaces as people look for them: by the lowest rank on them, then by the numbers in their
/// names.
class RankOrder {
public:
    using Place = std::pair<std::string, std::string>; ///< host and interface

    explicit RankOrder(const nlohmann::ordered_json& run);

    /// Whether a stands before b.
    bool operator()(const Place& a, const Place& b) const;

private:
    int rank_of(const Place& place) const;

    std::map<Place, int> lowest_; ///< rank of an interface; of a host beside the empty name
};

/// Traces and lanes; those of switch ports behind the hosts'.
void sort_by_rank(ReportInput& input);

/// `interfaces`, `slow_lane` and `switch_ports` of a run.json.
void sort_by_rank(nlohmann::ordered_json& document);

} // namespace tools
