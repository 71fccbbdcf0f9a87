#include "generator/background_results.hpp"

#include "generator/json_values.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace generator {
namespace {

using Seconds = std::vector<double>;

double in_seconds(std::int64_t time_ns) {
    return 1e-9 * static_cast<double>(time_ns);
}

/// Sums up the flows of one entry.
class EntryResult {
public:
    EntryResult(const Profile& profile, std::uint32_t number, int world_size)
        : profile_(profile), entry_(profile.background[number]), number_(number), world_size_(world_size) {}

    void add(const FlowRecord& record) {
        ++result_.flows;
        result_.asked_bits_per_second += mean_rate(entry_, world_size_, record.flow.to);
        if (record.sent)
            add_sender(record);
        else
            silent_.insert(record.flow.from);
        if (record.received)
            add_receiver(record);
        else
            silent_.insert(record.flow.to);
        for (const MessageRecord& message : record.messages)
            add_message(record, message);
    }

    BackgroundEntryResult finish() {
        if (any_sender_) {
            result_.offered_bits_per_second = offered_;
            result_.received_bits_per_second = received_;
        }
        result_.start_lateness_seconds = distribution(std::move(lateness_));
        result_.completion_seconds = distribution(std::move(completions_));
        for (std::size_t i = 0; i < by_size_.size(); ++i)
            result_.by_size[i] = times(std::move(by_size_[i]));
        if (entry_.pattern == BackgroundPattern::incast)
            add_queries();
        result_.silent.assign(silent_.begin(), silent_.end());
        return std::move(result_);
    }

private:
    struct Query {
        std::size_t answers = 0;
        std::int64_t due_ns = 0;
        std::int64_t end_ns = 0;
    };

    void add_sender(const FlowRecord& record) {
        any_sender_ = true;
        result_.planned.messages += record.planned.messages;
        result_.planned.bytes += record.planned.bytes;
        result_.sent.messages += record.sent->messages;
        result_.sent.bytes += record.sent->bytes;
        result_.without_times +=
            record.sent->messages - std::min<std::uint64_t>(record.sent->messages, record.messages.size());
        lose(record.flow.from, record.sent->error);
        add_use(result_.sockets, record.flow.from, record.sent->sockets, entry_.sockets);
        double& until = seconds_of_client_[record.flow.to];
        until = std::max(until, record.seconds);
        if (record.seconds > 0)
            offered_ += 8 * static_cast<double>(record.planned.bytes) / record.seconds;
    }

    void add_receiver(const FlowRecord& record) {
        result_.received.messages += record.received->messages;
        result_.received.bytes += record.received->bytes;
        lose(record.flow.to, record.received->error);
        const std::uint64_t buffer = record.received->sockets.receive_buffer_bytes;
        result_.receive_buffer_bytes =
            result_.receive_buffer_bytes == 0 ? buffer : std::min(result_.receive_buffer_bytes, buffer);
        if (record.sent && record.seconds > 0)
            received_ += 8 * static_cast<double>(record.received->bytes) / record.seconds;
    }

    void lose(int rank, const std::string& error) {
        if (!error.empty())
            result_.lost[error].push_back(rank);
    }

    void add_message(const FlowRecord& record, const MessageRecord& message) {
        lateness_.push_back(in_seconds(message.start_ns - message.due_ns));
        if (!message.end_ns)
            return;
        completions_.push_back(in_seconds(message.completion_ns()));
        const auto size = std::find_if(size_classes.begin(), size_classes.end(), [&](const SizeClass& each) {
            return message.bytes <= each.most_bytes;
        });
        by_size_[static_cast<std::size_t>(size - size_classes.begin())].push_back(completions_.back());
        Query& query = queries_[{record.flow.to, message.query}];
        query.due_ns = query.answers == 0 ? message.due_ns : std::min(query.due_ns, message.due_ns);
        query.end_ns = std::max(query.end_ns, *message.end_ns);
        ++query.answers;
    }

    void add_queries() {
        for (const auto& [client, seconds] : seconds_of_client_)
            result_.queries_planned += queries_within(entry_, number_, client, profile_.run.seed,
                                                      nanoseconds(std::llround(1e9 * seconds)));
        Seconds complete;
        for (const auto& [place, query] : queries_) {
            const std::size_t servers = servers_of(entry_, place.first, world_size_).size();
            if (query.answers == std::min<std::size_t>(entry_.fan_in.value_or(servers), servers))
                complete.push_back(in_seconds(query.end_ns - query.due_ns));
        }
        result_.queries = times(std::move(complete));
    }

    static CompletionTimes times(Seconds seconds) {
        const auto count = static_cast<std::uint64_t>(seconds.size());
        return {count, distribution(std::move(seconds))};
    }

