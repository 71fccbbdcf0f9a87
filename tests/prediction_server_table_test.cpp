#include "collectors/burstiness.hpp"
#include "collectors/units.hpp"
#include "generator/prediction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "catch.hpp"
#include "ptm_table.hpp"

// The rows of the table for a dedicated server of n workers: in our plans rank 0, the server, works too, but
// moves no gradients of its own; n workers are n + 1 ranks.
//
// The table lets the workers push the next bucket while the server still sends the last one back. Ours runs
// one collective after the other, as a communicator does. With one bucket that is the same; with DDP's five,
// a bucket begins later than in the table by at most D = the time of the server's pushes of all buckets
// before it.

using namespace generator;
using tests::byte_factor;
using tests::table_rows;
using tests::table_windows;
using tests::TableRow;
using tests::with_assumptions;

namespace {

struct Burst {
    double begin = 0;
    double end = 0;
    double bytes = 0;
};

// Sanitizers look for wrong memory, not for wrong numbers, and make a row thirty times slower: they get every
// 11th.
#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t row_step = 11;
#else
constexpr std::size_t row_step = 1;
#endif

/// One iteration of a NIC.
struct Signal {
    double period = 0;
    std::vector<Burst> bursts;

    double mean() const {
        double bytes = 0;
        for (const Burst& burst : bursts)
            bytes += burst.bytes;
        return bytes / period;
    }
};

enum class Order {
    overlapped, ///< the next push beside the last pull, as in the table
    one_by_one  ///< the next push after the last pull, as one communicator does it
};

/// The table's formulas: each worker pushes its s bytes in turn, n s / C in all; then the server sends n s.
Signal signal(const Profile& profile, const Workload& workload, const TableRow& row, Order order) {
    Signal result;
    double free = 0;
    double last = 0;
    for (const WorkloadBucket& bucket : workload.later_iterations) {
        const auto bytes = static_cast<double>(bucket.bytes);
        const double worker = bytes / row.bytes_per_second();
        const double all = row.ranks * worker;
        const double start = std::max(collectors::in_seconds(bucket.ready_after), free);
        const double pull = order == Order::one_by_one || !row.is_server_view || result.bursts.empty()
                                ? start + all
                                : std::max(start + all, result.bursts.back().end);
        if (row.is_server_view)
            result.bursts.push_back({pull, pull + all, row.ranks * bytes});
        else
            result.bursts.push_back({start, start + worker, bytes});
        free = start + (order == Order::one_by_one ? 2 : 1) * all;
        last = pull + all;
    }
    const double backward_end = collectors::in_seconds(profile.compute.forward + profile.compute.backward);
    result.period = std::max(last, backward_end) + collectors::in_seconds(profile.compute.optimizer);
    return result;
}

/// E(tau) of the signal, repeated often enough for all windows; 0 for no window.
double most_bytes(const Signal& signal, double tau) {
    if (tau <= 0)
        return 0;
    const int periods = static_cast<int>(std::ceil(tau / signal.period)) + 3;
    collectors::Trace trace;
    double bytes = 0;
    const auto corner = [&](double time) {
        collectors::Sample sample;
        sample.t_ns = std::llround(time * 1e9);
        sample.tx_bytes = static_cast<std::uint64_t>(std::llround(bytes));
        if (trace.samples.empty() || trace.samples.back().t_ns < sample.t_ns)
            trace.samples.push_back(sample);
        trace.samples.back().tx_bytes = sample.tx_bytes;
    };
    corner(0);
    for (int period = 0; period < periods; ++period)
        for (const Burst& burst : signal.bursts) {
            corner(period * signal.period + burst.begin);
            bytes += burst.bytes;
            corner(period * signal.period + burst.end);
        }
    corner(periods * signal.period);
    trace.info.source = "prediction";
    const std::array window{nanoseconds(std::llround(tau * 1e9))};
    const auto readings = collectors::readings(trace, collectors::Direction::tx);
    return collectors::burstiness_curve(readings, window).points[0].bytes.estimate;
}

Prediction predicted(const Profile& profile, const Workload& workload, const TableRow& row) {
    LinkModel link;
    link.line_rate.bits_per_second = static_cast<std::uint64_t>(row.bits_per_second);
    link.step_latency = nanoseconds(0);
    return predict(profile, workload, row.ranks + 1, link, 6);
}

} // namespace

