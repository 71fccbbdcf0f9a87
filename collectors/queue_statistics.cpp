#include "collectors/queue_statistics.hpp"

#include "collectors/route_attributes.hpp"

#include <cerrno>
#include <system_error>

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>

namespace collectors {

namespace {

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

QueueReader::QueueReader(const std::string& interface) : index_(::if_nametoindex(interface.c_str())) {
    if (index_ == 0)
        throw std::system_error(errno, std::generic_category(), "find the queue of interface " + interface);
}

std::string counter_side(const std::string& interface) {
    std::string kind = "kind unknown";
    try {
        QueueStatistics statistics;
        if (QueueReader(interface).read(statistics) == 0)
            kind = statistics.kind;
    } catch (const std::system_error&) {
        // Without rtnetlink (a sandbox) the order of queue and counter is still known.
    }
    return "tx_bytes: what left this interface's queue (" + kind +
           "); rx_bytes: what arrived, after the queues of the sender and of switches";
}

int QueueReader::read(QueueStatistics& statistics) noexcept {
    const int error = dump(statistics);
    return error == EAGAIN || error == ENOBUFS ? dump(statistics) : error;
}

int QueueReader::dump(QueueStatistics& statistics) noexcept {
    struct {
        nlmsghdr header;
        tcmsg queue;
    } request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_GETQDISC;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.queue.tcm_family = AF_UNSPEC;
    request.queue.tcm_ifindex = static_cast<int>(index_);
    bool found = false;
    const int error = socket_.ask(request.header, [&](const nlmsghdr& message) {
        if (const std::optional<QueueStatistics> queue = root_queue(message, index_)) {
            statistics = *queue;
            found = true;
        }
    });
    return error != 0 || found ? error : ENODEV;
}

} // namespace collectors
