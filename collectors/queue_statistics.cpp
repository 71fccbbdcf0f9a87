#include "collectors/queue_statistics.hpp"

#include "collectors/interface_index.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/route_attributes.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

namespace collectors {

namespace {

constexpr std::int64_t search_every_ns = 100'000'000;

void read_statistics(std::span<const std::byte> nested, QueueStatistics& statistics) {
    each_attribute(nested, [&](int type, std::span<const std::byte> content) {
        if (type == TCA_STATS_BASIC) {
            const auto basic = read_struct<gnet_stats_basic>(content);
            statistics.sent_bytes = basic.bytes;
            if (statistics.sent_packets == 0)
                statistics.sent_packets = basic.packets;
        } else if (type == TCA_STATS_PKT64) {
            statistics.sent_packets = read_struct<std::uint64_t>(content);
        } else if (type == TCA_STATS_QUEUE) {
            const auto queue = read_struct<gnet_stats_queue>(content);
            statistics.backlog_bytes = queue.backlog;
            statistics.backlog_packets = queue.qlen;
            statistics.drops = queue.drops;
            statistics.overlimits = queue.overlimits;
        }
    });
}

} // namespace

std::optional<QueueStatistics> root_queue(const nlmsghdr& message, unsigned index) {
    if (message.nlmsg_type != RTM_NEWQDISC || message.nlmsg_len < NLMSG_LENGTH(sizeof(tcmsg)))
        return std::nullopt;
    tcmsg queue{};
    std::memcpy(&queue, NLMSG_DATA(&message), sizeof queue);
    if (queue.tcm_ifindex != static_cast<int>(index) || queue.tcm_parent != TC_H_ROOT)
        return std::nullopt;
    QueueStatistics statistics;
    each_attribute(attributes_of<tcmsg>(message), [&](int type, std::span<const std::byte> content) {
        if (type == TCA_KIND && !content.empty())
            statistics.kind.assign(reinterpret_cast<const char*>(content.data()),
                                   ::strnlen(reinterpret_cast<const char*>(content.data()), content.size()));
        else if (type == TCA_STATS2)
            read_statistics(content, statistics);
    });
    return statistics;
}

QueueReader::QueueReader(std::vector<std::string> interfaces) : interfaces_(std::move(interfaces)) {
    for (const std::string& interface : interfaces_) {
        const unsigned index = interface_index(socket_, interface);
        if (index == 0)
            throw std::system_error(ENODEV, std::generic_category(),
                                    "find the queue of interface " + interface);
        indexes_.push_back(index);
    }
}

QueueReader::QueueReader(std::vector<std::string> interfaces, std::vector<unsigned> indexes, int socket,
                         std::chrono::milliseconds wait)
    : socket_(socket, wait), interfaces_(std::move(interfaces)), indexes_(std::move(indexes)) {}

std::string queue_kind(const std::string& interface) {
    try {
        std::array<std::optional<QueueStatistics>, 1> queue;
        if (QueueReader({interface}).read(queue) == 0 && queue[0])
            return queue[0]->kind;
    } catch (const std::system_error&) {
        // Without rtnetlink (a sandbox) the order of queue and counter is still known.
    }
    return "kind unknown";
}

std::string counter_side(const std::string& interface) {
    return "tx_bytes: what left this interface's queue (" + queue_kind(interface) +
           "); rx_bytes: what arrived, after the queues of the sender and of switches";
}

int QueueReader::read(std::span<std::optional<QueueStatistics>> queues) noexcept {
    const int error = socket_.twice([&] { return dump(queues); });
    if (error == 0)
        find_lost(queues);
    return error;
}

int QueueReader::dump(std::span<std::optional<QueueStatistics>> queues) noexcept {
    struct {
        nlmsghdr header;
        tcmsg queue;
    } request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_GETQDISC;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.queue.tcm_family = AF_UNSPEC;
    std::fill(queues.begin(), queues.end(), std::nullopt);
    return socket_.ask(request.header, [&](const nlmsghdr& message) {
        for (std::size_t i = 0; i < indexes_.size(); ++i)
            if (std::optional<QueueStatistics> queue = root_queue(message, indexes_[i]))
                queues[i] = std::move(queue);
    });
}

void QueueReader::find_lost(std::span<const std::optional<QueueStatistics>> queues) noexcept {
    if (std::find(queues.begin(), queues.end(), std::nullopt) == queues.end())
        return;
    const std::int64_t now = clock_ns();
    if (now < next_search_ns_)
        return;
    next_search_ns_ = now + search_every_ns;
    for (std::size_t i = 0; i < indexes_.size(); ++i)
        if (!queues[i])
            if (const unsigned index = interface_index(socket_, interfaces_[i]); index != 0)
                indexes_[i] = index;
}

} // namespace collectors
