#include "generator/payload.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <sys/socket.h>
#include <tuple>
#include <utility>
#include <vector>

namespace generator {
namespace {

/// Whole numbers 1..251, so that sums of 66,000 ranks are exact in float32. Prime: no number of ranks, no
/// chunk or segment size divides it, and data in a wrong place is wrong data.
constexpr std::size_t value_period = 251;
constexpr float not_received = -1;

using Values = std::array<float, value_period>; ///< of elements 0, 1, ...; then they repeat

Values held_by(int rank, std::uint32_t iteration, std::uint32_t bucket) {
    Values values{};
    for (std::size_t element = 0; element < value_period; ++element)
        values[element] = static_cast<float>(
            (static_cast<std::size_t>(rank) * 3 + iteration + bucket * 5 + element) % value_period + 1);
    return values;
}

/// What this rank has of one bucket.
struct Held {
    Bucket bucket;
    std::vector<int> members;
    std::size_t position = 0;
    std::vector<float> elements;

    std::size_t size() const { return static_cast<std::size_t>(bucket.bytes / sizeof(float)); }
    int self() const { return members[position]; }
};

struct Elements {
    std::size_t first = 0;
    std::size_t count = 0;
};

Elements chunk_of(const Held& held, std::size_t position) {
    const ByteRange range = partition(held.bucket.bytes, sizeof(float), held.members.size(), position);
    return {static_cast<std::size_t>(range.offset / sizeof(float)),
            static_cast<std::size_t>(range.bytes / sizeof(float))};
}

/// Calls visit(first element, its place in Values, count) for pieces of `range` that do not wrap in Values.
void for_periods(Elements range, auto visit) {
    const std::size_t end = range.first + range.count;
    for (std::size_t first = range.first; first < end;) {
        const std::size_t phase = first % value_period;
        const std::size_t count = std::min(value_period - phase, end - first);
        visit(first, phase, count);
        first += count;
    }
}

class VerifiedPayload : public Payload {
public:
    VerifiedPayload(int rank, int world_size, const Workload& workload)
        : rank_(rank), world_size_(world_size), workload_(workload) {}

    void prepare(std::uint32_t iteration, const IterationSchedule& schedule) override {
        // Memory is kept from one iteration to the next: fresh pages cost several times what the sums do.
        std::map<std::uint32_t, Held> before = std::exchange(held_, {});
        for (const Bucket& bucket : schedule.buckets) {
            Held& held = held_[bucket.number];
            if (const auto old = before.find(bucket.number); old != before.end())
                held.elements = std::move(old->second.elements);
            held.bucket = bucket;
            held.members = workload_.groups.at(bucket.group).members_with(rank_, world_size_);
            held.position = static_cast<std::size_t>(
                std::find(held.members.begin(), held.members.end(), rank_) - held.members.begin());
            fill(held, iteration);
        }
    }

    std::span<const std::byte> outgoing(std::uint32_t bucket, const Operation& operation, std::uint64_t done,
                                        std::uint64_t most) override {
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(most, hot_buffer_bytes));
        if (operation.is_signal())
            return std::span(staging_).first(length);
        return std::as_bytes(std::span(held_.at(bucket).elements))
            .subspan(static_cast<std::size_t>(operation.range.offset + done), length);
    }

    std::ptrdiff_t receive(int descriptor, std::uint32_t bucket, const Operation& operation,
                           std::uint64_t done, std::uint64_t most) override {
        if (operation.is_signal())
            return discard_bytes(descriptor, most);
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(most, staging_.size()));
        std::byte* const place =
            reinterpret_cast<std::byte*>(held_.at(bucket).elements.data()) + operation.range.offset + done;
        if (operation.kind == Operation::Kind::receive_copy)
            return ::recv(descriptor, place, length, MSG_DONTWAIT);
        // A float may arrive in pieces: `done` may point into one whose first bytes came with an earlier
        // call.
        const std::size_t held = done % sizeof(float);
        std::array<std::byte, sizeof(float)>& piece = pieces_[{bucket, operation.peer, operation.lane}];
        std::copy_n(piece.begin(), held, staging_.begin());
        const std::ptrdiff_t got = ::recv(descriptor, staging_.data() + held,
                                          std::min(length, staging_.size() - held), MSG_DONTWAIT);
        if (got <= 0)
            return got;
        const std::size_t whole = (held + static_cast<std::size_t>(got)) / sizeof(float);
        auto* const sums = reinterpret_cast<float*>(place - held);
        for (std::size_t i = 0; i < whole; ++i) {
            float part = 0;
            std::memcpy(&part, staging_.data() + i * sizeof(float), sizeof part);
            sums[i] += part;
        }
        const std::size_t used = whole * sizeof(float);
        std::copy_n(staging_.data() + used, held + static_cast<std::size_t>(got) - used, piece.begin());
        return got;
    }

