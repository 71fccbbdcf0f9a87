#include "collectors/online_curve.hpp"

#include "collectors/segments.hpp"

#include <algorithm>
#include <cmath>

namespace collectors {

namespace {

using std::chrono::nanoseconds;

constexpr std::size_t block = 1024; // readings per turn of all windows: they stay in the first cache
constexpr std::size_t stretch = 32; // readings that are passed at once if they cannot matter
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
    return std::min({certain_start, before, open_possible, open_likely});
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
        earlier_half_nanoseconds_ += segment_half_nanoseconds();
    }
    segment_begin_ = first.begin_ns + first.end_ns;
    points_.clear();
    forgotten_ = 0;
    segment_base_ = first.bytes;
}

std::int64_t OnlineCurve::segment_half_nanoseconds() const {
    return points_.back().twice_midpoint() - segment_begin_;
}

void OnlineCurve::append(const Reading& reading) {
    Point point{reading.begin_ns, reading.end_ns, reading.bytes - segment_base_, 0};
    if (!points_.empty()) {
        const std::int64_t elapsed = point.twice_midpoint() - points_.back().twice_midpoint();
        if (elapsed > 0) // two readings at one instant are a jump: no line leads there
            point.bytes_per_half_nanosecond =
                static_cast<double>(point.bytes - points_.back().bytes) / static_cast<double>(elapsed);
    }
    points_.push_back(point);
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
            append(reading);
            ++next;
        } while (next < end && !starts_segment(readings[next], *last_));
        for (Scale& scale : scales_)
            extend(scale, first_new);
        forget();
    }
    count_ += readings.size();
}

/// Four bounds at once, each by walking its own place along behind the newest reading:
/// - certain: whatever the instants within the read windows were, A_j - A_i bytes passed within e_j - b_i.
///   `certain_start` is the first i within the window.
/// - possible: a window that starts at s in [e_i, e_(i+1)) saw at least A_i before it, and at most A_k by its
/// end,
///   if reading k began at or after e_(i+1) + tau > s + tau. `open_possible` is the first i without such a k.
///   Windows that start before e_0 are covered by i = 0 because none starts before reading 0 was taken.
/// - likely: the supremum over windows of a piecewise linear A has one end at a corner. Where A jumps (two
/// readings
///   at one instant) a window that ends there holds the jump, and so does one that begins there.
///   `likely_start` is the first corner not before the start of the window that ends at the newest;
///   `open_likely` is the first corner from which a window reaches beyond the newest.
/// The line to the start of a window is only followed where even its lower end would make a new maximum.
void OnlineCurve::extend(Scale& scale, std::size_t first) const {
    const std::int64_t window = scale.window;
    const Point* const points = points_.data();
    for (std::size_t begin = first; begin < points_.size(); begin += stretch) {
        const std::size_t end = std::min(points_.size(), begin + stretch);
        if (pass_by(scale, end - 1))
            continue;
        Scale now = scale; // in registers
        for (std::size_t j = begin; j < end; ++j) {
            const Point newest = points[j];
            const std::int64_t instant = newest.twice_midpoint();
            while (now.certain_start < j && newest.end - points[now.certain_start].begin > window)
                ++now.certain_start;
            now.certain = std::max(now.certain, newest.bytes - points[now.certain_start].bytes);

            const std::int64_t start = instant - 2 * window;
            while (points[now.likely_start].twice_midpoint() < start)
                ++now.likely_start;
            const Point& corner = points[now.likely_start];
            const bool between = now.likely_start > 0 && corner.twice_midpoint() != start;
            const Point& before = between ? points[now.likely_start - 1] : corner;
            if (static_cast<double>(newest.bytes - before.bytes) > now.likely) {
                const double beyond = static_cast<double>(start - before.twice_midpoint());
                const double climbed = between ? beyond * corner.bytes_per_half_nanosecond : 0;
                now.likely = std::max(now.likely, static_cast<double>(newest.bytes - before.bytes) - climbed);
            }

            while (now.open_possible < j && newest.begin >= points[now.open_possible + 1].end + window)
                now.possible = std::max(now.possible, newest.bytes - points[now.open_possible++].bytes);

            while (now.open_likely < j && instant > points[now.open_likely].twice_midpoint() + 2 * window) {
                const Point& opened = points[now.open_likely++];
                if (static_cast<double>(newest.bytes - opened.bytes) <= now.likely)
                    continue;
                const double short_of = static_cast<double>(instant - opened.twice_midpoint() - 2 * window);
                now.likely = std::max(now.likely, static_cast<double>(newest.bytes - opened.bytes) -
                                                      short_of * newest.bytes_per_half_nanosecond);
            }
        }
        scale = now;
    }
}

/// True, and all places are where the readings up to `last` would have led them, if not even all bytes from
/// the oldest of these places to `last` would make a new maximum.
bool OnlineCurve::pass_by(Scale& scale, std::size_t last) const {
    const Point& newest = points_[last];
    const std::uint64_t most = newest.bytes - points_[scale.oldest()].bytes;
    if (most > std::min(scale.certain, scale.possible) || static_cast<double>(most) > scale.likely)
        return false;
    const Point* const points = points_.data();
    const std::int64_t window = scale.window;
    const std::int64_t instant = newest.twice_midpoint();
    scale.certain_start = advanced(scale.certain_start, [&](std::size_t i) {
        return i < last && newest.end - points[i].begin > window;
    });
    scale.likely_start = advanced(scale.likely_start, [&](std::size_t i) {
        return i < last && points[i].twice_midpoint() < instant - 2 * window;
    });
    scale.open_possible = advanced(scale.open_possible, [&](std::size_t i) {
        return i < last && newest.begin >= points[i + 1].end + window;
    });
    scale.open_likely = advanced(scale.open_likely, [&](std::size_t i) {
        return i < last && instant > points[i].twice_midpoint() + 2 * window;
    });
    return true;
}

/// With the windows that no reading closed: the last reading bounds every window that fits into the recorded
/// time; later starts only lose bytes then.
Bounds OnlineCurve::total(const Scale& scale) const {
    Bounds most = scale.earlier;
    if (points_.empty())
        return most;
    const std::size_t last = points_.size() - 1;
    std::uint64_t possible = scale.possible;
    if (scale.open_possible < last) {
        const Point& opened = points_[scale.open_possible];
        const bool first = scale.open_possible + forgotten_ == 0;
        if (first || opened.end + scale.window <= points_[last].end)
            possible = std::max(possible, points_[last].bytes - opened.bytes);
    }
    const double likely =
        std::max(scale.likely, static_cast<double>(points_[last].bytes - points_[scale.open_likely].bytes));
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
    points_.erase(points_.begin(), points_.begin() + static_cast<std::ptrdiff_t>(oldest));
    forgotten_ += oldest;
    for (Scale& scale : scales_)
        for (std::size_t* place :
             {&scale.certain_start, &scale.likely_start, &scale.open_possible, &scale.open_likely})
            *place -= oldest;
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
    if (const std::int64_t covered = earlier_half_nanoseconds_ + segment_half_nanoseconds(); covered > 0)
        curve.mean_bytes_per_second =
            static_cast<double>(curve.total_bytes) / (static_cast<double>(covered) / 2e9);
    return curve;
}

} // namespace collectors
