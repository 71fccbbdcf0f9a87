#include "generator/payload.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <sys/socket.h>

namespace generator {
namespace {

/// Measured best on loopback and veth: large enough to hide the system call, small enough to stay in the L2
/// cache.
constexpr std::size_t hot_buffer_bytes = 256 * 1024;
constexpr std::size_t largest_receive = 4 * 1024 * 1024;

std::ptrdiff_t discard(int descriptor, std::uint64_t most) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(most, largest_receive));
    return ::recv(descriptor, nullptr, length, MSG_TRUNC | MSG_DONTWAIT);
}

class DiscardedPayload : public Payload {
public:
    void prepare(std::uint32_t, std::span<const std::uint64_t>) override {}

    std::span<const std::byte> outgoing(std::size_t, const Operation&, std::uint64_t,
                                        std::uint64_t most) override {
        return std::span(buffer_).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(most, buffer_.size())));
    }

    std::ptrdiff_t receive(int descriptor, std::size_t, const Operation&, std::uint64_t,
                           std::uint64_t most) override {
        return discard(descriptor, most);
    }

    void check(std::uint32_t) override {}

private:
    std::vector<std::byte> buffer_ = std::vector<std::byte>(hot_buffer_bytes, std::byte{0x55});
};

/// Whole numbers 1..8, so that sums of up to two million ranks are exact in float32.
constexpr std::size_t value_period = 8;

float value(int rank, std::uint32_t iteration, std::size_t element) {
    return static_cast<float>((static_cast<std::size_t>(rank) * 3 + iteration + element) % value_period + 1);
}

class VerifiedPayload : public Payload {
public:
    VerifiedPayload(int rank, int world_size, std::span<const Collective> first,
                    std::span<const Collective> later)
        : rank_(rank), world_size_(world_size), first_(first.begin(), first.end()),
          later_(later.begin(), later.end()) {}

    void prepare(std::uint32_t iteration, std::span<const std::uint64_t> bucket_bytes) override {
        buckets_.resize(bucket_bytes.size());
        for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
            buckets_[bucket].resize(bucket_bytes[bucket] / sizeof(float));
            for (std::size_t i = 0; i < buckets_[bucket].size(); ++i)
                buckets_[bucket][i] = value(rank_, iteration, i);
        }
    }

    std::span<const std::byte> outgoing(std::size_t bucket, const Operation& operation, std::uint64_t done,
                                        std::uint64_t most) override {
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(most, hot_buffer_bytes));
        if (operation.is_signal())
            return std::span(staging_).first(length);
        return std::as_bytes(std::span(buckets_[bucket]))
            .subspan(static_cast<std::size_t>(operation.range.offset + done), length);
    }

    std::ptrdiff_t receive(int descriptor, std::size_t bucket, const Operation& operation, std::uint64_t done,
                           std::uint64_t most) override {
        if (operation.is_signal())
            return discard(descriptor, most);
        const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(most, staging_.size()));
        std::byte* const place =
            reinterpret_cast<std::byte*>(buckets_[bucket].data()) + operation.range.offset + done;
        if (operation.kind == Operation::Kind::receive_copy)
            return ::recv(descriptor, place, length, MSG_DONTWAIT);
        // A float may arrive in pieces: `done` may point into one whose first bytes came with an earlier
        // call.
        const std::size_t held = done % sizeof(float);
        std::array<std::byte, sizeof(float)>& piece = pieces_[operation.peer];
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

    void check(std::uint32_t iteration) override {
        const std::vector<Collective>& collectives = iteration == 0 ? first_ : later_;
        for (std::size_t bucket = 0; bucket < buckets_.size(); ++bucket)
            check_bucket(iteration, bucket, collectives[bucket]);
    }

private:
    void check_bucket(std::uint32_t iteration, std::size_t bucket, Collective collective) const {
        std::array<float, value_period> expected{};
        for (std::size_t i = 0; i < value_period; ++i) {
            expected[i] = collective == Collective::broadcast ? value(0, iteration, i) : 0;
            if (collective == Collective::all_reduce)
                for (int rank = 0; rank < world_size_; ++rank)
                    expected[i] += value(rank, iteration, i);
        }
        for (std::size_t i = 0; i < buckets_[bucket].size(); ++i)
            if (buckets_[bucket][i] != expected[i % value_period])
                throw std::runtime_error(fmt::format(
                    "verify: rank {}, iteration {}, bucket {}, element {} is {}, "
                    "should be {}",
                    rank_, iteration, bucket, i, buckets_[bucket][i], expected[i % value_period]));
    }

    int rank_;
    int world_size_;
    std::vector<Collective> first_;
    std::vector<Collective> later_;
    std::vector<std::vector<float>> buckets_;
    std::map<int, std::array<std::byte, sizeof(float)>> pieces_; ///< by peer: first bytes of a float
    std::vector<std::byte> staging_ = std::vector<std::byte>(hot_buffer_bytes);
};

} // namespace

std::unique_ptr<Payload> discarded_payload() {
    return std::make_unique<DiscardedPayload>();
}

std::unique_ptr<Payload> verified_payload(int rank, int world_size,
                                          std::span<const Collective> first_iteration,
                                          std::span<const Collective> later_iterations) {
    return std::make_unique<VerifiedPayload>(rank, world_size, first_iteration, later_iterations);
}

} // namespace generator