    std::uint64_t check(std::uint32_t iteration) override {
        std::uint64_t checked = 0;
        for (const auto& [number, held] : held_)
            checked += check_bucket(held, iteration);
        return checked;
    }

private:
    /// What the rank contributes; where it waits for others' data, numbers that nobody sends.
    void fill(Held& held, std::uint32_t iteration) const {
        const Values own = held_by(held.self(), iteration, held.bucket.number);
        const bool root = held.position == 0;
        const Elements chunk = chunk_of(held, held.position);
        const Collective collective = held.bucket.collective;
        const std::uint64_t bytes =
            buffer_bytes(workload_.call(collective, held.bucket.bytes, held.members),
                         static_cast<int>(held.position), static_cast<int>(held.members.size()));
        held.elements.resize(static_cast<std::size_t>(bytes / sizeof(float)));
        Elements contributed{0, held.size()};
        if (collective == Collective::all_gather)
            contributed = chunk;
        if ((collective == Collective::broadcast || collective == Collective::send) && !root)
            contributed.count = 0;
        const auto begin = held.elements.begin() + static_cast<std::ptrdiff_t>(contributed.first);
        const auto end = begin + static_cast<std::ptrdiff_t>(contributed.count);
        std::fill(held.elements.begin(), begin, not_received);
        std::fill(end, held.elements.end(), not_received);
        for_periods(contributed, [&](std::size_t first, std::size_t phase, std::size_t count) {
            std::copy_n(own.begin() + static_cast<std::ptrdiff_t>(phase), count,
                        held.elements.begin() + static_cast<std::ptrdiff_t>(first));
        });
    }

    std::uint64_t check_bucket(const Held& held, std::uint32_t iteration) const {
        std::uint64_t checked = 0;
        const auto of_member = [&](std::size_t position) {
            return held_by(held.members[position], iteration, held.bucket.number);
        };
        switch (held.bucket.collective) {
        case Collective::all_reduce:
        case Collective::reduce_scatter: {
            Values sum{};
            for (std::size_t position = 0; position < held.members.size(); ++position) {
                const Values part = of_member(position);
                std::transform(sum.begin(), sum.end(), part.begin(), sum.begin(), std::plus<>());
            }
            const bool whole = held.bucket.collective == Collective::all_reduce;
            return require(held, iteration, whole ? Elements{0, held.size()} : chunk_of(held, held.position),
                           0, sum);
        }
        case Collective::all_gather:
            for (std::size_t position = 0; position < held.members.size(); ++position)
                checked += require(held, iteration, chunk_of(held, position), 0, of_member(position));
            return checked;
        case Collective::broadcast:
        case Collective::send:
            return require(held, iteration, {0, held.size()}, 0, of_member(0));
        case Collective::all_to_all: {
            // Partition r of what each member held, behind the buffer in the order of the members.
            const Elements chunk = chunk_of(held, held.position);
            for (std::size_t from = 0; from < held.members.size(); ++from)
                if (from != held.position)
                    checked += require(held, iteration, chunk, held.size() + from * chunk.count - chunk.first,
                                       of_member(from));
            return checked;
        }
        }
        return checked;
    }

    /// Elements `range` of the bucket, which lie `shift` further in memory, must be as `values` says. Returns
    /// how many they are.
    std::uint64_t require(const Held& held, std::uint32_t iteration, Elements range, std::size_t shift,
                          const Values& values) const {
        for_periods(range, [&](std::size_t first, std::size_t phase, std::size_t count) {
            const float* const found = held.elements.data() + shift + first;
            const float* const expected = values.data() + phase;
            if (std::memcmp(found, expected, count * sizeof(float)) ==
                0) // neither zeros nor NaNs are expected
                return;
            const auto wrong =
                static_cast<std::size_t>(std::mismatch(found, found + count, expected).first - found);
            throw std::runtime_error(
                fmt::format("verify: rank {}, iteration {}, bucket {} ({}), element {} is {}, should be {}",
                            rank_, iteration, held.bucket.number, collective_name(held.bucket.collective),
                            first + wrong, found[wrong], expected[wrong]));
        });
        return range.count;
    }

    int rank_;
    int world_size_;
    const Workload& workload_;
    std::map<std::uint32_t, Held> held_; ///< by bucket number
    /// By bucket, peer and lane: first bytes of a float.
    std::map<std::tuple<std::uint32_t, int, std::uint32_t>, std::array<std::byte, sizeof(float)>> pieces_;
    std::vector<std::byte> staging_ = std::vector<std::byte>(hot_buffer_bytes);
};

} // namespace

std::unique_ptr<Payload> verified_payload(int rank, int world_size, const Workload& workload) {
    return std::make_unique<VerifiedPayload>(rank, world_size, workload);
}

} // namespace generator
