#include "generator/variation.hpp"

#include "generator/draws.hpp"

#include <algorithm>
#include <cmath>

namespace generator {
namespace {

/// Draws of one stream do not depend on those of another. Straggler number i has the stream `straggler` + i.
enum : std::uint64_t {
    drift_stream = 1,
    white_stream,
    tail_stream,
    tail_size_stream,
    stall_stream,
    straggler
};

/// Of one stream, rank and iteration.
Draws draws(std::uint64_t seed, std::uint64_t stream, int rank, std::int64_t iteration) {
    return {seed, stream, static_cast<std::uint64_t>(rank), iteration};
}

/// Mean 0 and standard deviation 1, nearly normal: the sum of twelve uniform numbers less six.
/// std::normal_distribution differs between libraries.
double nearly_normal(Draws draws) {
    double sum = -6;
    for (int i = 0; i < 12; ++i)
        sum += draws.uniform();
    return sum;
}

/// At least 1; the share x^-shape exceeds x. The largest of `shape` uniform numbers is below y with
/// probability y^shape, so that its inverse has this distribution without any pow().
double pareto(Draws draws, std::uint32_t shape) {
    double largest = 0;
    for (std::uint32_t i = 0; i < shape; ++i)
        largest = std::max(largest, 1 - draws.uniform()); // never 0
    return 1 / largest;
}

} // namespace

double jitter_factor(const Jitter& jitter, std::uint64_t seed, int rank, std::uint32_t iteration) {
    constexpr std::int64_t memory = 512; // terms of the moving-average form; 0.95^512 = 4e-12
    double drift = 0;
    if (jitter.drift_sd > 0) {
        double weight = jitter.drift_sd * std::sqrt(1 - jitter.drift_rho * jitter.drift_rho);
        for (std::int64_t back = 0; back < memory; ++back, weight *= jitter.drift_rho)
            drift += weight * nearly_normal(draws(seed, drift_stream, rank, iteration - back));
    }
    double white = 0;
    if (jitter.white_sd > 0)
        white = jitter.white_sd * nearly_normal(draws(seed, white_stream, rank, iteration));
    const double usual = std::max(0.1, 1 + drift + white);
    const HeavyTail& tail = jitter.heavy_tail;
    if (draws(seed, tail_stream, rank, iteration).uniform() >= tail.probability)
        return usual;
    return usual * tail.factor * pareto(draws(seed, tail_size_stream, rank, iteration), tail.shape);
}

double straggler_factor(const std::vector<Straggler>& stragglers, std::uint64_t seed, int rank,
                        std::uint32_t iteration) {
    double factor = 1;
    for (std::size_t i = 0; i < stragglers.size(); ++i) {
        const Straggler& each = stragglers[i];
        const bool meant = std::find(each.ranks.begin(), each.ranks.end(), rank) != each.ranks.end() &&
                           iteration >= each.from && iteration <= each.to.value_or(iteration);
        if (meant && draws(seed, straggler + i, rank, iteration).uniform() < each.probability)
            factor *= each.factor;
    }
    return factor;
}

nanoseconds input_stall(const InputStalls& stalls, std::uint64_t seed, int rank, std::uint32_t iteration) {
    const bool stalled = stalls.every > 0
                             ? (iteration + std::uint64_t{1}) % stalls.every == 0
                             : draws(seed, stall_stream, rank, iteration).uniform() < stalls.probability;
    return stalled ? stalls.time : nanoseconds(0);
}

bool varies(const Profile& profile) {
    return !(without_variation(profile) == profile);
}

Profile without_variation(Profile profile) {
    profile.jitter = {};
    profile.input_stalls = {};
    profile.stragglers.clear();
    return profile;
}

} // namespace generator
