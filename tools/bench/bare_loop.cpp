// The least that sampling an interface can cost: clock_nanosleep to absolute deadlines and two preads,
// nothing kept. bench_bare_loop INTERFACE INTERVAL_US SECONDS prints the CPU share of one core and the
// readings. Below 1 ms a sampler has to spin to be on time, which this loop does not.

#include "collectors/monotonic_clock.hpp"

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

int main(int argc, char** argv) {
    if (argc != 4) {
        fmt::print(stderr, "usage: bench_bare_loop INTERFACE INTERVAL_US SECONDS\n");
        return 2;
    }
    const std::string folder = std::string("/sys/class/net/") + argv[1] + "/statistics/";
    const std::array<int, 2> files{::open((folder + "rx_bytes").c_str(), O_RDONLY),
                                   ::open((folder + "tx_bytes").c_str(), O_RDONLY)};
    if (files[0] < 0 || files[1] < 0) {
        fmt::print(stderr, "bench_bare_loop: no counters in {}\n", folder);
        return 2;
    }
    const std::int64_t interval_ns = std::strtoll(argv[2], nullptr, 10) * 1000;
    const std::int64_t length_ns = std::strtoll(argv[3], nullptr, 10) * 1'000'000'000;
    ::prctl(PR_SET_TIMERSLACK, 1UL);
    const std::int64_t start = collectors::clock_ns();
    const std::int64_t cpu_before = collectors::clock_ns(CLOCK_THREAD_CPUTIME_ID);
    std::int64_t now = start;
    std::int64_t readings = 0;
    std::array<char, 24> text;
    ssize_t bytes = 0;
    for (std::int64_t tick = 0; now - start < length_ns; tick = (now - start) / interval_ns + 1) {
        const std::int64_t due = start + tick * interval_ns;
        const timespec deadline{due / 1'000'000'000, due % 1'000'000'000};
        ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &deadline, nullptr);
        for (const int file : files)
            bytes += ::pread(file, text.data(), text.size(), 0);
        ++readings;
        now = collectors::clock_ns();
    }
    const auto cpu = static_cast<double>(collectors::clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before);
    fmt::print("{:.6f} {}\n", cpu / static_cast<double>(now - start), readings);
    return bytes > 0 ? 0 : 1;
}
