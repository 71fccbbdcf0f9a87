#include "generator/message_sizes.hpp"

#include "collectors/units.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <stdexcept>

namespace generator {
namespace {

constexpr std::size_t most_points = 10'000;
constexpr double most_message_bytes = 1e12;

/// The mean of Pareto sizes that are cut at `most`.
double cut_mean(double least, double shape, double most) {
    if (shape == 1)
        return least * (1 + std::log(most / least));
    return (shape * least - least * std::pow(least / most, shape - 1)) / (shape - 1);
}

double interpolated(const std::vector<CdfPoint>& points, double share) {
    const auto above =
        std::upper_bound(points.begin(), points.end(), share,
                         [](double value, const CdfPoint& point) { return value < point.probability; });
    if (above == points.begin())
        return points.front().bytes;
    if (above == points.end())
        return points.back().bytes;
    const CdfPoint& below = *std::prev(above);
    return below.bytes + (above->bytes - below.bytes) * (share - below.probability) /
                             (above->probability - below.probability);
}

std::vector<std::string_view> columns(std::string_view line) {
    constexpr std::string_view blanks = " \t\r,";
    std::vector<std::string_view> found;
    while (true) {
        line.remove_prefix(std::min(line.find_first_not_of(blanks), line.size()));
        if (line.empty())
            return found;
        found.push_back(line.substr(0, line.find_first_of(blanks)));
        line.remove_prefix(found.back().size());
    }
}

std::optional<double> finite_number(std::string_view text) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    return whole && std::isfinite(value) ? std::optional(value) : std::nullopt;
}

CdfPoint point_of(std::string_view line, std::size_t number) {
    const auto refuse = [&](const std::string& rule) {
        throw std::invalid_argument(fmt::format("line {}: {}", number, rule));
    };
    const std::vector<std::string_view> found = columns(line);
    if (found.size() == 3)
        refuse("has three columns, as the CDF files of ns-2 do, whose sizes are in packets; must have two, "
               "bytes and cumulative probability");
    const auto bytes = found.size() == 2 ? finite_number(found[0]) : std::nullopt;
    const auto probability = found.size() == 2 ? finite_number(found[1]) : std::nullopt;
    if (!bytes || !probability)
        refuse(fmt::format("must be bytes and cumulative probability, such as \"10000 0.15\", is \"{}\"",
                           line.substr(0, 40)));
    return {*bytes, *probability};
}

} // namespace

std::uint64_t MessageSizes::quantile(double share) const {
    double bytes = mean_bytes;
    if (kind == Kind::pareto)
        bytes = std::min(most_bytes, least_bytes * std::pow(1 - share, -1 / shape));
    else if (kind == Kind::cdf)
        bytes = interpolated(points, share);
    return static_cast<std::uint64_t>(std::max(1.0, std::round(bytes)));
}

MessageSizes fixed_size(std::uint64_t bytes) {
    MessageSizes sizes;
    sizes.mean_bytes = static_cast<double>(bytes);
    return sizes;
}

MessageSizes pareto_sizes(double mean_bytes, double shape, double most_bytes) {
    if (mean_bytes >= most_bytes)
        throw std::invalid_argument(
            fmt::format("a mean of {:.0f} B needs a larger \"most\" than {:.0f} B", mean_bytes, most_bytes));
    MessageSizes sizes;
    sizes.kind = MessageSizes::Kind::pareto;
    sizes.mean_bytes = mean_bytes;
    sizes.shape = shape;
    sizes.most_bytes = most_bytes;
    double low = 0; // the mean rises with the least
    double high = mean_bytes;
    for (int i = 0; i < 200; ++i) {
        sizes.least_bytes = (low + high) / 2;
        (cut_mean(sizes.least_bytes, shape, most_bytes) < mean_bytes ? low : high) = sizes.least_bytes;
    }
    return sizes;
}

MessageSizes cdf_sizes(std::vector<CdfPoint> points) {
    if (points.empty() || points.size() > most_points)
        throw std::invalid_argument(
            fmt::format("must have 1 to {} points, has {}", most_points, points.size()));
    MessageSizes sizes;
    sizes.kind = MessageSizes::Kind::cdf;
    CdfPoint before{points.front().bytes, 0};
    for (std::size_t i = 0; i < points.size(); ++i) {
        const auto refuse = [&](const std::string& rule) {
            throw std::invalid_argument(fmt::format("point {}: {}", i + 1, rule));
        };
        const CdfPoint& point = points[i];
        if (!(point.bytes >= 0 && point.bytes <= most_message_bytes))
            refuse(fmt::format("bytes must be from 0 to {:.0f}, are {}", most_message_bytes, point.bytes));
        if (!(point.probability >= 0 && point.probability <= 1))
            refuse(fmt::format("the probability must be from 0 to 1, is {}", point.probability));
        if (point.bytes < before.bytes || point.probability < before.probability)
            refuse("bytes and probability must not fall");
        sizes.mean_bytes += (point.probability - before.probability) * (point.bytes + before.bytes) / 2;
        before = point;
    }
    if (before.probability != 1)
        throw std::invalid_argument(
            fmt::format("the last probability must be 1 (or 100, in percent), is {}", before.probability));
    if (sizes.mean_bytes < 1)
        throw std::invalid_argument("the mean size must be at least one byte");
    sizes.points = std::move(points);
    return sizes;
}

std::vector<CdfPoint> parse_cdf(std::string_view text) {
    std::vector<CdfPoint> points;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::string_view line = text.substr(0, text.find('\n'));
        text.remove_prefix(std::min(line.size() + 1, text.size()));
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos || line[begin] == '#')
            continue;
        if (points.size() == most_points)
            throw std::invalid_argument(fmt::format("line {}: more than {} points", number, most_points));
        const CdfPoint point = point_of(line, number);
        if (!points.empty() &&
            (point.bytes < points.back().bytes || point.probability < points.back().probability))
            throw std::invalid_argument(fmt::format("line {}: bytes and probability must not fall", number));
        points.push_back(point);
    }
    if (!points.empty() && points.back().probability == 100)
        for (CdfPoint& point : points)
            point.probability /= 100;
    return points;
}

std::string sizes_text(const MessageSizes& sizes) {
    const std::string mean = collectors::format_bytes(sizes.mean_bytes);
    if (sizes.kind == MessageSizes::Kind::pareto)
        return fmt::format("pareto, mean {}, shape {}, at most {}", mean, sizes.shape,
                           collectors::format_bytes(sizes.most_bytes));
    return sizes.kind == MessageSizes::Kind::cdf ? fmt::format("cdf, mean {}", mean) : mean;
}

} // namespace generator
