#include "collectors/summary.hpp"

#include "collectors/summary_builder.hpp"

#include <utility>

namespace collectors {

std::vector<InterfaceSummary> summarize(const TraceInfo& info, const SampleBlocks& blocks,
                                        std::span<const Direction> directions,
                                        const SummarySettings& settings) {
    std::vector<SummaryBuilder> builders;
    for (const Direction direction : directions)
        builders.emplace_back(info, direction, settings);
    blocks([&](std::span<const Sample> samples) {
        for (SummaryBuilder& builder : builders)
            builder.add(samples);
    });
    blocks([&](std::span<const Sample> samples) {
        for (SummaryBuilder& builder : builders)
            builder.add_again(samples);
    });
    std::vector<InterfaceSummary> summaries;
    for (const SummaryBuilder& builder : builders)
        summaries.push_back(builder.summary());
    return summaries;
}

InterfaceSummary summarize(const Trace& trace, Direction direction, std::chrono::nanoseconds from,
                           std::chrono::nanoseconds to, std::span<const std::chrono::nanoseconds> windows,
                           const RatesOfMean& rates) {
    const SummarySettings settings{{windows.begin(), windows.end()}, rates, from, to};
    const SampleBlocks whole = [&](const auto& block) { block(trace.samples); };
    return std::move(summarize(trace.info, whole, std::span(&direction, 1), settings).front());
}

RatesOfMean always(std::vector<BitRate> rates) {
    return [rates = std::move(rates)](double) { return rates; };
}

DispersionPoint dispersion_at(const InterfaceSummary& summary, std::size_t i) {
    return i < summary.dispersion.size() ? summary.dispersion[i] : DispersionPoint{};
}

std::string_view to_text(Direction direction) {
    return direction == Direction::tx ? "tx" : "rx";
}

} // namespace collectors
