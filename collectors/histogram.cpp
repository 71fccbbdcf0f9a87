#include "collectors/histogram.hpp"

#include <algorithm>
#include <bit>

namespace collectors {

namespace {

constexpr unsigned exact_bits =
    11; // 2^11 numbers in buckets of their own, 2^10 buckets per power of two after

std::size_t bucket_of(std::uint64_t value) {
    const auto bits = static_cast<unsigned>(std::bit_width(value));
    const unsigned dropped = bits > exact_bits ? bits - exact_bits : 0;
    return (std::size_t{dropped} << (exact_bits - 1)) + static_cast<std::size_t>(value >> dropped);
}

} // namespace

void Histogram::add(std::int64_t value) {
    value = std::max<std::int64_t>(value, 0);
    const std::size_t index = bucket_of(static_cast<std::uint64_t>(value));
    if (index >= buckets_.size())
        buckets_.resize(index + 1);
    Bucket& bucket = buckets_[index];
    bucket.least = bucket.count == 0 ? value : std::min(bucket.least, value);
    ++bucket.count;
    bucket.total += value;
    ++count_;
    total_ += value;
    most_ = std::max(most_, value);
}

std::int64_t Histogram::at_rank(std::uint64_t rank) const {
    if (count_ > 0 && rank + 1 >= count_)
        return most_;
    std::uint64_t before = 0;
    for (const Bucket& bucket : buckets_) {
        before += bucket.count;
        if (before > rank)
            return bucket.least;
    }
    return most_;
}

std::int64_t Histogram::percentile(unsigned percent) const {
    return count_ == 0 ? 0 : at_rank((count_ * percent + 99) / 100 - 1);
}

Histogram::Tail Histogram::above(std::int64_t limit) const {
    Tail tail;
    for (const Bucket& bucket : buckets_) {
        if (bucket.count == 0 || bucket.least <= limit)
            continue;
        tail.count += bucket.count;
        tail.total += bucket.total;
    }
    tail.most = tail.count > 0 ? most_ : 0;
    return tail;
}

} // namespace collectors
