#include "tools/trace_cells.hpp"

#include "collectors/segments.hpp"
#include "generator/failure.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tools {

void TraceCells::add(const collectors::Reading& reading) {
    const double now = collectors::midpoint_ns(reading);
    if (!origin_)
        origin_ = now;
    if (previous_) {
        const bool anew = collectors::starts_segment(reading, *previous_);
        const bool corner = reading.begin_ns == reading.end_ns && previous_->begin_ns == previous_->end_ns;
        const double step = now - collectors::midpoint_ns(*previous_);
        if (anew || (!corner && step > 2.5 * cell_))
            unknown_ += step;
        if (anew)
            ++restarts_;
        else if (reading.bytes != previous_->bytes)
            spread(collectors::midpoint_ns(*previous_), now,
                   static_cast<double>(reading.bytes - previous_->bytes));
    }
    end_ = now;
    previous_ = reading;
}

std::vector<double> TraceCells::take(std::size_t count) {
    bytes_.resize(count);
    return std::move(bytes_);
}

void TraceCells::spread(double from, double to, double bytes) {
    const double first = (from - *origin_) / cell_;
    const double last = (to - *origin_) / cell_;
    if (last <= 0)
        return;
    if (last > most_cells)
        throw generator::UserError(
            fmt::format("has more than {:.0f} million cells; give a larger --cell", most_cells / 1e6));
    const double per_cell = bytes / (last - first);
    auto at = static_cast<std::size_t>(std::max(first, 0.0));
    bytes_.resize(std::max(bytes_.size(), static_cast<std::size_t>(std::ceil(last))));
    for (; static_cast<double>(at) < last; ++at) {
        const double begin = std::max(first, static_cast<double>(at));
        const double end = std::min(last, static_cast<double>(at + 1));
        // All of it, or a share of it: what lies in one cell must not be rounded.
        bytes_[at] += begin == first && end == last ? bytes : per_cell * (end - begin);
    }
}

} // namespace tools
