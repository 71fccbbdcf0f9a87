#pragma once

#include <cstdint>
#include <vector>

namespace collectors {

/// Counts whole numbers from 0 to 2^63 - 1 in bounded memory: numbers below 2048 each in a bucket of its own,
/// above that 1024 buckets for each power of two (at most 1.3 MB, usually far less). A percentile is a number
/// that occurred, at most 0.1 % below the exact one; exact where all numbers of its bucket are equal.
class Histogram {
public:
    /// What lies above a limit.
    struct Tail {
        std::uint64_t count = 0;
        std::int64_t total = 0;
        std::int64_t most = 0;
    };

    /// A negative number counts as 0.
    void add(std::int64_t value);
    std::uint64_t count() const { return count_; }
    std::int64_t total() const { return total_; }
    /// 0 if there is none.
    std::int64_t most() const { return most_; }
    /// The number of that rank in ascending order, from 0 to count() - 1; 0 if there is none.
    std::int64_t at_rank(std::uint64_t rank) const;
    /// Nearest rank: the p-th percentile is a number that occurred. 0 if there is none.
    std::int64_t percentile(unsigned percent) const;
    /// A bucket that holds numbers on both sides of the limit is left out: 0.1 % around the limit.
    Tail above(std::int64_t limit) const;

private:
    struct Bucket {
        std::uint64_t count = 0;
        std::int64_t least = 0;
        std::int64_t total = 0;
    };
    std::vector<Bucket> buckets_; ///< up to the largest that was needed
    std::uint64_t count_ = 0;
    std::int64_t total_ = 0;
    std::int64_t most_ = 0;
};

} // namespace collectors
