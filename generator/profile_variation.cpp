#include "generator/profile_reader.hpp"
#include "generator/profile_sections.hpp"

#include <limits>

// What makes iterations and ranks differ, in the section `compute`.
namespace generator {
namespace {

constexpr Range<double> probability_range{0, 1};
constexpr Range<std::uint64_t> iteration_range{0, std::numeric_limits<std::uint32_t>::max()};

HeavyTail read_heavy_tail(ObjectReader section) {
    HeavyTail tail;
    tail.probability = section.number("probability", probability_range).value_or(tail.probability);
    tail.factor = section.number("factor", {1, 1000}).value_or(tail.factor);
    tail.shape = static_cast<std::uint32_t>(section.count("shape", {1, 64}).value_or(tail.shape));
    section.finish();
    return tail;
}

Jitter read_jitter(ObjectReader section) {
    Jitter jitter;
    jitter.drift_sd = section.number("drift_sd", {0, 1}).value_or(jitter.drift_sd);
    jitter.drift_rho = section.number("drift_rho", {0, 0.9999}).value_or(jitter.drift_rho);
    jitter.white_sd = section.number("white_sd", {0, 1}).value_or(jitter.white_sd);
    jitter.heavy_tail = read_heavy_tail(section.section("heavy_tail"));
    section.finish();
    return jitter;
}

InputStalls read_input_stalls(ObjectReader section) {
    const auto probability = section.number("probability", probability_range);
    const auto every = section.count("every", {1, iteration_range.most});
    const auto time = section.duration("time", {nanoseconds(0), std::chrono::hours(24)});
    section.finish();
    if (probability && every) {
        section.fail("every", "\"probability\" says when, too; give one of them");
    }
    if (time && !probability && !every) {
        section.fail("", "\"time\" needs \"probability\" or \"every\"");
    }
    if (!time && (probability || every)) {
        section.fail("time", "required, because a stall takes time");
    }
    return {probability.value_or(0), static_cast<std::uint32_t>(every.value_or(0)),
            time.value_or(nanoseconds(0))};
}

Straggler read_straggler(ObjectReader section) {
    const auto ranks = section.counts("ranks", rank_range);
    const auto factor = section.number("factor", {0.01, 1000});
    Straggler straggler;
    straggler.from = static_cast<std::uint32_t>(section.count("from", iteration_range).value_or(0));
    if (const auto to = section.count("to", iteration_range)) {
        straggler.to = static_cast<std::uint32_t>(*to);
    }
    straggler.probability = section.number("probability", probability_range).value_or(1);
    section.finish();
    if (!ranks || ranks->empty()) {
        section.fail("ranks", ranks ? "must name at least one rank, is an empty list" : "required");
    }
    if (!factor) {
        section.fail("factor", "required");
    }
    if (straggler.to && *straggler.to < straggler.from) {
        section.fail("to", "must not be before \"from\", " + shown(std::uint64_t{straggler.from}) + ", is " +
                               shown(std::uint64_t{*straggler.to}));
    }
    straggler.ranks.assign(ranks->begin(), ranks->end());
    straggler.factor = *factor;
    return straggler;
}

} // namespace

void read_variation(ObjectReader& compute, Profile& profile) {
    profile.jitter = read_jitter(compute.section("jitter"));
    profile.input_stalls = read_input_stalls(compute.section("input_stalls"));
    for (const ObjectReader& straggler : compute.sections("stragglers")) {
        profile.stragglers.push_back(read_straggler(straggler));
    }
}

} // namespace generator
