#include "collectors/queue_lane.hpp"

#include "collectors/monotonic_clock.hpp"

#include <array>
#include <system_error>
#include <utility>

namespace collectors {

namespace {

constexpr std::string_view queue_format = "gradburst-queue/1";

constexpr std::array<LaneColumn, 6> queue_columns{{
    {"t_ns", "ns", "when it was read, CLOCK_MONOTONIC, from start_monotonic_ns"},
    {"backlog_bytes", "bytes", "waiting in the queue at that moment; peaks between readings are not seen"},
    {"backlog_packets", "packets", "waiting; a GSO super-packet counts as one"},
    {"drops", "packets", "dropped so far because the queue was full"},
    {"sent_bytes", "bytes", "left the queue so far; the headers of each segment included"},
    {"overlimits", "events", "times so far that a packet had to wait for the shaper"},
}};

constexpr const char* queue_side =
    "the queue in front of tx_bytes: what waits here has not been counted there yet";

LaneInfo describe(const std::string& interface, const std::string& kind, std::chrono::nanoseconds interval,
                  std::int64_t start_ns) {
    return {queue_format,
            interface,
            {{"queueing_discipline", kind}, {"source", "RTM_GETQDISC"}, {"side", queue_side}},
            queue_columns,
            interval.count(),
            start_ns};
}

} // namespace

std::filesystem::path queue_path(const std::filesystem::path& trace_path) {
    return std::filesystem::path(trace_path).replace_extension(".queue.csv");
}

std::unique_ptr<Lane> start_queue_lane(std::unique_ptr<QueueReader> reader,
                                       const std::vector<std::filesystem::path>& paths,
                                       std::chrono::nanoseconds interval, bool overwrite) {
    std::vector<std::optional<QueueStatistics>> first(paths.size());
    const int error = reader->read(first);
    const std::int64_t start_ns = clock_ns();
    Lane::Files files;
    for (std::size_t i = 0; i < paths.size(); ++i) {
        const std::string& interface = reader->interfaces()[i];
        if (!first[i])
            throw std::system_error(error != 0 ? error : ENODEV, std::generic_category(),
                                    "read the queue of " + interface);
        files.emplace_back(paths[i], describe(interface, first[i]->kind, lane_interval(interval), start_ns),
                           overwrite);
    }
    return std::make_unique<Lane>(
        std::move(files), interval, start_ns,
        [start_ns, queues = std::move(first),
         shared = std::shared_ptr(std::move(reader))](Lane::Files& lanes) mutable { // std::function copies
            const bool answered = shared->read(queues) == 0;
            const std::int64_t t_ns = clock_ns() - start_ns;
            std::size_t number = 0;
            for (LaneFile& file : lanes) {
                const std::optional<QueueStatistics>& queue = queues[number++];
                if (!answered || !queue) {
                    file.add_failure();
                    continue;
                }
                const auto signed_number = [](std::uint64_t value) {
                    return static_cast<std::int64_t>(value);
                };
                file.add(std::array{t_ns, signed_number(queue->backlog_bytes),
                                    signed_number(queue->backlog_packets), signed_number(queue->drops),
                                    signed_number(queue->sent_bytes), signed_number(queue->overlimits)});
            }
            return answered; // an interface that is gone may come back
        });
}

QueueTrace read_queue_trace(const std::filesystem::path& path) {
    const LaneTable table = read_lane_file(path, queue_columns);
    QueueTrace trace;
    trace.start_monotonic_ns = table.start_monotonic_ns;
    trace.interface = table.interface;
    trace.kind = table.fact("queueing_discipline");
    for (const std::vector<std::int64_t>& row : table.rows) {
        const auto count = [&](std::size_t column) { return static_cast<std::uint64_t>(row[column]); };
        trace.samples.push_back({row[0], count(1), count(2), count(3), count(4), count(5)});
    }
    return trace;
}

} // namespace collectors
