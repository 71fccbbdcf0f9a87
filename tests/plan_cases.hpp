#pragma once

#include "generator/plan.hpp"
#include "tests/catch.hpp"
#include "tests/plan_interpreter.hpp"

#include <array>
#include <cstdint>
#include <vector>

/// Collectives on real numbers, and what every rank must hold after them.
namespace tests {

inline std::vector<generator::RankPlan> all_ranks(const generator::CollectiveCall& call, int size) {
    std::vector<generator::RankPlan> plans;
    for (int position = 0; position < size; ++position)
        plans.push_back(generator::rank_plan(call, position, size));
    return plans;
}

/// What each rank holds at first: numbers of its own, also where results of an all-to-all will lie.
inline std::vector<Buffer> distinct_buffers(const generator::CollectiveCall& call, int size) {
    std::vector<Buffer> buffers;
    for (int position = 0; position < size; ++position) {
        buffers.emplace_back();
        for (std::uint64_t i = 0; i < generator::buffer_bytes(call, position, size); ++i)
            buffers.back().push_back((static_cast<std::uint64_t>(position) + 1) * 1000003 + i * i);
    }
    return buffers;
}

inline generator::ByteRange chunk(const generator::CollectiveCall& call, int size, int position) {
    return generator::partition(call.bytes, call.element_bytes, static_cast<std::uint64_t>(size),
                                static_cast<std::uint64_t>(position));
}

inline std::uint64_t sum_at(const std::vector<Buffer>& buffers, std::size_t place) {
    std::uint64_t sum = 0;
    for (const Buffer& buffer : buffers)
        sum += buffer[place];
    return sum;
}

/// The number that must lie at `place` on `position` afterwards; nothing where the collective leaves
/// whatever it likes.
inline std::optional<std::uint64_t> expected(const generator::CollectiveCall& call,
                                             const std::vector<Buffer>& before, int position,
                                             std::uint64_t place) {
    const int size = static_cast<int>(before.size());
    const auto within = [place](generator::ByteRange range) {
        return place >= range.offset && place < range.offset + range.bytes;
    };
    const auto self = static_cast<std::size_t>(position);
    switch (call.collective) {
    case generator::Collective::all_reduce:
        return sum_at(before, place);
    case generator::Collective::reduce_scatter:
        return within(chunk(call, size, position)) ? std::optional(sum_at(before, place)) : std::nullopt;
    case generator::Collective::all_gather:
        for (int other = 0; other < size; ++other)
            if (within(chunk(call, size, other)))
                return before[static_cast<std::size_t>(other)][place];
        return std::nullopt;
    case generator::Collective::broadcast:
    case generator::Collective::send:
        return before[0][place];
    case generator::Collective::all_to_all:
        break;
    }
    if (place < call.bytes)
        return before[self][place]; // what a rank sends stays
    const generator::ByteRange own = chunk(call, size, position);
    const std::uint64_t from = (place - call.bytes) / own.bytes;
    if (from == self)
        return before[self][place];
    return before[from][own.offset + (place - call.bytes) % own.bytes];
}

/// The first rank and place with a wrong number, or "" if the plans do what the call says.
inline std::string wrong_result(const generator::CollectiveCall& call,
                                const std::vector<generator::RankPlan>& plans, Execution execution) {
    const int size = static_cast<int>(plans.size());
    const std::vector<Buffer> before = distinct_buffers(call, size);
    const std::vector<Buffer> after = interpret(plans, before, execution);
    for (int position = 0; position < size; ++position) {
        const Buffer& held = after[static_cast<std::size_t>(position)];
        for (std::uint64_t place = 0; place < held.size(); ++place) {
            const std::optional<std::uint64_t> right = expected(call, before, position, place);
            if (right && held[place] != *right)
                return "rank " + std::to_string(position) + ", byte " + std::to_string(place);
        }
    }
    return "";
}

/// Every collective in every form that it has: all algorithms for those that follow them.
inline std::vector<generator::CollectiveCall> every_form() {
    using generator::Algorithm;
    using generator::Collective;
    std::vector<generator::CollectiveCall> calls;
    for (const Collective collective :
         {Collective::all_reduce, Collective::reduce_scatter, Collective::all_gather, Collective::broadcast})
        for (const Algorithm algorithm :
             {Algorithm::ring, Algorithm::server, Algorithm::sharded_server, Algorithm::halving_doubling,
              Algorithm::double_binary_tree, Algorithm::hierarchical}) {
            calls.push_back({.collective = collective, .algorithm = algorithm});
            if (algorithm == Algorithm::server)
                calls.push_back({.collective = collective,
                                 .algorithm = algorithm,
                                 .service = generator::Service::incast});
        }
    calls.push_back({.collective = Collective::all_to_all});
    calls.push_back({.collective = Collective::send});
    return calls;
}

/// Whether a group of `size` can do it.
inline bool is_possible(const generator::CollectiveCall& call, int size) {
    if (call.collective == generator::Collective::send)
        return size == 2;
    return size > 1 || call.collective != generator::Collective::all_reduce ||
           call.algorithm != generator::Algorithm::hierarchical;
}

inline std::string text(const generator::CollectiveCall& call, int size) {
    return std::string(generator::collective_name(call.collective)) + ", algorithm " +
           std::to_string(static_cast<int>(call.algorithm)) + ", " + std::to_string(size) + " ranks, " +
           std::to_string(call.bytes) + " bytes, " + std::to_string(call.channels) + " channels, " +
           std::to_string(call.sockets) + " sockets";
}

} // namespace tests
