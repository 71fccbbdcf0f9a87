#pragma once

#include "generator/plan.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <tuple>
#include <vector>

/// Executes a plan of all ranks in memory, one element per byte, and proves what the plan promises.
namespace tests {

using Buffer = std::vector<std::uint64_t>; ///< one number per byte of the bucket

/// How the ranks are moved. Whatever a network does, the results must be the same.
struct Execution {
    /// Bytes in flight per pair of ranks, lane and direction, and per hand-over to a send that is behind a
    /// receive. 0: whole transfers, each only when what it waits for is complete (the hardest case for
    /// deadlock).
    std::uint64_t segment_bytes = 0;
    /// Of the order in which streams move. The first stream in it that can move does, as long as it can: late
    /// ones starve, as behind a slow link. 0: all in turn.
    std::uint32_t seed = 0;
};

/// All ranks with their buffers and the streams between them.
class Interpreter {
public:
    Interpreter(const std::vector<generator::RankPlan>& plans, std::vector<Buffer> buffers,
                Execution execution)
        : plans_(plans), buffers_(std::move(buffers)), execution_(execution) {
        for (const generator::RankPlan& plan : plans)
            done_.emplace_back(plan.operations.size(), 0);
        std::map<std::tuple<int, int, std::uint32_t>, std::size_t> streams; // from, to, lane
        for (std::size_t rank = 0; rank < plans.size(); ++rank)
            for (std::uint32_t i = 0; i < plans[rank].operations.size(); ++i) {
                const Operation& operation = plans[rank].operations[i];
                const int self = static_cast<int>(rank);
                const int from = operation.is_send() ? self : operation.peer;
                const int to = operation.is_send() ? operation.peer : self;
                const auto [place, is_new] = streams.try_emplace({from, to, operation.lane}, streams_.size());
                if (is_new)
                    streams_.push_back({static_cast<std::size_t>(from), static_cast<std::size_t>(to)});
                Stream& stream = streams_[place->second];
                (operation.is_send() ? stream.sends : stream.receives).push_back(i);
            }
    }

    std::vector<Buffer> run() {
        if (execution_.seed == 0)
            while (move_all()) {
            }
        else
            starve();
        for (std::size_t rank = 0; rank < plans_.size(); ++rank)
            for (std::size_t i = 0; i < done_[rank].size(); ++i)
                if (done_[rank][i] < plans_[rank].operations[i].range.bytes)
                    throw std::logic_error("the ranks wait for each other");
        for (const Stream& stream : streams_)
            if (stream.in_flight)
                throw std::logic_error("a send that nobody receives");
        return std::move(buffers_);
    }

private:
    using Operation = generator::Operation;

    /// Bytes on their way, with what the sender thinks they are.
    struct Message {
        std::uint64_t transfer_bytes = 0;
        bool is_signal = false;
        Buffer content;
    };

    struct Stream {
        std::size_t from = 0;
        std::size_t to = 0;
        std::vector<std::uint32_t> sends{}; ///< operations in plan order
        std::vector<std::uint32_t> receives{};
        std::size_t next_send = 0;
        std::size_t next_receive = 0;
        std::optional<Message> in_flight{}; ///< one at a time
    };

    bool move_all() {
        bool moved = false;
        for (Stream& stream : streams_) {
            moved = receive(stream) || moved;
            moved = send(stream) || moved;
        }
        return moved;
    }

    /// Sending and receiving ends of all streams in a random order.
    void starve() {
        std::vector<std::pair<std::size_t, bool>> ends;
        for (std::size_t stream = 0; stream < streams_.size(); ++stream) {
            ends.emplace_back(stream, true);
            ends.emplace_back(stream, false);
        }
        std::shuffle(ends.begin(), ends.end(), std::mt19937(execution_.seed));
        for (std::size_t i = 0; i < ends.size();) {
            Stream& stream = streams_[ends[i].first];
            i = (ends[i].second ? send(stream) : receive(stream)) ? 0 : i + 1;
        }
    }

    /// Bytes of an operation that may move.
    std::uint64_t released(std::size_t rank, std::uint32_t index) const {
        const std::vector<Operation>& operations = plans_[rank].operations;
        for (const std::uint32_t before : operations[index].after)
            if (done_[rank][before] < operations[before].range.bytes)
                return 0;
        std::uint64_t bytes = operations[index].range.bytes;
        for (const std::uint32_t before : operations[index].behind) {
            if (operations[before].range != operations[index].range)
                throw std::logic_error("a send behind a receive of another range");
            const std::uint64_t done = done_[rank][before];
            if (done == operations[before].range.bytes)
                continue;
            bytes = std::min(bytes, execution_.segment_bytes == 0
                                        ? 0
                                        : done / execution_.segment_bytes * execution_.segment_bytes);
        }
        return bytes;
    }

    bool send(Stream& stream) {
        if (stream.in_flight || stream.next_send == stream.sends.size())
            return false;
        const std::uint32_t index = stream.sends[stream.next_send];
        const Operation& operation = plans_[stream.from].operations[index];
        std::uint64_t& done = done_[stream.from][index];
        std::uint64_t bytes = released(stream.from, index) - done;
        if (execution_.segment_bytes > 0)
            bytes = std::min(bytes, execution_.segment_bytes);
        if (bytes == 0)
            return false;
        const auto begin = buffers_[stream.from].begin();
        const auto first = static_cast<std::ptrdiff_t>(operation.range.offset + done);
        stream.in_flight = {operation.range.bytes, operation.is_signal(), Buffer(bytes)};
        if (!operation.is_signal())
            std::copy_n(begin + first, bytes, stream.in_flight->content.begin());
        done += bytes;
        stream.next_send += done == operation.range.bytes ? 1 : 0;
        return true;
    }

    bool receive(Stream& stream) {
        if (!stream.in_flight || stream.next_receive == stream.receives.size())
            return false;
        const std::uint32_t index = stream.receives[stream.next_receive];
        const Operation& operation = plans_[stream.to].operations[index];
        std::uint64_t& done = done_[stream.to][index];
        const Message& message = *stream.in_flight;
        if (message.transfer_bytes != operation.range.bytes)
            throw std::logic_error("a receive of another size than its send");
        if (message.is_signal != operation.is_signal())
            throw std::logic_error("a signal that meets data");
        if (released(stream.to, index) < done + message.content.size())
            return false;
        for (std::size_t i = 0; i < message.content.size() && !message.is_signal; ++i) {
            std::uint64_t& place = buffers_[stream.to].at(operation.range.offset + done + i);
            place = operation.kind == Operation::Kind::receive_add ? place + message.content[i]
                                                                   : message.content[i];
        }
        done += message.content.size();
        stream.next_receive += done == operation.range.bytes ? 1 : 0;
        stream.in_flight.reset();
        return true;
    }

    const std::vector<generator::RankPlan>& plans_;
    std::vector<Buffer> buffers_;
    Execution execution_;
    std::vector<std::vector<std::uint64_t>> done_; ///< bytes, by rank and operation
    std::vector<Stream> streams_;
};

/// Runs every rank's operations and returns the buffers. Throws std::logic_error when the ranks wait for each
/// other, when a send meets no receive of its size, when a send is behind a receive of another range, or when
/// a send is left over.
inline std::vector<Buffer> interpret(const std::vector<generator::RankPlan>& plans,
                                     std::vector<Buffer> buffers, Execution execution = {}) {
    return Interpreter(plans, std::move(buffers), execution).run();
}

} // namespace tests
