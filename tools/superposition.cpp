#include "tools/superposition.hpp"

#include "generator/draws.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

namespace tools {
namespace {

constexpr std::uint64_t phase_stream = 1;

/// Adds a job's cells from `at` on, again and again, until the sum is full.
void add_cyclic(std::span<const double> bytes, std::size_t at, std::span<double> sum) {
    while (!sum.empty()) {
        const std::size_t count = std::min(bytes.size() - at, sum.size());
        std::transform(sum.begin(), sum.begin() + static_cast<std::ptrdiff_t>(count),
                       bytes.begin() + static_cast<std::ptrdiff_t>(at), sum.begin(), std::plus<>());
        sum = sum.subspan(count);
        at = 0;
    }
}

/// Bursts of a job in the first `cells` cells of a draw.
void cut_bursts(const CyclicTraffic& traffic, double start, double cells, std::vector<BurstSpan>& cut) {
    cut.clear();
    const auto length = static_cast<double>(traffic.bytes.size());
    auto burst = std::partition_point(traffic.bursts.begin(), traffic.bursts.end(),
                                      [&](const BurstSpan& each) { return each.end <= start; });
    if (traffic.bursts.empty())
        return;
    for (double shift = -start;; ++burst) {
        if (burst == traffic.bursts.end()) {
            burst = traffic.bursts.begin();
            shift += length;
        }
        if (burst->begin + shift >= cells)
            return;
        cut.push_back({burst->begin + shift, burst->end + shift});
    }
}

void draw_into(Draws& draws, std::size_t draw, const Superposition& superposition, Superposer& superposer,
               std::span<const double> starts) {
    superposer.superpose(starts);
    for (std::size_t i = 0; i < superposition.windows.size(); ++i)
        draws.window_bytes[i][draw] = superposer.window_bytes(superposition.windows[i]);
    if (superposition.drained)
        draws.backlog_bytes[draw] = superposer.backlog_bytes(*superposition.drained);
    draws.overlaps[draw] = superposer.bursts_overlap(starts) ? 1 : 0;
}

Draws room_for(const Superposition& superposition, std::size_t count) {
    return {std::vector(superposition.windows.size(), std::vector<double>(count)),
            std::vector<double>(superposition.drained ? count : 0), std::vector<char>(count)};
}

} // namespace

double bytes_per_cell(const CyclicTraffic& traffic) {
    return std::accumulate(traffic.bytes.begin(), traffic.bytes.end(), 0.0) /
           static_cast<double>(traffic.bytes.size());
}

std::size_t summed_cells(const Superposition& superposition) {
    double longest = 0;
    for (const double window : superposition.windows)
        longest = std::max(longest, window);
    return superposition.cells +
           std::max(superposition.cells, static_cast<std::size_t>(std::ceil(longest)) + 1);
}

std::vector<double> random_starts(const Superposition& superposition, std::uint64_t seed, std::size_t draw) {
    std::vector<double> starts;
    for (std::size_t job = 0; job < superposition.jobs.size(); ++job) {
        const double phase =
            generator::Draws(seed, phase_stream, job, static_cast<std::int64_t>(draw)).uniform();
        starts.push_back(phase * static_cast<double>(superposition.jobs[job]->bytes.size()));
    }
    return starts;
}

Superposer::Superposer(const Superposition& superposition)
    : superposition_(&superposition), front_(summed_cells(superposition) - superposition.cells),
      sum_(summed_cells(superposition)), passed_(sum_.size() + 1) {}

void Superposer::superpose(std::span<const double> starts) {
    std::fill(sum_.begin(), sum_.end(), 0.0);
    for (std::size_t job = 0; job < starts.size(); ++job) {
        const std::vector<double>& bytes = superposition_->jobs[job]->bytes;
        const std::size_t start = static_cast<std::size_t>(std::llround(starts[job])) % bytes.size();
        add_cyclic(bytes, (start + bytes.size() - front_ % bytes.size()) % bytes.size(), sum_);
    }
    std::partial_sum(sum_.begin(), sum_.end(), passed_.begin() + 1);
}

double Superposer::window_bytes(double window) const {
    const auto whole = static_cast<std::size_t>(window);
    const double part = window - static_cast<double>(whole);
    const double* const passed = passed_.data();
    const std::size_t last = sum_.size();
    double most = 0;
    if (part == 0) {
        for (std::size_t end = front_ + 1; end <= last; ++end)
            most = std::max(most, passed[end] - passed[end - whole]);
        return most;
    }
    for (std::size_t end = front_ + 1; end <= last; ++end) // ends at an edge
        most = std::max(most, passed[end] - passed[end - whole] + part * sum_[end - whole - 1]);
    for (std::size_t end = front_; end < last; ++end) // begins at an edge, ends inside of the cell at `end`
        most = std::max(most, passed[end] - passed[end - whole] + part * sum_[end]);
    return most;
}

double Superposer::backlog_bytes(double drained) const {
    double queue = 0;
    for (std::size_t i = 0; i < front_; ++i)
        queue = std::max(queue + (sum_[i] - drained), 0.0);
    double largest = queue;
    for (std::size_t i = front_; i < sum_.size(); ++i) {
        queue = std::max(queue + (sum_[i] - drained), 0.0);
        largest = std::max(largest, queue);
    }
    return largest;
}

bool Superposer::bursts_overlap(std::span<const double> starts) {
    all_.clear();
    for (std::size_t job = 0; job < starts.size(); ++job) {
        cut_bursts(*superposition_->jobs[job], starts[job], static_cast<double>(superposition_->cells), own_);
        merged_.resize(all_.size() + own_.size());
        std::merge(all_.begin(), all_.end(), own_.begin(), own_.end(), merged_.begin(),
                   [](const BurstSpan& a, const BurstSpan& b) { return a.begin < b.begin; });
        for (std::size_t i = 1; i < merged_.size(); ++i)
            if (merged_[i].begin < merged_[i - 1].end) // one job's own never overlap
                return true;
        all_.swap(merged_);
    }
    return false;
}

Draws draw_phases(const Superposition& superposition, std::size_t count, std::uint64_t seed,
                  std::size_t threads) {
    Draws draws = room_for(superposition, count);
    threads = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(1, count));
    std::vector<Superposer> superposers(threads, Superposer(superposition));
    std::atomic<std::size_t> next{0};
    constexpr std::size_t at_once = 16; // draws that lie side by side are written by one thread
    const auto work = [&](Superposer& superposer) {
        for (std::size_t begin = 0; (begin = next.fetch_add(at_once)) < count;)
            for (std::size_t draw = begin; draw < std::min(begin + at_once, count); ++draw)
                draw_into(draws, draw, superposition, superposer, random_starts(superposition, seed, draw));
    };
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < threads; ++i)
            others.emplace_back([&, i] { work(superposers[i]); });
        work(superposers[0]);
    }
    return draws;
}

Draws draw_given(const Superposition& superposition, std::span<const std::vector<double>> starts) {
    Draws draws = room_for(superposition, starts.size());
    Superposer superposer(superposition);
    for (std::size_t draw = 0; draw < starts.size(); ++draw)
        draw_into(draws, draw, superposition, superposer, starts[draw]);
    return draws;
}

Draws draw_once(const Superposition& superposition, const std::vector<double>& starts) {
    return draw_given(superposition, std::span(&starts, 1));
}

} // namespace tools
