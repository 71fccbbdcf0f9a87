#pragma once

#include "collectors/burst_statistics.hpp"
#include "collectors/online_backlog.hpp"
#include "collectors/online_curve.hpp"
#include "collectors/period.hpp"
#include "collectors/summary.hpp"

#include <span>
#include <vector>

namespace collectors {

/// The summary of one direction while samples arrive, in memory that does not grow with the trace. Its bursts
/// are those above twice the mean, and the rates of its backlog may depend on the mean, which is known at the
/// end only: both take a second pass over the same samples.
class SummaryBuilder {
public:
    SummaryBuilder(const TraceInfo& info, Direction direction, const SummarySettings& settings);

    /// First pass: the next samples of the whole trace, in any number.
    void add(std::span<const Sample> samples);
    /// Second pass, after all of the first.
    void add_again(std::span<const Sample> samples);
    /// After the second pass. Without one there are neither bursts nor a backlog in it.
    InterfaceSummary summary() const;

private:
    std::vector<Reading> inside(std::span<const Sample> samples, bool first_pass);

    TraceInfo info_;
    Direction direction_;
    SummarySettings settings_;
    RefreshWatch refresh_; ///< a period seen in the whole trace holds for each part of it
    OnlineQuality quality_;
    OnlineCurve curve_;
    OnlineDispersion dispersion_;
    ActivitySeries series_;
    std::uint64_t held_ = 0;      ///< samples of the whole trace
    bool whole_ = true;           ///< no sample was left out
    std::vector<Sample> samples_; ///< of one block, reused

    /// What the second pass makes.
    struct OfMean {
        BurstStatistics bursts;
        std::vector<BitRate> rates;
        OnlineBacklog backlog;
    };
    std::optional<OfMean> of_mean_;
};

} // namespace collectors
