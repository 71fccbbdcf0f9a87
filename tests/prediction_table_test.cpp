#include "collectors/burstiness.hpp"
#include "generator/prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "catch.hpp"

// data/ptm_table_ring.csv: the ring rows of our own analytic model of ResNet-50 (periodic signal of one rank:
// a burst per bucket at its mean rate, 30 us of latency per ring step, ideal line rate), 896 configurations.

using namespace generator;
using namespace std::chrono_literals;

namespace {

constexpr double latency = 30e-6;             // seconds per ring step, as in the table
constexpr double largest_bucket = 31'502'336; // bytes, of DDP's five for ResNet-50
constexpr double model_bytes = 102'228'128;
constexpr std::array<nanoseconds, 4> windows{1ms, 5ms, 10ms, 100ms};

struct Row {
    std::string text;
    bool overlap = false;
    bool fp16 = false;
    bool fp32_device = false;
    int ranks = 0;
    double bits_per_second = 0;
    double compute_ms = 0;
    double iteration_ms = 0;
    double mean_bits_per_second = 0;
    std::array<double, 4> ratios{};
    double backlog_bytes = 0;

    double bytes_per_second() const { return bits_per_second / 8; }
    /// Of the largest bucket, without latency.
    double step_seconds() const {
        return (overlap ? largest_bucket : model_bytes) * (fp16 ? 0.5 : 1) / ranks / bytes_per_second();
    }
};

std::vector<Row> table() {
    std::ifstream file(GRADBURST_SOURCE_DIR "/tests/data/ptm_table_ring.csv");
    std::vector<Row> rows;
    std::string line;
    std::getline(file, line); // algo,view,overlap,wire,gpu,batch,n,gbps,t_compute_ms,t_iter_ms,volume_MB,
    while (std::getline(file, line)) { // mean_gbps,ptm_1ms,ptm_5ms,ptm_10ms,ptm_100ms,bmax_MB_at_2x_mean
        std::vector<std::string> cells;
        std::istringstream cut(line);
        for (std::string cell; std::getline(cut, cell, ',');)
            cells.push_back(cell);
        Row row;
        row.text = line;
        row.overlap = cells.at(2) == "1";
        row.fp16 = cells[3] == "fp16";
        row.fp32_device = cells[4].find("fp32") != std::string::npos;
        row.ranks = std::stoi(cells[6]);
        row.bits_per_second = std::stod(cells[7]) * 1e9;
        row.compute_ms = std::stod(cells[8]);
        row.iteration_ms = std::stod(cells[9]);
        row.mean_bits_per_second = std::stod(cells[11]) * 1e9;
        for (std::size_t i = 0; i < windows.size(); ++i)
            row.ratios[i] = std::stod(cells[12 + i]);
        row.backlog_bytes = std::stod(cells.at(16)) * 1e6;
        rows.push_back(row);
    }
    return rows;
}

/// The table's assumptions: shares 32/65/3, no jitter, no buffers, no special first iteration; fp16 halves
/// the bytes of the fp32 buckets.
Prediction predicted(Profile profile, const Row& row) {
    const auto share = [&row](double part) { return nanoseconds(std::llround(part * row.compute_ms * 1e6)); };
    profile.compute = {share(0.32), share(0.65), share(0.03)};
    profile.ready_curve = row.fp32_device ? ReadyCurve::fp32 : ReadyCurve::tensor;
    profile.gradients.bucketing = row.overlap ? Bucketing::ddp : Bucketing::single;
    profile.gradients.overlap = row.overlap;
    profile.gradients.first_iteration_single = false;
    profile.gradients.broadcast_buffers = false;
    profile.run.warmup = 1;
    LinkModel link;
    link.line_rate.bits_per_second = static_cast<std::uint64_t>(row.bits_per_second);
    link.pipelining = false;
    return predict(profile, make_workload(profile, row.fp16 ? 0.5 : 1), row.ranks, link, 6);
}

} // namespace

TEST_CASE("prediction agrees with the analytic model in all its ring configurations", "[prediction]") {
    const Profile profile =
        parse_profile(load_profile(GRADBURST_SOURCE_DIR "/profiles/resnet50-ddp.json", {}));
    const std::vector<Row> rows = table();
    REQUIRE(rows.size() == 896);
    double largest_excess = 0;
    std::size_t above_one_percent = 0;
    for (const Row& row : rows) {
        INFO(row.text);
        const Prediction prediction = predicted(profile, row);
        // Both compute and iteration time are rounded to 0.1 ms in the table.
        CHECK(std::abs(static_cast<double>(prediction.iteration_mean.count()) * 1e-6 - row.iteration_ms) <=
              0.101);

        const std::array ranks{0};
        const auto readings =
            collectors::readings(predicted_trace(prediction, ranks), collectors::Direction::tx);
        const auto curve = collectors::burstiness_curve(readings, windows);
        for (std::size_t i = 0; i < windows.size(); ++i) {
            // The table spreads each step's latency over the burst: rate v = C s / (s + a) for chunk time s
            // and latency a. The plan sends at C for s and pauses for a, so that within a burst it is ahead
            // of the table by at most v a. Hence E <= E_table + v a. Where the window lies within a burst,
            // E_table = v tau, and the excess is at most a / tau; E <= C tau bounds it by a / s as well. At 1
            // ms that can be 3 %. Where a window covers several bursts, v a is small against them. Never less
            // than the table, but for rounding.
            const double tau = std::chrono::duration<double>(windows[i]).count();
            const double allowed = i == 0 ? std::min(latency / tau, latency / row.step_seconds()) : 0.01;
            const double ratio = collectors::peak_to_mean(curve, curve.points[i]).estimate;
            const double rounding = 0.005 + 0.001 * row.ratios[i]; // 2 decimals; compute time
            CHECK(ratio >= row.ratios[i] - rounding);
            CHECK(ratio <= row.ratios[i] * (1 + allowed) + rounding);
            const double excess = (ratio - row.ratios[i] - 0.005) / row.ratios[i];
            above_one_percent += excess > 0.01 ? 1 : 0;
            largest_excess = std::max(largest_excess, excess);
        }
        // The same lead of at most v a < C a shows in the backlog where there is nearly none.
        const collectors::BitRate twice_mean{
            static_cast<std::uint64_t>(std::llround(16 * curve.mean_bytes_per_second))};
        const double backlog = collectors::max_backlog(readings, twice_mean).estimate;
        CHECK(std::abs(backlog - row.backlog_bytes) <=
              std::max(0.01 * row.backlog_bytes,
                       row.backlog_bytes == 0 ? latency * row.bytes_per_second() : 0) +
                  5000);
    }
    // All at 1 ms, in 508 of 896 rows (chunks of less than 3 ms).
    CHECK(above_one_percent == 508);
    CHECK(largest_excess == Approx(0.0296).margin(0.0005));
}
