#include "collectors/queue_lane.hpp"

#include "collectors/file_output.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/tick_clock.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collectors {

namespace {

constexpr std::string_view header = "t_ns,backlog_bytes,backlog_packets,drops,sent_bytes,overlimits\n";
constexpr const char* format_name = "gradburst-queue/1";
constexpr std::int64_t write_every_ns = 100'000'000;
constexpr std::int64_t shortest_sleeping_interval_ns = 1'000'000; // a TickClock does not spin from there on
constexpr std::uint64_t most_failures_in_a_row = 10;

QueueSample parse_line(const std::string& line, const std::string& place) {
    QueueSample sample;
    const char* position = line.data();
    const char* const end = line.data() + line.size();
    const auto number = [&](auto& value, bool last) {
        const auto [after, error] = std::from_chars(position, end, value);
        if (error != std::errc() || (last ? after != end : after == end || *after != ','))
            throw std::runtime_error(place + ": expected six numbers");
        position = last ? after : after + 1;
    };
    number(sample.t_ns, false);
    number(sample.backlog_bytes, false);
    number(sample.backlog_packets, false);
    number(sample.drops, false);
    number(sample.sent_bytes, false);
    number(sample.overlimits, true);
    return sample;
}

} // namespace

std::filesystem::path queue_path(const std::filesystem::path& trace_path) {
    return std::filesystem::path(trace_path).replace_extension(".queue.csv");
}

QueueLane::QueueLane(std::unique_ptr<QueueReader> reader, std::string interface, std::filesystem::path path,
                     std::chrono::nanoseconds interval, bool overwrite)
    : reader_(std::move(reader)), interface_(std::move(interface)), path_(std::move(path)),
      interval_(std::max(interval, std::chrono::nanoseconds(shortest_sleeping_interval_ns))) {
    QueueStatistics first;
    if (const int error = reader_->read(first); error != 0)
        throw std::system_error(error, std::generic_category(), "read the queue of " + interface_);
    kind_ = first.kind;
    descriptor_ =
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL), 0666);
    if (descriptor_ < 0)
        throw std::system_error(errno, std::generic_category(), "create " + path_.string());
    start_ns_ = clock_ns();
    try {
        write_all(descriptor_, header, path_);
        write_sidecar(false);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
    // A signal must reach a thread that waits for it.
    sigset_t all, before;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before);
    thread_ = std::jthread([this](const std::stop_token& stop) {
        try {
            sample(stop);
        } catch (...) {
            error_ = std::current_exception();
        }
    });
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

QueueLane::~QueueLane() {
    try {
        stop();
    } catch (const std::exception&) {
        // Nobody is left to tell; the sidecar says that the file is incomplete.
    }
}

void QueueLane::sample(const std::stop_token& stop) {
    const TickClock clock(interval_.count());
    const std::int64_t begin = clock_ns();
    const std::int64_t cpu_before = clock_ns(CLOCK_THREAD_CPUTIME_ID);
    std::string lines;
    std::int64_t next_write = start_ns_ + write_every_ns;
    std::uint64_t failures = 0;
    bool running = true;
    for (std::int64_t tick = 0; running; tick = (clock_ns() - start_ns_) / interval_.count() + 1) {
        running = clock.wait_until(start_ns_ + tick * interval_.count(), stop);
        QueueStatistics now;
        const int error = reader_->read(now);
        const std::int64_t read_at = clock_ns();
        failures = error == 0 ? 0 : failures + 1;
        if (error == 0) {
            ++report_.samples;
            fmt::format_to(std::back_inserter(lines), "{},{},{},{},{},{}\n", read_at - start_ns_,
                           now.backlog_bytes, now.backlog_packets, now.drops, now.sent_bytes, now.overlimits);
        } else {
            ++report_.failed;
        }
        if (read_at >= next_write) {
            write_lines(lines);
            next_write = read_at + write_every_ns;
        }
        if (failures == most_failures_in_a_row)
            break; // the device is gone, or the kernel does not answer
    }
    write_lines(lines);
    report_.cpu_share = static_cast<double>(clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_before) /
                        static_cast<double>(clock_ns() - begin);
}

void QueueLane::write_lines(std::string& lines) {
    write_all(descriptor_, lines, path_);
    lines.clear();
}

QueueLane::Report QueueLane::stop() {
    if (thread_.joinable()) {
        thread_.request_stop();
        thread_.join();
        ::close(descriptor_);
        if (!error_)
            write_sidecar(true);
    }
    if (error_)
        std::rethrow_exception(error_);
    return report_;
}

void QueueLane::write_sidecar(bool complete) const {
    const auto column = [](const char* name, const char* unit, const char* meaning) {
        return nlohmann::ordered_json{{"name", name}, {"unit", unit}, {"meaning", meaning}};
    };
    const nlohmann::ordered_json document{
        {"format", format_name},
        {"trace", path_.filename().string()},
        {"interface", interface_},
        {"queueing_discipline", kind_},
        {"source", "RTM_GETQDISC"},
        {"interval_ns", interval_.count()},
        {"start_monotonic_ns", start_ns_},
        {"complete", complete},
        {"failed", report_.failed},
        {"side", "the queue in front of tx_bytes: what waits here has not been counted there yet"},
        {"columns",
         {column("t_ns", "ns", "when it was read, CLOCK_MONOTONIC, from start_monotonic_ns"),
          column("backlog_bytes", "bytes",
                 "waiting in the queue at that moment; peaks between readings are not seen"),
          column("backlog_packets", "packets", "waiting; a GSO super-packet counts as one"),
          column("drops", "packets", "dropped so far because the queue was full"),
          column("sent_bytes", "bytes", "left the queue so far; the headers of each segment included"),
          column("overlimits", "events", "times so far that a packet had to wait for the shaper")}}};
    std::filesystem::path aside = path_;
    aside.replace_extension(".json.new");
    const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    std::ofstream file(aside, std::ios::trunc);
    if (!(file << text) || !file.flush())
        throw std::system_error(errno, std::generic_category(), "write sidecar " + aside.string());
    file.close();
    std::filesystem::rename(aside, std::filesystem::path(path_).replace_extension(".json"));
}

QueueTrace read_queue_trace(const std::filesystem::path& path) {
    QueueTrace trace;
    const std::filesystem::path sidecar = std::filesystem::path(path).replace_extension(".json");
    try {
        std::ifstream file(sidecar);
        const auto document = nlohmann::json::parse(file);
        trace.start_monotonic_ns = document.at("start_monotonic_ns");
        trace.interface = document.at("interface");
        trace.kind = document.at("queueing_discipline");
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("sidecar {}: {}", sidecar.string(), error.what()));
    }
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line + "\n" != header)
        throw std::runtime_error(path.string() + " is no queue trace: its first line must be " +
                                 std::string(header.substr(0, header.size() - 1)));
    for (std::size_t number = 2; std::getline(file, line); ++number)
        if (!file.eof()) // a line without end: its writer was killed
            trace.samples.push_back(parse_line(line, fmt::format("{}, line {}", path.string(), number)));
    return trace;
}

} // namespace collectors
