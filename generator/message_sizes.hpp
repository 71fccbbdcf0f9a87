#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

/// A corner of a cumulative distribution: so many of the messages have at most so many bytes.
struct CdfPoint {
    double bytes = 0;
    double probability = 0;

    bool operator==(const CdfPoint&) const = default;
};

/// How large the messages of background traffic are. Pure.
struct MessageSizes {
    enum class Kind { fixed, pareto, cdf };

    Kind kind = Kind::fixed;
    double mean_bytes = 0; ///< of `fixed`: every message; of `cdf`: by its corners
    double shape = 0;      ///< pareto: the share (least / x)^shape exceeds x
    double least_bytes = 0;
    double most_bytes = 0; ///< pareto: larger ones are cut to this
    std::vector<CdfPoint> points;

    /// The size that the share `share` of all messages does not exceed, 0 <= share < 1; at least one byte.
    std::uint64_t quantile(double share) const;

    bool operator==(const MessageSizes&) const = default;
};

MessageSizes fixed_size(std::uint64_t bytes);

/// Pareto sizes of at most `most_bytes`, whose mean is `mean_bytes` in spite of the cut. Throws
/// std::invalid_argument where there are none: the mean must be below the most.
MessageSizes pareto_sizes(double mean_bytes, double shape, double most_bytes);

/// By linear interpolation between the corners. Throws std::invalid_argument ("point 3: ...") unless bytes
/// and probabilities rise, from 0 or more to 1.
MessageSizes cdf_sizes(std::vector<CdfPoint> points);

/// The text form that traffic generators share: two columns on each line, bytes and cumulative probability,
/// as a fraction or, where the last is 100, in percent; empty lines and those with a '#' in front are left
/// out. Throws std::invalid_argument that names the line.
std::vector<CdfPoint> parse_cdf(std::string_view text);

/// "64 kB", "pareto, mean 64 kB, shape 1.2, at most 1 GB", "cdf, mean 1.7 MB".
std::string sizes_text(const MessageSizes& sizes);

} // namespace generator
