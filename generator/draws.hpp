#pragma once

#include <cstdint>

namespace generator {

/// splitmix64 (Steele, Lea, Flood 2014): a good mix of any 64-bit value.
constexpr std::uint64_t mix(std::uint64_t value) {
    value += 0x9e3779b97f4a7c15u;
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9u;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebu;
    return value ^ (value >> 31);
}

/// Random numbers of one stream, item (a rank, a flow) and number (of an iteration, a message): they depend
/// on nothing else, so that every rank can draw what another one draws.
class Draws {
public:
    Draws(std::uint64_t seed, std::uint64_t stream, std::uint64_t item, std::int64_t number)
        : state_(mix(mix(mix(seed ^ mix(stream)) ^ item) ^ static_cast<std::uint64_t>(number))) {}

    /// Evenly spread over 0 <= x < 1.
    double uniform() {
        state_ = mix(state_);
        return static_cast<double>(state_ >> 11) * 0x1p-53;
    }

private:
    std::uint64_t state_;
};

} // namespace generator
