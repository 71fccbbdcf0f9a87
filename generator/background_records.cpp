#include "generator/background_records.hpp"

#include <algorithm>
#include <fmt/compile.h>
#include <fmt/format.h>
#include <iterator>

namespace generator {
namespace {

/// A time of a rank, from the job's start on its clock, on rank 0's clock.
class CommonTime {
public:
    CommonTime(const RankBackground& rank, std::int64_t origin_ns) : rank_(rank), origin_ns_(origin_ns) {}

    std::int64_t of(std::int64_t time_ns) const {
        const std::int64_t on_host = rank_.start_monotonic_ns + time_ns;
        return on_host + rank_.clock.offset_at(on_host).count() - origin_ns_;
    }

private:
    const RankBackground& rank_;
    std::int64_t origin_ns_;
};

std::optional<FlowEnd> take_end(std::vector<FlowEnd>& ends, std::uint32_t flow) {
    for (FlowEnd& end : ends)
        if (end.flow == flow)
            return std::move(end);
    return std::nullopt;
}

std::vector<MessageRecord> message_records(FlowMessages sequence, const FlowRecord& record,
                                           const CommonTime& sender, const CommonTime& receiver) {
    std::vector<MessageRecord> messages;
    messages.reserve(record.sent->times_ns.size());
    for (std::size_t i = 0; i < record.sent->times_ns.size(); ++i) {
        const BackgroundMessage message = sequence.next();
        messages.push_back({message.bytes, message.query, sender.of(message.due.count()),
                            sender.of(record.sent->times_ns[i]),
                            record.received && i < record.received->times_ns.size()
                                ? std::optional(receiver.of(record.received->times_ns[i]))
                                : std::nullopt});
    }
    return messages;
}

bool crosses(const BackgroundFlow& flow, const std::vector<int>& ranks, collectors::Direction direction,
             bool loopback) {
    const auto here = [&](int rank) { return std::find(ranks.begin(), ranks.end(), rank) != ranks.end(); };
    if (loopback)
        return here(flow.from) && here(flow.to);
    return direction == collectors::Direction::tx ? here(flow.from) && !here(flow.to)
                                                  : here(flow.to) && !here(flow.from);
}

} // namespace

std::vector<FlowRecord> flow_records(const Profile& profile, std::vector<RankBackground> ranks) {
    const int world_size = static_cast<int>(ranks.size());
    const std::int64_t origin_ns =
        ranks.empty()
            ? 0
            : ranks[0].start_monotonic_ns + ranks[0].clock.offset_at(ranks[0].start_monotonic_ns).count();
    std::vector<FlowRecord> records;
    for (const BackgroundFlow& flow : background_flows(profile.background, world_size)) {
        RankBackground& from = ranks[static_cast<std::size_t>(flow.from)];
        RankBackground& to = ranks[static_cast<std::size_t>(flow.to)];
        const FlowMessages sequence(profile.background[flow.entry], flow, profile.run.seed, world_size);
        FlowRecord record{.flow = flow, .sent = {}, .received = {}, .planned = {}, .messages = {}};
        if (to.report)
            record.received = take_end(to.report->received, flow.number);
        if (from.report) {
            record.sent = take_end(from.report->sent, flow.number);
            record.planned = offered(sequence, nanoseconds(from.report->ended_ns));
            record.seconds = 1e-9 * static_cast<double>(from.report->ended_ns);
        }
        if (record.sent)
            record.messages = message_records(sequence, record, {from, origin_ns}, {to, origin_ns});
        for (std::optional<FlowEnd>* end : {&record.sent, &record.received})
            if (*end)
                (*end)->times_ns = {};
        records.push_back(std::move(record));
    }
    return records;
}

OtherPayload background_payload(const std::vector<FlowRecord>& flows, const std::vector<int>& ranks,
                                collectors::Direction direction, std::int64_t from_ns, std::int64_t to_ns,
                                bool loopback) {
    OtherPayload payload;
    for (const FlowRecord& record : flows) {
        if (!crosses(record.flow, ranks, direction, loopback))
            continue;
        if (!record.sent) {
            payload.most_bytes.reset();
            continue;
        }
        std::uint64_t most = 0;
        std::uint64_t recorded = 0;
        for (const MessageRecord& message : record.messages) {
            recorded += message.bytes;
            if (message.start_ns >= to_ns || (message.end_ns && *message.end_ns <= from_ns))
                continue;
            most += message.bytes;
            ++payload.messages;
            if (message.start_ns >= from_ns && message.end_ns && *message.end_ns <= to_ns)
                payload.least_bytes += message.bytes;
        }
        // Of messages without times, and of the one that was cut, no more crossed than was sent.
        most =
            std::min(record.sent->bytes, most + record.sent->bytes - std::min(record.sent->bytes, recorded));
        if (payload.most_bytes)
            *payload.most_bytes += most;
    }
    return payload;
}

std::string background_csv(const std::vector<FlowRecord>& flows,
                           const std::vector<BackgroundEntry>& background) {
    std::string csv = "entry,flow,from,to,message,query,bytes,due_ns,start_ns,end_ns\n";
    const auto out = std::back_inserter(csv);
    for (const FlowRecord& record : flows) {
        const std::string flow = fmt::format("{},{},{},{}", background[record.flow.entry].name,
                                             record.flow.number, record.flow.from, record.flow.to);
        for (std::size_t i = 0; i < record.messages.size(); ++i) {
            const MessageRecord& message = record.messages[i];
            fmt::format_to(out, FMT_COMPILE("{},{},{},{},{},{},"), flow, i, message.query, message.bytes,
                           message.due_ns, message.start_ns);
            if (message.end_ns)
                fmt::format_to(out, FMT_COMPILE("{}"), *message.end_ns);
            csv += '\n';
        }
    }
    return csv;
}

} // namespace generator
