#include "collectors/curve_points.hpp"

#include <algorithm>
#include <cmath>

namespace collectors {

namespace {

/// Of a sum of a few numbers, relative to the largest of them: generous, a bound must not be too low.
constexpr double rounding = 1e-14;

double signed_difference(std::uint64_t left, std::uint64_t right) {
    return static_cast<double>(static_cast<std::int64_t>(left - right));
}

} // namespace

void CurvePoints::clear() {
    *this = {};
}

void CurvePoints::append(std::int64_t begin, std::int64_t end, std::uint64_t bytes) {
    CurvePoint point{begin, end, bytes, 0};
    if (points_.empty()) {
        segment_begin_ = point.twice_midpoint();
    } else {
        const std::int64_t elapsed = point.twice_midpoint() - points_.back().twice_midpoint();
        if (elapsed > 0) // two readings at one instant are a jump: no line leads there
            point.bytes_per_half_nanosecond =
                static_cast<double>(bytes - points_.back().bytes) / static_cast<double>(elapsed);
    }
    points_.push_back(point);
    measure(points_.size() - 1);
}

double CurvePoints::stray(std::size_t of_stretch, std::uint64_t bytes, std::int64_t twice_instant) const {
    const CurvePoint& base = points_[of_stretch * stretch];
    return signed_difference(bytes, base.bytes) -
           slope_ * static_cast<double>(twice_instant - base.twice_midpoint());
}

/// Adds a point to the strays of its stretch. A window may end on the way to the first point of a stretch,
/// and where one can start by the `possible` bound is known with the next point only.
void CurvePoints::measure(std::size_t index) {
    const std::size_t here = index / stretch;
    if (here == strays_.size())
        strays_.emplace_back();
    const CurvePoint& point = points_[index];
    const CurvePoint& before = points_[index == 0 ? 0 : index - 1];
    const auto ends = [&](Stray& of, double height) { of.highest_end = std::max(of.highest_end, height); };
    const auto starts = [&](Stray& of, double height) {
        of.lowest_start = std::min(of.lowest_start, height);
    };

    Strays& strays = strays_[here];
    starts(strays.certain, stray(here, point.bytes, 2 * point.begin));
    ends(strays.certain, stray(here, point.bytes, 2 * point.end));

    const double middle = stray(here, point.bytes, point.twice_midpoint());
    starts(strays.likely, middle);
    ends(strays.likely, std::max(middle, stray(here, before.bytes, before.twice_midpoint())));

    starts(strays.possible, stray(here, point.bytes, 2 * point.end));
    ends(strays.possible, stray(here, point.bytes, 2 * before.begin));
    if (index > 0) {
        const std::size_t there = (index - 1) / stretch;
        starts(strays_[there].possible, stray(there, before.bytes, 2 * point.end));
    }
}

void CurvePoints::turn_line() {
    const std::uint64_t count = forgotten_ + points_.size();
    const std::int64_t elapsed = half_nanoseconds();
    if (count < 2 * turned_at_ || elapsed == 0)
        return;
    turned_at_ = count;
    slope_ = static_cast<double>(points_.back().bytes) / static_cast<double>(elapsed);
    strays_.clear();
    for (std::size_t index = 0; index < points_.size(); ++index)
        measure(index);
}

bool CurvePoints::may_hold(double bytes, Stray Strays::*bound, Starts starts, std::size_t last,
                           std::int64_t window) const {
    if (signed_difference(points_[last].bytes, points_[starts.oldest].bytes) < bytes)
        return false;
    const CurvePoint& end = points_[last / stretch * stretch];
    const double highest_end = (strays_[last / stretch].*bound).highest_end;
    for (std::size_t from = starts.oldest / stretch; from <= starts.newest / stretch; ++from) {
        const CurvePoint& start = points_[from * stretch];
        const double lowest_start = (strays_[from].*bound).lowest_start;
        const double rise = signed_difference(end.bytes, start.bytes);
        const std::int64_t beyond = 2 * window - (end.twice_midpoint() - start.twice_midpoint());
        const double along = slope_ * static_cast<double>(beyond);
        const double size = rise + std::abs(along) + std::abs(highest_end) + std::abs(lowest_start);
        if (rise + along + highest_end - lowest_start + rounding * size >= bytes)
            return true;
    }
    return false;
}

std::size_t CurvePoints::forget(std::size_t oldest) {
    const auto stretches = static_cast<std::ptrdiff_t>(oldest / stretch);
    const std::size_t gone = oldest / stretch * stretch;
    points_.erase(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(gone));
    strays_.erase(strays_.begin(), strays_.begin() + stretches);
    forgotten_ += gone;
    return gone;
}

} // namespace collectors
