// Times MPI_Allreduce of float32 sums, one after the other: what gradburst's ring is compared with.
//   mpirun -n 4 mpi_all_reduce BYTES ITERATIONS WARMUP
// Rank 0 prints one line of JSON. An all-reduce takes as long as its slowest rank needs.
#include "generator/cpu_seconds.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <fmt/format.h>
#include <limits>
#include <malloc.h>
#include <stdexcept>
#include <vector>

namespace {

using Seconds = std::chrono::duration<double>;
using Clock = std::chrono::steady_clock;

struct Settings {
    std::uint64_t bytes = 0;
    std::size_t iterations = 0;
    std::size_t warmup = 0;
};

Settings settings_from(int argument_count, char** arguments) {
    if (argument_count != 4)
        throw std::runtime_error("usage: mpi_all_reduce BYTES ITERATIONS WARMUP");
    const Settings settings{.bytes = std::strtoull(arguments[1], nullptr, 10),
                            .iterations = std::strtoull(arguments[2], nullptr, 10),
                            .warmup = std::strtoull(arguments[3], nullptr, 10)};
    const std::uint64_t elements = settings.bytes / sizeof(float);
    if (elements < 1 || elements > std::numeric_limits<int>::max() || settings.bytes % sizeof(float) != 0)
        throw std::runtime_error("BYTES must be a multiple of 4, from 4 to 8 GiB");
    if (settings.iterations < 1 || settings.iterations > 10'000 || settings.warmup > 10'000)
        throw std::runtime_error("ITERATIONS must be 1 to 10000, WARMUP 0 to 10000");
    return settings;
}

/// Open MPI allocates a temporary buffer in every all-reduce. By default malloc gives large blocks back to
/// the kernel, and touching fresh pages then takes several times as long as the network does.
void keep_freed_memory() {
    mallopt(M_MMAP_MAX, 0);
    mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
    mallopt(M_TOP_PAD, 64 << 20);
}

struct Measured {
    std::vector<double> seconds; ///< of each all-reduce on this rank
    double cpu_seconds = 0;      ///< of all of them on this rank
};

Measured measure(const Settings& settings, int world_size) {
    std::vector<float> gradients(settings.bytes / sizeof(float), 1);
    std::vector<float> sums(gradients.size(), 0);
    const auto all_reduce = [&] {
        MPI_Allreduce(gradients.data(), sums.data(), static_cast<int>(gradients.size()), MPI_FLOAT, MPI_SUM,
                      MPI_COMM_WORLD);
    };
    for (std::size_t i = 0; i < settings.warmup; ++i)
        all_reduce();
    Measured measured;
    measured.seconds.reserve(settings.iterations);
    MPI_Barrier(MPI_COMM_WORLD);
    const double cpu_before = generator::cpu_seconds();
    for (std::size_t i = 0; i < settings.iterations; ++i) {
        const Clock::time_point start = Clock::now();
        all_reduce();
        measured.seconds.push_back(Seconds(Clock::now() - start).count());
    }
    measured.cpu_seconds = generator::cpu_seconds() - cpu_before;
    if (std::any_of(sums.begin(), sums.end(),
                    [&](float sum) { return sum != static_cast<float>(world_size); }))
        throw std::runtime_error("an all-reduce gave a wrong sum");
    return measured;
}

/// The median is the nearest-rank one, as in gradburst's run.json.
void report(const Settings& settings, int world_size, const Measured& own) {
    std::vector<double> slowest(own.seconds.size());
    double cpu = 0;
    MPI_Reduce(own.seconds.data(), slowest.data(), static_cast<int>(slowest.size()), MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(&own.cpu_seconds, &cpu, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank != 0)
        return;
    std::sort(slowest.begin(), slowest.end());
    const double sent_bytes =
        2.0 * (world_size - 1) * static_cast<double>(settings.bytes) * static_cast<double>(slowest.size());
    fmt::print("{{\"ranks\": {}, \"bytes\": {}, \"iterations\": {}, \"median_seconds\": {}, "
               "\"min_seconds\": {}, \"max_seconds\": {}, \"cpu_seconds_per_gigabyte\": {}}}\n",
               world_size, settings.bytes, slowest.size(), slowest[(slowest.size() - 1) / 2], slowest.front(),
               slowest.back(), world_size == 1 ? 0 : cpu / (1e-9 * sent_bytes));
}

} // namespace

int main(int argument_count, char** arguments) {
    keep_freed_memory();
    MPI_Init(&argument_count, &arguments);
    try {
        int world_size = 0;
        MPI_Comm_size(MPI_COMM_WORLD, &world_size);
        const Settings settings = settings_from(argument_count, arguments);
        report(settings, world_size, measure(settings, world_size));
    } catch (const std::exception& error) {
        fmt::print(stderr, "mpi_all_reduce: {}\n", error.what());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    MPI_Finalize();
    return 0;
}
