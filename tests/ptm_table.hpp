#pragma once

#include "collectors/burstiness.hpp"
#include "generator/prediction.hpp"

#include <array>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

/// The tables of our own analytic model of ResNet-50: a periodic signal of one NIC, ideal line rate, shares
/// of forward, backward and optimizer 32/65/3. data/ptm_table_ring.csv: a burst per bucket at its mean rate,
/// 30 us of latency per ring step. data/ptm_table_server.csv: a dedicated server for n workers, no latency.
namespace tests {

inline constexpr std::array<std::chrono::nanoseconds, 4> table_windows{
    std::chrono::milliseconds(1), std::chrono::milliseconds(5), std::chrono::milliseconds(10),
    std::chrono::milliseconds(100)};

struct TableRow {
    std::string text;
    bool is_server_view = false;
    bool overlap = false;
    bool fp16 = false;
    bool fp32_device = false;
    int ranks = 0; ///< workers
    double bits_per_second = 0;
    double compute_ms = 0;
    double iteration_ms = 0;
    double volume_bytes = 0;
    std::array<double, 4> ratios{}; ///< PtM by window
    double backlog_bytes = 0;       ///< at twice the mean rate

    double bytes_per_second() const { return bits_per_second / 8; }
};

inline std::vector<TableRow> table_rows(const std::string& name) {
    std::ifstream file(GRADBURST_SOURCE_DIR "/tests/data/" + name);
    std::vector<TableRow> rows;
    std::string line;
    std::getline(file, line); // algo,view,overlap,wire,gpu,batch,n,gbps,t_compute_ms,t_iter_ms,volume_MB,
    while (std::getline(file, line)) { // mean_gbps,ptm_1ms,ptm_5ms,ptm_10ms,ptm_100ms,bmax_MB_at_2x_mean
        std::vector<std::string> cells;
        std::istringstream cut(line);
        for (std::string cell; std::getline(cut, cell, ',');)
            cells.push_back(cell);
        TableRow row;
        row.text = line;
        row.is_server_view = cells.at(1) == "server";
        row.overlap = cells[2] == "1";
        row.fp16 = cells[3] == "fp16";
        row.fp32_device = cells[4].find("fp32") != std::string::npos;
        row.ranks = std::stoi(cells[6]);
        row.bits_per_second = std::stod(cells[7]) * 1e9;
        row.compute_ms = std::stod(cells[8]);
        row.iteration_ms = std::stod(cells[9]);
        row.volume_bytes = std::stod(cells[10]) * 1e6;
        for (std::size_t i = 0; i < row.ratios.size(); ++i)
            row.ratios[i] = std::stod(cells[12 + i]);
        row.backlog_bytes = std::stod(cells.at(16)) * 1e6;
        rows.push_back(row);
    }
    return rows;
}

/// The table's assumptions in a profile: no jitter, no buffers, no special first iteration.
inline generator::Profile with_assumptions(generator::Profile profile, const TableRow& row) {
    const auto share = [&row](double part) {
        return std::chrono::nanoseconds(std::llround(part * row.compute_ms * 1e6));
    };
    profile.compute = {share(0.32), share(0.65), share(0.03)};
    profile.ready_curve = row.fp32_device ? generator::ReadyCurve::fp32 : generator::ReadyCurve::tensor;
    profile.gradients.bucketing = row.overlap ? generator::Bucketing::ddp : generator::Bucketing::single;
    profile.gradients.overlap = row.overlap;
    profile.gradients.first_iteration_single = false;
    profile.gradients.broadcast_buffers = false;
    profile.run.warmup = 1;
    return profile;
}

/// fp16 halves the bytes of the fp32 buckets.
inline double byte_factor(const TableRow& row) {
    return row.fp16 ? 0.5 : 1;
}

} // namespace tests
