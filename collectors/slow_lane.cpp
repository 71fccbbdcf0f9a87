#include "collectors/slow_lane.hpp"

#include "collectors/link_statistics.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/queue_statistics.hpp"
#include "collectors/tcp_statistics.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace collectors {

namespace {

constexpr std::string_view slow_lane_format = "gradburst-slow/1";
constexpr std::size_t column_count = 15;
constexpr std::size_t backlog_column = 6;
constexpr std::size_t first_tcp_column = 9;

using Row = std::array<std::int64_t, column_count>;

constexpr std::array<LaneColumn, column_count> slow_lane_columns{{
    {"t_ns", "ns", "when it was read, CLOCK_MONOTONIC, from start_monotonic_ns"},
    {"rx_drops", "packets", "dropped on arrival: no room, or nobody to take them"},
    {"tx_drops", "packets", "dropped by the device on their way out"},
    {"rx_errors", "packets", "arrived damaged"},
    {"tx_errors", "packets", "could not be sent"},
    {"rx_missed", "packets", "lost because the host was too slow for the device"},
    {"queue_backlog_bytes", "bytes", "waiting in the outgoing queue at that moment"},
    {"queue_drops", "packets", "dropped by the outgoing queue"},
    {"queue_sent_bytes", "bytes", "left the outgoing queue, headers of each segment included"},
    {"tcp_sent_segments", "segments", "of all connections of the network namespace"},
    {"tcp_retransmits", "segments", "sent again"},
    {"tcp_timeouts", "events", "retransmission timers that ran out"},
    {"tcp_loss_probes", "events", "tail loss probes sent"},
    {"ecn_marks_received", "packets", "arrived with the mark CE: a queue on their way was long"},
    {"ecn_marks_echoed", "packets", "sent packets of which the receiver said that they were marked"},
}};

std::int64_t known(const std::optional<std::int64_t>& value) {
    return value.value_or(-1);
}

std::int64_t whole(std::uint64_t value) {
    return static_cast<std::int64_t>(value);
}

/// Something that is asked for until it was silent too often: each silence costs a second.
class SlowPart {
public:
    explicit SlowPart(const char* name) : name_(name) {}

    /// `ask()` returns 0, or an errno.
    template <typename Ask>
    void ask(Ask ask) {
        if (silent_ >= most_silent_readings)
            return;
        error_ = ask();
        silent_ = error_ == 0 ? 0 : silent_ + 1;
    }
    bool answered() const { return error_ == 0; }
    /// Says so once.
    std::string given_up() {
        if (told_ || silent_ < most_silent_readings)
            return {};
        told_ = true;
        return std::string(name_) + " not known any more: the kernel gave no answer (" +
               std::strerror(error_) + ")";
    }

private:
    const char* name_;
    int error_ = 0;
    int silent_ = 0;
    bool told_ = false;
};

/// Everything that the lane reads, once for all interfaces.
class SlowReader {
public:
    explicit SlowReader(const std::vector<std::string>& interfaces)
        : links_(interfaces), queues_(interfaces), queue_values_(interfaces.size()),
          link_values_(interfaces.size()) {}

    /// False if nobody answered at all.
    bool read() {
        link_part_.ask([&] { return links_.read(link_values_); });
        queue_part_.ask([&] { return queues_.read(queue_values_); });
        tcp_values_ = tcp_.read();
        return link_part_.answered() || queue_part_.answered() || tcp_values_.sent_segments.has_value();
    }

    /// The parts that are given up since the last call, and why.
    std::vector<std::string> given_up() {
        std::vector<std::string> parts{link_part_.given_up(), queue_part_.given_up()};
        std::erase(parts, std::string());
        return parts;
    }

