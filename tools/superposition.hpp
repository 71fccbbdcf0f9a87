#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// What several jobs offer to one link when they begin at any time: the sum of their traffic, each shifted by
/// a phase of its own. Pure; lengths of time are in cells of one grid. It is offered load: nobody is slowed
/// down by the others, as TCP would slow down senders that share a link.
namespace tools {

struct BurstSpan {
    double begin = 0;
    double end = 0;

    bool operator==(const BurstSpan&) const = default;
};

/// The traffic of one job, which begins anew behind its last cell: a whole number of its periods.
struct CyclicTraffic {
    std::vector<double> bytes;     ///< in each cell
    std::vector<BurstSpan> bursts; ///< in order; none overlaps another
};

double bytes_per_cell(const CyclicTraffic& traffic);

struct Superposition {
    std::vector<const CyclicTraffic*> jobs;
    std::size_t cells = 0;         ///< that a draw looks at: one period
    std::vector<double> windows;   ///< in cells
    std::optional<double> drained; ///< what the link carries in a cell, in bytes; none: no link, no backlog
};

/// How many cells a draw sums up: in front of those that it looks at, as many as windows reach back, and at
/// least as many again, so that the queue has forgotten that it began empty.
std::size_t summed_cells(const Superposition& superposition);

/// Where each job's traffic stands when a draw begins: evenly spread over its cells. A function of its
/// arguments alone (generator::Draws), so that results do not depend on threads.
std::vector<double> random_starts(const Superposition& superposition, std::uint64_t seed, std::size_t draw);

/// What each draw gave.
struct Draws {
    std::vector<std::vector<double>> window_bytes; ///< for each window: E of each draw
    std::vector<double> backlog_bytes;             ///< the largest; empty without a link
    std::vector<char> overlaps; ///< 1 where bursts of two jobs were there at one instant, else 0
};

/// Superposes job by job. Sums are exact for counters whose readings lie on the grid: a start is rounded to a
/// whole cell for them. Each thread has one of its own.
class Superposer {
public:
    /// `superposition` must outlive this.
    explicit Superposer(const Superposition& superposition);

    /// `starts`: where each job's traffic stands, from 0 to less than its number of cells.
    void superpose(std::span<const double> starts);

    /// E(tau): most bytes in any window that ends in the cells that are looked at. Windows begin or end at an
    /// edge of a cell, where the supremum lies if rates change at edges only.
    double window_bytes(double window) const;
    /// Lindley's recursion: the largest queue at the edges of the cells that are looked at.
    double backlog_bytes(double drained) const;
    /// Whether bursts of two jobs have an instant in common. Exact: nothing is rounded.
    bool bursts_overlap(std::span<const double> starts);

private:
    const Superposition* superposition_;
    std::size_t front_;          ///< cells in front of those that are looked at
    std::vector<double> sum_;    ///< bytes in each cell
    std::vector<double> passed_; ///< bytes before each cell, and at the end
    std::vector<BurstSpan> all_;
    std::vector<BurstSpan> own_;
    std::vector<BurstSpan> merged_;
};

/// `count` draws of random phases, by so many threads.
Draws draw_phases(const Superposition& superposition, std::size_t count, std::uint64_t seed,
                  std::size_t threads);

/// One draw for each of these starts of all jobs.
Draws draw_given(const Superposition& superposition, std::span<const std::vector<double>> starts);

/// The one draw with these starts.
Draws draw_once(const Superposition& superposition, const std::vector<double>& starts);

} // namespace tools
