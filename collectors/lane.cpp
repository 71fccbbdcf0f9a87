#include "collectors/lane.hpp"

#include "collectors/file_output.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/signals_blocked.hpp"
#include "collectors/tick_clock.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <utility>

#include <fmt/format.h>

namespace collectors {

namespace {

constexpr std::int64_t write_every_ns = 100'000'000;

/// A sleeper that wakes at once when it is asked to stop: a run that ends does not wait for it.
class Sleeper {
public:
    /// False if it was.
    bool sleep_until(std::int64_t deadline_ns, const std::stop_token& stop) {
        const std::chrono::steady_clock::time_point deadline{std::chrono::nanoseconds(deadline_ns)};
        std::unique_lock lock(mutex_);
        stopped_.wait_until(lock, stop, deadline, [] { return false; });
        return !stop.stop_requested();
    }

private:
    std::mutex mutex_;
    std::condition_variable_any stopped_;
};

} // namespace

std::chrono::nanoseconds lane_interval(std::chrono::nanoseconds asked) {
    return std::max<std::chrono::nanoseconds>(asked, sleeping_from);
}

void LaneReport::require_written() const {
    std::vector<std::string> errors;
    for (const LaneFileReport& file : files)
        errors.push_back(file.error);
    collectors::require_written(std::move(errors));
}

Lane::Lane(Files files, std::chrono::nanoseconds interval, std::int64_t start_monotonic_ns, Read read)
    : files_(std::move(files)), interval_(lane_interval(interval)), start_ns_(start_monotonic_ns),
      read_(std::move(read)) {
    report_.files.resize(files_.size());
    const SignalsBlocked inherited;
    thread_ = std::jthread([this](const std::stop_token& stop) { run(stop); });
}

Lane::~Lane() {
    stop();
}

template <typename Action>
void Lane::for_each_file(Action action) {
    std::size_t number = 0;
    for (LaneFile& file : files_) {
        std::string& error = report_.files[number++].error;
        if (!error.empty())
            continue;
        try {
            action(file);
        } catch (const std::exception& failure) {
            error = failure.what();
        }
    }
}

void Lane::run(const std::stop_token& stop) {
    Sleeper sleeper;
    const std::int64_t begin = clock_ns();
    const std::int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    std::int64_t next_write = start_ns_ + write_every_ns;
    int silent = 0;
    bool running = true;
    std::int64_t tick = 0;
    while (running && silent < most_silent_readings) {
        running = sleeper.sleep_until(start_ns_ + tick * interval_.count(), stop);
        silent = read_(files_) ? 0 : silent + 1;
        const std::int64_t next = std::max(tick, (clock_ns() - start_ns_) / interval_.count()) + 1;
        if (running)
            for (LaneFile& file : files_)
                file.add_late(static_cast<std::uint64_t>(next - tick - 1));
        tick = next;
        if (const std::int64_t now = clock_ns(); now >= next_write) {
            for_each_file([](LaneFile& file) { file.write(); });
            next_write = now + write_every_ns;
        }
    }
    if (silent == most_silent_readings)
        for (LaneFile& file : files_)
            file.give_up(fmt::format("no answer to {} readings in a row, the last {:.1f} s after the start",
                                     silent, static_cast<double>(clock_ns() - start_ns_) / 1e9));
    for_each_file([](LaneFile& file) { file.write(); });
    report_.cpu_share = static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before) /
                        static_cast<double>(clock_ns() - begin);
}

LaneReport Lane::stop() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
        for_each_file([](LaneFile& file) { file.finish(); });
        std::size_t number = 0;
        for (const LaneFile& file : files_) {
            LaneFileReport& report = report_.files[number++];
            report.samples = file.rows();
            report.failed = file.failed();
            report.late = file.late();
            report.gave_up = file.gave_up();
        }
    }
    return report_;
}

} // namespace collectors
