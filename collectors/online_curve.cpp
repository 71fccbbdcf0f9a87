#include "collectors/online_curve.hpp"

#include "collectors/segments.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace collectors {

namespace {

using std::chrono::nanoseconds;

constexpr std::size_t block = 1024; // readings per turn of all windows: they stay in the first cache
constexpr std::size_t keep_around = 4096;
constexpr std::int64_t longest_window_ns = std::int64_t{1} << 60; // 36 years: twice as much is still a number

/// The first index from `index` on for which `holds` is false; it never becomes true again after that. Steps
/// of 16 while they lead on, then smaller ones without a branch that could be guessed wrongly.
template <typename Condition>
std::size_t advanced(std::size_t index, Condition holds) {
    while (holds(index + 15))
        index += 16;
    for (const std::size_t step : {8U, 4U, 2U, 1U})
        index += holds(index + step - 1) ? step : 0;
    return index;
}

/// 500.02 us is a 500 us grid: two significant digits.
double two_digits(double value) {
    if (value <= 0)
        return 0;
    const double scale = std::pow(10.0, std::floor(std::log10(value)) - 1);
    return std::round(value / scale) * scale;
}

} // namespace

nanoseconds resolved_from(nanoseconds median_distance, std::optional<nanoseconds> refresh_period) {
    const double usual = two_digits(static_cast<double>(median_distance.count()));
    return std::max(nanoseconds{std::llround(10 * usual)}, 2 * refresh_period.value_or(nanoseconds{0}));
}

OnlineCurve::OnlineCurve(std::span<const nanoseconds> windows) {
    for (const nanoseconds window : windows) {
        Scale scale;
        scale.window = std::min(window.count(), longest_window_ns);
        scales_.push_back(scale);
    }
}

std::size_t OnlineCurve::Scale::oldest() const {
    const std::size_t before = likely_start == 0 ? 0 : likely_start - 1; // the line that leads to it
    return std::min({certain_start, before, possible_start});
}

void OnlineCurve::begin_segment(const Reading& first) {
    for (Scale& scale : scales_) {
        Scale next;
        next.window = scale.window;
        next.earlier = total(scale);
        scale = next;
    }
    if (!points_.empty()) {
        earlier_bytes_ += points_.back().bytes;
        earlier_half_nanoseconds_ += points_.half_nanoseconds();
    }
    points_.clear();
    segment_base_ = first.bytes;
}

void OnlineCurve::add(std::span<const Reading> readings) {
    std::size_t next = 0;
    while (next < readings.size()) {
        if (!last_ || starts_segment(readings[next], *last_))
            begin_segment(readings[next]);
        const std::size_t first_new = points_.size();
        const std::size_t end = std::min(readings.size(), next + block);
        do {
            const Reading& reading = readings[next];
            exact_ = exact_ && reading.begin_ns == reading.end_ns;
            if (last_)
                distances_.add(reading.begin_ns - last_->begin_ns);
            if (!first_)
                first_ = reading;
            last_ = reading;
            points_.append(reading.begin_ns, reading.end_ns, reading.bytes - segment_base_);
            ++next;
        } while (next < end && !starts_segment(readings[next], *last_));
        points_.turn_line();
        for (Scale& scale : scales_)
            extend(scale, first_new);
        forget();
    }
    count_ += readings.size();
}

/// Three bounds, each by walking a place of its own along behind the newest reading. The place moves on over
/// a whole stretch at once, and reading by reading only if there may be a new maximum.
void OnlineCurve::extend(Scale& scale, std::size_t first) const {
    if (scale.window <= 0)
        return;
    std::size_t end = 0;
    for (std::size_t begin = first; begin < points_.size(); begin = end) {
        end = std::min(points_.size(), (begin / CurvePoints::stretch + 1) * CurvePoints::stretch);
        extend_certain(scale, begin, end);
        extend_likely(scale, begin, end);
        extend_possible(scale, begin, end);
    }
}

/// Whatever the instants within the read windows were, A_j - A_i bytes passed within e_j - b_i. The place is
/// the first i within the window (j itself, if reading it took longer).
void OnlineCurve::extend_certain(Scale& scale, std::size_t begin, std::size_t end) const {
    const std::size_t last = end - 1;
    const std::int64_t earliest_of_last = points_[last].end - scale.window;
    const std::size_t next = advanced(
        scale.certain_start, [&](std::size_t i) { return i < last && points_[i].begin < earliest_of_last; });
    const CurvePoints::Starts starts{std::exchange(scale.certain_start, next), next};
    const double more = static_cast<double>(scale.certain) + 1;
    if (!points_.may_hold(more, &CurvePoints::Strays::certain, starts, last, scale.window))
        return;
    const std::int64_t window = scale.window;
    const CurvePoint* start = points_.data() + starts.oldest;
    std::uint64_t certain = scale.certain;
    for (const CurvePoint& newest : points_.between(begin, end)) {
        while (start < &newest && newest.end - start->begin > window)
            ++start;
        certain = std::max(certain, newest.bytes - start->bytes);
    }
    scale.certain = certain;
}

