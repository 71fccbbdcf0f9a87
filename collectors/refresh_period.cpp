#include "collectors/refresh_period.hpp"

#include "collectors/segments.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace collectors {

namespace {

constexpr std::size_t fewest_changes = 4;
constexpr double slow_in_readings = 5;
constexpr double jumbo_frame_bytes = 9216;

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// Between two changes. Each happened somewhere between the reading that showed it and the one before.
struct Distance {
    double length = 0;
    double uncertainty = 0;
};

struct Changes {
    std::vector<double> reading_distances;
    std::vector<Distance> change_distances;
    std::vector<double> steps;
};

Changes find_changes(std::span<const Reading> readings) {
    Changes changes;
    for (const auto& segment : segments(readings)) {
        double last_change = -1;
        double last_uncertainty = 0;
        for (std::size_t i = 1; i < segment.size(); ++i) {
            const double now = midpoint_ns(segment[i]);
            const double uncertainty = now - midpoint_ns(segment[i - 1]);
            changes.reading_distances.push_back(uncertainty);
            if (segment[i].bytes == segment[i - 1].bytes)
                continue;
            changes.steps.push_back(static_cast<double>(segment[i].bytes - segment[i - 1].bytes));
            if (last_change >= 0)
                changes.change_distances.push_back({now - last_change, uncertainty + last_uncertainty});
            last_change = now;
            last_uncertainty = uncertainty;
        }
    }
    return changes;
}

} // namespace

std::optional<std::chrono::nanoseconds> refresh_period(std::span<const Reading> readings) {
    const Changes changes = find_changes(readings);
    const std::vector<Distance>& distances = changes.change_distances;
    if (changes.steps.size() < fewest_changes || distances.empty() ||
        median(changes.steps) <= jumbo_frame_bytes)
        return std::nullopt;
    const double interval = median(changes.reading_distances);
    const auto share = [&](auto condition) {
        return static_cast<double>(std::count_if(distances.begin(), distances.end(), condition)) /
               static_cast<double>(distances.size());
    };
    if (share([&](const Distance& distance) { return distance.length < slow_in_readings * interval; }) > 0.05)
        return std::nullopt;
    // A refresh that found nothing new leaves a hole of two or more periods.
    std::vector<double> lengths;
    for (const Distance& distance : distances)
        lengths.push_back(distance.length);
    const double period = median(std::move(lengths));
    const bool regular = share([&](const Distance& distance) {
                             const double periods = std::max(1.0, std::round(distance.length / period));
                             return std::abs(distance.length - periods * period) <=
                                    std::max(0.1 * period, distance.uncertainty);
                         }) >= 0.8;
    if (!regular)
        return std::nullopt;
    return std::chrono::nanoseconds{std::llround(period)};
}

RefreshWatch::RefreshWatch(const TraceInfo& info) : watching_(!counts_at_once(info)) {}

void RefreshWatch::add(std::span<const Sample> samples) {
    if (!watching_)
        return;
    for (const Sample& sample : samples) {
        if (rx_.size() == watched_samples)
            return;
        rx_.push_back(reading_of(sample, Direction::rx));
        tx_.push_back(reading_of(sample, Direction::tx));
    }
}

std::optional<std::chrono::nanoseconds> RefreshWatch::period(Direction direction) const {
    return refresh_period(direction == Direction::rx ? rx_ : tx_);
}

bool counts_at_once(const TraceInfo& info) {
    return info.driver == "loopback" || info.driver == "virtual" || info.driver == "virtio_net" ||
           info.source == "prediction" || info.source == "ebpf";
}

} // namespace collectors