TEST_CASE("prediction agrees with the analytic model in all its server configurations", "[prediction]") {
    Profile profile = parse_profile(load_profile(GRADBURST_SOURCE_DIR "/profiles/resnet50-ddp.json", {}));
    profile.collective.algorithm = Algorithm::server;
    profile.collective.service = Service::sequenced;
    const std::vector<TableRow> rows = table_rows("ptm_table_server.csv");
    REQUIRE(rows.size() == 1792);
    std::size_t as_in_the_table = 0; // within 1 %, in all windows
    for (std::size_t number = 0; number < rows.size(); number += row_step) {
        const TableRow& row = rows[number];
        INFO(row.text);
        const Profile assumed = with_assumptions(profile, row);
        const Workload workload = make_workload(assumed, byte_factor(row));
        const Signal overlapped = signal(assumed, workload, row, Order::overlapped);
        const Signal one_by_one = signal(assumed, workload, row, Order::one_by_one);
        // The formulas here are the table's: compute and iteration time are rounded to 0.1 ms there.
        CHECK(std::abs(1e3 * overlapped.period - row.iteration_ms) <= 0.101);
        CHECK(std::abs(overlapped.mean() * overlapped.period - row.volume_bytes) <= 5001);

        const Prediction prediction = predicted(assumed, workload, row);
        const std::array ranks{row.is_server_view ? 0 : 1}; // the table's worker is served first
        const auto readings =
            collectors::readings(predicted_trace(prediction, ranks), collectors::Direction::tx);
        const auto curve = collectors::burstiness_curve(readings, table_windows);
        const double period = collectors::in_seconds(prediction.iteration_mean);
        CHECK(period == Approx(one_by_one.period).epsilon(1e-4));
        double later = 0; // D
        for (std::size_t i = 0; i + 1 < workload.later_iterations.size(); ++i)
            later +=
                row.ranks * static_cast<double>(workload.later_iterations[i].bytes) / row.bytes_per_second();
        CHECK(period >= overlapped.period - 1e-6);
        CHECK(period <= overlapped.period + later + 1e-4 * period);

        bool agrees = std::abs(1e3 * period - row.iteration_ms) <= 0.01 * row.iteration_ms + 0.101;
        for (std::size_t i = 0; i < table_windows.size(); ++i) {
            const double tau = collectors::in_seconds(table_windows[i]);
            const double rounding = 0.005 + 0.001 * row.ratios[i]; // 2 decimals; compute time
            CHECK(std::abs(most_bytes(overlapped, tau) / (tau * overlapped.mean()) - row.ratios[i]) <=
                  rounding);
            const double ratio = collectors::peak_to_mean(curve, curve.points[i]).estimate;
            CHECK(ratio == Approx(most_bytes(one_by_one, tau) / (tau * one_by_one.mean())).epsilon(0.01));
            // Two bytes lie closer together than in the table by at most D, and farther apart by at most D
            // and D for each end of an iteration between them: what fits in tau here fits in tau + D there.
            const double ends = std::ceil(tau / overlapped.period);
            const double unit = tau * overlapped.mean() * overlapped.period / period;
            CHECK(ratio <= 1.01 * most_bytes(overlapped, tau + later) / unit);
            CHECK(ratio >= 0.99 * most_bytes(overlapped, tau - (1 + ends) * later) / unit);
            agrees = agrees && std::abs(ratio - row.ratios[i]) <= 0.01 * row.ratios[i] + rounding;
        }
        // One bucket, or five that never meet, are as in the table.
        if (!row.overlap)
            CHECK(agrees);
        as_in_the_table += agrees ? 1 : 0;
    }
    // All 896 with one bucket, and 286 with five that meet no other bucket.
    if (row_step == 1)
        CHECK(as_in_the_table == 1182);
}
