#include "generator/gating.hpp"

#include <algorithm>
#include <map>

namespace generator {
namespace {

struct Start {
    std::int64_t time_ns = 0;
    int rank = 0;

    auto operator<=>(const Start&) const = default;
};

using StartsByBucket = std::map<std::uint32_t, std::vector<Start>>; ///< by bucket number

/// By iteration, then by bucket.
std::map<std::uint32_t, StartsByBucket> starts_of(const std::vector<Timeline>& timelines,
                                                  const Workload& workload, std::uint32_t first,
                                                  std::uint32_t last) {
    std::map<std::uint32_t, StartsByBucket> starts;
    for (const Timeline& timeline : timelines)
        for (const BucketRecord& record : timeline.buckets)
            if (record.iteration >= first && record.iteration < last &&
                workload.buckets(record.iteration).at(record.bucket).collective != Collective::send)
                starts[record.iteration][record.bucket].push_back({record.start_ns, timeline.rank});
    return starts;
}

/// The last one of those with most ranks.
const std::vector<Start>* deciding(const StartsByBucket& buckets) {
    const std::vector<Start>* most = nullptr;
    for (const auto& [number, starts] : buckets)
        if (most == nullptr || starts.size() >= most->size())
            most = &starts;
    return most;
}

} // namespace

std::vector<Gate> gates(const std::vector<Timeline>& timelines, const Workload& workload, std::uint32_t first,
                        std::uint32_t last) {
    std::vector<Gate> result;
    for (const auto& [iteration, buckets] : starts_of(timelines, workload, first, last)) {
        const std::vector<Start>* const unsorted = deciding(buckets);
        if (unsorted == nullptr || unsorted->size() < 2)
            continue;
        std::vector<Start> starts = *unsorted;
        std::sort(starts.begin(), starts.end());
        const Start& median = starts[(starts.size() - 1) / 2];
        result.push_back({iteration, starts.back().rank, starts.back().time_ns - median.time_ns});
    }
    return result;
}

std::vector<GatingRank> gating_ranks(const std::vector<Gate>& gates) {
    std::map<int, std::vector<std::int64_t>> behind;
    for (const Gate& gate : gates)
        behind[gate.rank].push_back(gate.behind_ns);
    std::vector<GatingRank> ranks;
    for (auto& [rank, values] : behind) {
        std::sort(values.begin(), values.end());
        ranks.push_back({rank, static_cast<std::uint32_t>(values.size()),
                         1e-9 * static_cast<double>(values[(values.size() - 1) / 2]),
                         1e-9 * static_cast<double>(values.back())});
    }
    std::stable_sort(ranks.begin(), ranks.end(),
                     [](const GatingRank& a, const GatingRank& b) { return a.iterations > b.iterations; });
    return ranks;
}

} // namespace generator
