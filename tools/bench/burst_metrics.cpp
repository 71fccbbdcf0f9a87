// How long the burst metrics take on one core, on traces that are made up: medians of several rounds, printed
// as a table. Not a test: it judges nothing.
//   bench_burst_metrics [READINGS] [ROUNDS]       default 10000000 and 5
#include "collectors/online_backlog.hpp"
#include "collectors/online_curve.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <vector>

namespace {

using namespace collectors;
using namespace std::chrono_literals;
using std::chrono::nanoseconds;

constexpr std::int64_t interval_ns = 100'000;

/// Corners of a line, as in a prediction: bytes at a constant rate, each 100 us to the nanosecond.
std::vector<Reading> make_corners(std::size_t count) {
    std::vector<Reading> readings;
    readings.reserve(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t instant = static_cast<std::int64_t>(i) * interval_ns;
        readings.push_back({instant, instant, static_cast<std::uint64_t>(instant / 8), false});
    }
    return readings;
}

/// Read each 100 us, late by 5 us on average, within 1.7 to 1.9 us. `bytes_in(from, to)` passed in that time.
std::vector<Reading> make_readings(std::size_t count, std::mt19937_64& random,
                                   const std::function<std::uint64_t(std::int64_t, std::int64_t)>& bytes_in) {
    std::exponential_distribution<double> lateness(1 / 5000.0);
    std::uniform_int_distribution<std::int64_t> width(1700, 1900);
    std::vector<Reading> readings;
    readings.reserve(count);
    std::int64_t previous = 0;
    std::uint64_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        std::int64_t begin = static_cast<std::int64_t>(i) * interval_ns;
        begin = std::max(begin + static_cast<std::int64_t>(lateness(random)), previous + 2000);
        bytes += bytes_in(previous, begin);
        readings.push_back({begin, begin + width(random), bytes, false});
        previous = begin;
    }
    return readings;
}

struct Traffic {
    const char* name;
    std::vector<Reading> readings;
};

std::vector<Traffic> make_traffic(std::size_t count) {
    std::mt19937_64 random(20240329);
    std::bernoulli_distribution large_packet(0.2);
    const auto packets = [&] { return large_packet(random) ? std::uint64_t{65'226} : 0; };
    return {{"training: 30 ms of traffic each 200 ms",
             make_readings(count, random,
                           [&](std::int64_t from, std::int64_t) {
                               return from % 200'000'000 < 30'000'000 ? packets() : 0;
                           })},
            {"random: a 64 kB step in each fifth reading",
             make_readings(count, random, [&](std::int64_t, std::int64_t) { return packets(); })},
            {"constant rate: every window is nearly the largest",
             make_readings(count, random,
                           [](std::int64_t from, std::int64_t to) {
                               return static_cast<std::uint64_t>(to / 8 - from / 8);
                           })},
            {"constant rate on an exact grid: every window is as large as the next (worst case)",
             make_corners(count)}};
}

double median_seconds(int rounds, const std::function<void()>& work) {
    std::vector<double> seconds;
    for (int round = 0; round < rounds; ++round) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    std::sort(seconds.begin(), seconds.end());
    return seconds[seconds.size() / 2];
}

/// Ten per decade from 100 us to 1 s.
std::vector<nanoseconds> make_windows() {
    std::vector<nanoseconds> windows;
    for (int step = 0; step <= 40; ++step)
        windows.emplace_back(std::llround(100'000 * std::pow(10.0, step / 10.0)));
    return windows;
}

std::vector<BitRate> make_rates() {
    std::vector<BitRate> rates;
    for (std::uint64_t step = 1; step <= 20; ++step)
        rates.push_back({step * 100'000'000});
    return rates;
}

} // namespace

int main(int argc, char** argv) {
    const std::size_t count = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
    if (count < 2 || rounds < 1) {
        std::fputs("usage: bench_burst_metrics [READINGS] [ROUNDS]\n", stderr);
        return 2;
    }
    const std::vector<nanoseconds> windows = make_windows();
    const std::vector<BitRate> rates = make_rates();
    std::printf("%zu readings each 100 us, one core, median of %d (build %s)\n", count, rounds,
                GRADBURST_BUILD_TYPE);
    for (const Traffic& traffic : make_traffic(count)) {
        std::printf("%s\n", traffic.name);
        double largest = 0;
        std::size_t held = 0;
        const double curve_seconds = median_seconds(rounds, [&] {
            OnlineCurve curve(windows);
            curve.add(traffic.readings);
            largest = curve.curve().points.back().bytes.estimate;
            held = curve.held();
        });
        std::printf("  E(tau), three bounds, %zu windows  %6.3f s  (E(1 s) %.0f B; %zu readings held)\n",
                    windows.size(), curve_seconds, largest, held);
        const double backlog_seconds = median_seconds(rounds, [&] {
            OnlineBacklog backlog(rates);
            backlog.add(traffic.readings);
            largest = backlog.backlog(0).estimate;
        });
        std::printf("  B_max(r), %zu rates                %6.3f s  (B_max(100 Mbit/s) %.0f B)\n",
                    rates.size(), backlog_seconds, largest);
    }
    return 0;
}