/// The supremum over windows of a piecewise linear A has one end at a corner. Where A jumps (two readings at
/// one instant) a window that ends there holds the jump, and so does one that begins there. The place is the
/// first corner not before the start of the window that ends at the newest; from the corners before it,
/// windows end on the line to the newest.
void OnlineCurve::extend_likely(Scale& scale, std::size_t begin, std::size_t end) const {
    const std::size_t last = end - 1;
    const std::int64_t earliest_of_last = points_[last].twice_midpoint() - 2 * scale.window;
    const std::size_t next = advanced(scale.likely_start, [&](std::size_t i) {
        return i < last && points_[i].twice_midpoint() < earliest_of_last;
    });
    const std::size_t place = std::exchange(scale.likely_start, next);
    const CurvePoints::Starts starts{place == 0 ? 0 : place - 1, next};
    const double more = std::nextafter(scale.likely, std::numeric_limits<double>::infinity());
    if (!points_.may_hold(more, &CurvePoints::Strays::likely, starts, last, scale.window))
        return;
    const auto rise = [](const CurvePoint& from, const CurvePoint& to) {
        return static_cast<double>(static_cast<std::int64_t>(to.bytes - from.bytes)); // quicker than unsigned
    };
    const std::int64_t twice_window = 2 * scale.window;
    const CurvePoint* const oldest = points_.data();
    const CurvePoint* corner = oldest + place;
    double likely = scale.likely;
    for (const CurvePoint& newest : points_.between(begin, end)) {
        const std::int64_t from = newest.twice_midpoint() - twice_window;
        for (; corner->twice_midpoint() < from; ++corner) {
            const auto beyond = static_cast<double>(from - corner->twice_midpoint());
            likely = std::max(likely, rise(*corner, newest) - beyond * newest.bytes_per_half_nanosecond);
        }
        if (corner == oldest || corner->twice_midpoint() == from) {
            likely = std::max(likely, rise(*corner, newest));
        } else {
            const CurvePoint& before = corner[-1];
            const auto beyond = static_cast<double>(from - before.twice_midpoint());
            likely = std::max(likely, rise(before, newest) - beyond * corner->bytes_per_half_nanosecond);
        }
    }
    scale.likely = likely;
}

/// A window that starts at s in [e_i, e_(i+1)) saw at least A_i before it, and at most A_k by its end, if
/// reading k began at or after e_(i+1) + tau > s + tau. The place is the first i without such a k. Windows
/// that start before e_0 are covered by i = 0 because none starts before reading 0 was taken.
void OnlineCurve::extend_possible(Scale& scale, std::size_t begin, std::size_t end) const {
    const std::size_t last = end - 1;
    const std::int64_t latest_of_last = points_[last].begin - scale.window;
    const std::size_t next = advanced(scale.possible_start, [&](std::size_t i) {
        return i < last && points_[i + 1].end <= latest_of_last;
    });
    const CurvePoints::Starts starts{std::exchange(scale.possible_start, next), next};
    const double more = static_cast<double>(scale.possible) + 1;
    if (!points_.may_hold(more, &CurvePoints::Strays::possible, starts, last, scale.window))
        return;
    const std::int64_t window = scale.window;
    const CurvePoint* start = points_.data() + starts.oldest;
    std::uint64_t possible = scale.possible;
    for (const CurvePoint& newest : points_.between(std::max<std::size_t>(begin, 1), end))
        for (; start[1].end <= newest.begin - window; ++start)
            possible = std::max(possible, newest.bytes - start->bytes);
    scale.possible = possible;
}

/// With the windows that no reading closed: the last reading bounds every window that fits into the recorded
/// time; later starts only lose bytes then.
Bounds OnlineCurve::total(const Scale& scale) const {
    Bounds most = scale.earlier;
    if (points_.empty())
        return most;
    const std::size_t last = points_.size() - 1;
    std::uint64_t possible = scale.possible;
    if (scale.possible_start < last) {
        const CurvePoint& opened = points_[scale.possible_start];
        const bool first = scale.possible_start + points_.forgotten() == 0;
        if (first || opened.end + scale.window <= points_[last].end)
            possible = std::max(possible, points_[last].bytes - opened.bytes);
    }
    const double likely =
        std::max(scale.likely, static_cast<double>(points_[last].bytes - points_[scale.likely_start].bytes));
    most.lower = std::max(most.lower, static_cast<double>(scale.certain));
    most.upper = std::max(most.upper, static_cast<double>(possible));
    most.estimate = std::max(most.estimate, likely);
    return most;
}

/// Drops what no window needs any more, once that is most of what is held.
void OnlineCurve::forget() {
    std::size_t oldest = points_.size() - 1;
    for (const Scale& scale : scales_)
        oldest = std::min(oldest, scale.oldest());
    if (oldest < std::max(keep_around, points_.size() / 2))
        return;
    const std::size_t gone = points_.forget(oldest);
    for (Scale& scale : scales_)
        for (std::size_t* place : {&scale.certain_start, &scale.likely_start, &scale.possible_start})
            *place -= gone;
}

BurstinessCurve OnlineCurve::curve(std::optional<nanoseconds> refresh_period) const {
    BurstinessCurve curve;
    for (const Scale& scale : scales_)
        curve.points.push_back({nanoseconds{scale.window}, {}, false});
    if (count_ < 2)
        return curve;
    if (!exact_)
        curve.resolved_from =
            resolved_from(nanoseconds{distances_.at_rank(distances_.count() / 2)}, refresh_period);
    curve.span = nanoseconds{std::llround(midpoint_ns(*last_) - midpoint_ns(*first_))};
    curve.total_bytes = earlier_bytes_ + points_.back().bytes;
    for (std::size_t i = 0; i < scales_.size(); ++i) {
        BurstinessPoint& point = curve.points[i];
        point.bytes = total(scales_[i]);
        point.bytes.estimate = std::clamp(point.bytes.estimate, point.bytes.lower, point.bytes.upper);
        point.resolved =
            point.window.count() > 0 && point.window >= curve.resolved_from && point.window <= curve.span;
    }
    if (const std::int64_t covered = earlier_half_nanoseconds_ + points_.half_nanoseconds(); covered > 0)
        curve.mean_bytes_per_second =
            static_cast<double>(curve.total_bytes) / (static_cast<double>(covered) / 2e9);
    return curve;
}

} // namespace collectors
