#pragma once

#include "generator/plan.hpp"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

/// Executes a plan of all ranks in memory, one element per byte, and proves what the plan promises.
namespace tests {

using Buffer = std::vector<std::uint64_t>; ///< one number per byte of the bucket

/// What is in flight from one rank to another.
struct Message {
    bool is_signal = false;
    Buffer content;
};

/// Runs every rank's operations, each only when what it waits for is complete (whole operations, no segments:
/// the hardest case for deadlock), with one transfer in flight per pair and direction. Throws
/// std::logic_error when the ranks wait for each other, when a send meets no receive of its size, or when a
/// send is left over.
inline std::vector<Buffer> interpret(const std::vector<generator::RankPlan>& plans,
                                     std::vector<Buffer> buffers) {
    using generator::Operation;
    const std::size_t world = plans.size();
    std::vector<std::vector<bool>> complete(world);
    for (std::size_t rank = 0; rank < world; ++rank)
        complete[rank].resize(plans[rank].operations.size());
    std::map<std::pair<std::size_t, std::size_t>, std::deque<Message>> wire; // (from, to)
    const auto ready = [&](std::size_t rank, std::size_t index) {
        const Operation& operation = plans[rank].operations[index];
        for (const auto* conditions : {&operation.after, &operation.behind})
            for (const std::uint32_t before : *conditions)
                if (!complete[rank][before])
                    return false;
        for (std::size_t earlier = 0; earlier < index; ++earlier) { // plan order per peer and direction
            const Operation& other = plans[rank].operations[earlier];
            if (other.peer == operation.peer && other.is_send() == operation.is_send() &&
                !complete[rank][earlier])
                return false;
        }
        return true;
    };
    const auto step = [&](std::size_t rank, std::size_t index) {
        const Operation& operation = plans[rank].operations[index];
        const auto peer = static_cast<std::size_t>(operation.peer);
        if (operation.is_send()) {
            std::deque<Message>& link = wire[{rank, peer}];
            if (!link.empty())
                return false; // one in flight
            if (operation.is_signal()) {
                link.push_back({true, Buffer(operation.range.bytes)});
                return true;
            }
            const auto begin = buffers[rank].begin() + static_cast<std::ptrdiff_t>(operation.range.offset);
            link.push_back({false, {begin, begin + static_cast<std::ptrdiff_t>(operation.range.bytes)}});
            return true;
        }
        std::deque<Message>& link = wire[{peer, rank}];
        if (link.empty())
            return false;
        const Message message = link.front();
        link.pop_front();
        if (message.content.size() != operation.range.bytes)
            throw std::logic_error("a receive of another size than its send");
        if (message.is_signal != operation.is_signal())
            throw std::logic_error("a signal that meets data");
        for (std::size_t i = 0; i < operation.range.bytes && !message.is_signal; ++i) {
            std::uint64_t& place = buffers[rank][operation.range.offset + i];
            place = operation.kind == Operation::Kind::receive_add ? place + message.content[i]
                                                                   : message.content[i];
        }
        return true;
    };
    for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t rank = 0; rank < world; ++rank)
            for (std::size_t index = 0; index < plans[rank].operations.size(); ++index)
                if (!complete[rank][index] && ready(rank, index) && step(rank, index))
                    moved = complete[rank][index] = true;
    }
    for (std::size_t rank = 0; rank < world; ++rank)
        for (std::size_t index = 0; index < complete[rank].size(); ++index)
            if (!complete[rank][index])
                throw std::logic_error("the ranks wait for each other");
    for (const auto& [pair, link] : wire)
        if (!link.empty())
            throw std::logic_error("a send that nobody receives");
    return buffers;
}

} // namespace tests