    const Profile& profile_;
    const BackgroundEntry& entry_;
    std::uint32_t number_;
    int world_size_;
    BackgroundEntryResult result_;
    bool any_sender_ = false;
    double offered_ = 0;
    double received_ = 0;
    Seconds lateness_;
    Seconds completions_;
    std::array<Seconds, size_classes.size()> by_size_;
    std::map<std::pair<int, std::uint64_t>, Query> queries_; ///< by client and number
    std::map<int, double> seconds_of_client_;
    std::set<int> silent_;
};

using Json = nlohmann::ordered_json;

Json count_json(const BackgroundCount& count) {
    Json json;
    json["messages"] = count.messages;
    json["bytes"] = count.bytes;
    return json;
}

Json entry_json(const BackgroundEntryResult& result, const BackgroundEntry& entry) {
    Json json;
    json["name"] = entry.name;
    json["flows"] = result.flows;
    json["planned"] = count_json(result.planned);
    json["sent"] = count_json(result.sent);
    json["received"] = count_json(result.received);
    json["asked_bits_per_second"] = result.asked_bits_per_second;
    json["offered_bits_per_second"] = or_null(result.offered_bits_per_second);
    json["received_bits_per_second"] = or_null(result.received_bits_per_second);
    json["start_lateness_seconds"] = distribution_json(result.start_lateness_seconds);
    json["completion_seconds"] = distribution_json(result.completion_seconds);
    json["by_size"] = Json::array();
    for (std::size_t i = 0; i < size_classes.size(); ++i) {
        Json each;
        each["size"] = size_classes[i].name;
        each["messages"] = result.by_size[i].messages;
        each["completion_seconds"] = distribution_json(result.by_size[i].seconds);
        json["by_size"].push_back(std::move(each));
    }
    json["queries"] = Json();
    if (entry.pattern == BackgroundPattern::incast) {
        json["queries"]["planned"] = result.queries_planned;
        json["queries"]["complete"] = result.queries.messages;
        json["queries"]["completion_seconds"] = distribution_json(result.queries.seconds);
    }
    json["messages_without_times"] = result.without_times;
    json["lost_connections"] = Json::array();
    for (const auto& [error, ranks] : result.lost) {
        Json each;
        each["error"] = error;
        each["ranks"] = ranks;
        json["lost_connections"].push_back(std::move(each));
    }
    json["ranks_without_answer"] = result.silent;
    json["sockets"] = Json::array();
    for (const SocketUse& use : result.sockets) {
        Json each;
        each["ranks"] = use.ranks;
        each["congestion_control"] = use.state.congestion_control;
        each["dscp"] = use.state.dscp;
        each["pacing_rate_bits_per_second"] =
            use.state.pacing_rate ? Json(use.state.pacing_rate->bits_per_second) : Json();
        each["send_buffer_bytes"] =
            entry.sockets.send_buffer_bytes ? Json(use.state.send_buffer_bytes / 2) : Json();
        each["receive_buffer_bytes"] =
            entry.sockets.receive_buffer_bytes ? Json(result.receive_buffer_bytes / 2) : Json();
        each["no_delay"] = use.state.no_delay;
        json["sockets"].push_back(std::move(each));
    }
    return json;
}

} // namespace

std::vector<BackgroundEntryResult> background_results(const std::vector<FlowRecord>& flows,
                                                      const Profile& profile, int world_size) {
    std::vector<EntryResult> entries;
    for (std::uint32_t i = 0; i < profile.background.size(); ++i)
        entries.emplace_back(profile, i, world_size);
    for (const FlowRecord& record : flows)
        entries[record.flow.entry].add(record);
    std::vector<BackgroundEntryResult> results;
    for (EntryResult& entry : entries)
        results.push_back(entry.finish());
    return results;
}

std::vector<std::string> background_warnings(const std::vector<BackgroundEntryResult>& results,
                                             const std::vector<BackgroundEntry>& background) {
    constexpr double far_behind = 0.95;
    std::vector<std::string> warnings;
    for (std::size_t i = 0; i < results.size(); ++i) {
        const BackgroundEntryResult& result = results[i];
        const auto warn = [&](const std::string& text) {
            warnings.push_back(fmt::format("BACKGROUND \"{}\": {}", background[i].name, text));
        };
        for (const auto& [error, ranks] : result.lost)
            warn(fmt::format("CONNECTIONS LOST on rank {}: {}", fmt::join(ranks, ", "), error));
        if (!result.silent.empty())
            warn(fmt::format("NO ANSWER from rank {}: its flows are not counted at that end",
                             fmt::join(result.silent, ", ")));
        else if (result.lost.empty() && result.sent.bytes != result.received.bytes)
            warn(
                fmt::format("{} B SENT BUT {} B RECEIVED: the rest was still under way seconds after the end",
                            result.sent.bytes, result.received.bytes));
        if (static_cast<double>(result.received.bytes) <
            far_behind * static_cast<double>(result.planned.bytes))
            warn(fmt::format("BEHIND: {} B of the {} B that fell due were received; the network or a host is "
                             "too slow for it",
                             result.received.bytes, result.planned.bytes));
        if (result.without_times > 0)
            warn(fmt::format("{} MESSAGES WITHOUT TIMES: a run keeps those of {}; they are missing in "
                             "background.csv and in the completion times",
                             result.without_times, most_message_times));
        SocketSettings asked = background[i].sockets;
        std::vector<SocketUse> uses = result.sockets;
        for (SocketUse& use : uses)
            use.state.receive_buffer_bytes = result.receive_buffer_bytes;
        for (const std::string& warning : socket_warnings(uses, asked))
            warn(warning);
    }
    return warnings;
}

Json background_results_json(const std::vector<BackgroundEntryResult>& results,
                             const std::vector<BackgroundEntry>& background) {
    if (background.empty())
        return {};
    Json json;
    json["meaning"] =
        "traffic beside the collectives, in nothing else that counts bytes of the job; the prediction is of "
        "the collectives alone. planned: due before the senders stopped, by the seed; "
        "completion: from when a message was due at its sender to its last byte read by the receiver, both "
        "clocks compared as in context.hosts; of messages that were complete at the end";
    json["entries"] = Json::array();
    for (std::size_t i = 0; i < results.size(); ++i)
        json["entries"].push_back(entry_json(results[i], background[i]));
    return json;
}

} // namespace generator