    Row row(std::size_t interface, std::int64_t t_ns) const {
        Row row;
        row.fill(-1);
        row[0] = t_ns;
        if (const auto& link = link_values_[interface]; link_part_.answered() && link) {
            row[1] = whole(link->rx_drops);
            row[2] = whole(link->tx_drops);
            row[3] = whole(link->rx_errors);
            row[4] = whole(link->tx_errors);
            row[5] = whole(link->rx_missed);
        }
        if (const auto& queue = queue_values_[interface]; queue_part_.answered() && queue) {
            row[backlog_column] = whole(queue->backlog_bytes);
            row[7] = whole(queue->drops);
            row[8] = whole(queue->sent_bytes);
        }
        row[first_tcp_column] = known(tcp_values_.sent_segments);
        row[10] = known(tcp_values_.retransmitted_segments);
        row[11] = known(tcp_values_.timeouts);
        row[12] = known(tcp_values_.loss_probes);
        row[13] = known(tcp_values_.congestion_marks_received);
        row[14] = known(tcp_values_.congestion_marks_echoed);
        return row;
    }

private:
    LinkReader links_;
    QueueReader queues_;
    TcpReader tcp_;
    std::vector<std::optional<QueueStatistics>> queue_values_;
    std::vector<std::optional<LinkStatistics>> link_values_;
    TcpStatistics tcp_values_;
    SlowPart link_part_{"drops and errors"};
    SlowPart queue_part_{"queue"};
};

} // namespace

std::filesystem::path slow_path(const std::filesystem::path& trace_path) {
    return std::filesystem::path(trace_path).replace_extension(".slow.csv");
}

std::unique_ptr<Lane> start_slow_lane(const std::vector<std::string>& interfaces,
                                      const std::vector<std::filesystem::path>& paths, bool overwrite) {
    auto reader = std::make_shared<SlowReader>(interfaces); // shared, because std::function copies
    const std::int64_t start_ns = clock_ns();
    Lane::Files files;
    for (std::size_t i = 0; i < paths.size(); ++i)
        files.emplace_back(
            paths[i],
            LaneInfo{slow_lane_format,
                     interfaces[i],
                     {{"source", "RTM_GETSTATS, RTM_GETQDISC, /proc/net/snmp, /proc/net/netstat"},
                      {"note", "-1: not known; it explains a trace and never enters E(tau)"}},
                     slow_lane_columns,
                     std::chrono::nanoseconds(slow_lane_interval).count(),
                     start_ns},
            overwrite);
    return std::make_unique<Lane>(std::move(files), slow_lane_interval, start_ns,
                                  [reader, start_ns](Lane::Files& lanes) {
                                      const bool answered = reader->read();
                                      const std::int64_t t_ns = clock_ns() - start_ns;
                                      for (const std::string& part : reader->given_up())
                                          for (LaneFile& file : lanes)
                                              file.give_up(part);
                                      std::size_t number = 0;
                                      for (LaneFile& file : lanes)
                                          if (answered)
                                              file.add(reader->row(number++, t_ns));
                                          else
                                              file.add_failure();
                                      return answered;
                                  });
}

std::vector<SlowTotal> slow_totals(const std::filesystem::path& path) {
    const LaneTable table = read_lane_file(path, slow_lane_columns);
    std::vector<SlowTotal> totals;
    for (std::size_t column = 1; column < column_count; ++column) {
        SlowTotal total{std::string(slow_lane_columns[column].name),
                        std::string(slow_lane_columns[column].unit), std::nullopt, column == backlog_column,
                        column >= first_tcp_column};
        std::int64_t sum = 0;
        std::optional<std::int64_t> previous;
        for (const std::vector<std::int64_t>& row : table.rows) {
            const std::int64_t value = row[column];
            if (value < 0)
                continue;
            if (total.is_level)
                sum = std::max(sum, value);
            else if (previous)
                sum += value >= *previous ? value - *previous : value;
            previous = value;
        }
        if (!previous)
            continue;
        if (table.rows.front()[column] >= 0 && table.rows.back()[column] >= 0)
            total.total = sum;
        totals.push_back(std::move(total));
    }
    return totals;
}

} // namespace collectors
