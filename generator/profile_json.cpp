#include "generator/profile_reader.hpp"
#include "generator/profile_sections.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <string>

// A profile as text again: the effective JSON and its hash.
namespace generator {
namespace {

using nlohmann::json;

template <typename Value>
json or_null(const std::optional<Value>& value) {
    return value ? json(*value) : json(nullptr);
}

json bits_or_null(const std::optional<BitRate>& rate) {
    return rate ? json(rate->bits_per_second) : json(nullptr);
}

std::int64_t in_nanoseconds(nanoseconds time) {
    return time.count();
}

json ranks_json(const std::vector<int>& ranks) {
    return ranks.empty() ? json("all") : json(ranks);
}

json sizes_json(const MessageSizes& sizes) {
    const auto whole = [](double bytes) { return static_cast<std::uint64_t>(bytes); };
    if (sizes.kind == MessageSizes::Kind::fixed) {
        return whole(sizes.mean_bytes);
    }
    if (sizes.kind == MessageSizes::Kind::pareto) {
        return {{"distribution", "pareto"},
                {"mean", whole(sizes.mean_bytes)},
                {"shape", sizes.shape},
                {"most", whole(sizes.most_bytes)}};
    }
    json points = json::array();
    for (const CdfPoint& point : sizes.points) {
        points.push_back(json::array({point.bytes, point.probability}));
    }
    return {{"cdf", points}};
}

json sockets_json(const SocketSettings& sockets) {
    return {{"congestion_control", sockets.congestion_control},
            {"dscp", or_null(sockets.dscp)},
            {"pacing_rate_bits_per_second", bits_or_null(sockets.pacing_rate)},
            {"send_buffer_bytes", or_null(sockets.send_buffer_bytes)},
            {"receive_buffer_bytes", or_null(sockets.receive_buffer_bytes)},
            {"no_delay", sockets.no_delay}};
}

json background_json(const std::vector<BackgroundEntry>& background) {
    json list = json::array();
    for (const BackgroundEntry& entry : background) {
        const bool incast = entry.pattern == BackgroundPattern::incast;
        json each = sockets_json(entry.sockets);
        each["name"] = entry.name;
        each["pattern"] = choice_name(background_pattern_names, entry.pattern);
        each["from"] = ranks_json(entry.from);
        each["to"] = ranks_json(entry.to);
        each["rate_bits_per_second"] = incast ? json(nullptr) : json(entry.rate.bits_per_second);
        each["message"] = sizes_json(entry.sizes);
        each["queries_per_second"] = incast ? json(entry.queries_per_second) : json(nullptr);
        each["fan_in"] = or_null(entry.fan_in);
        list.push_back(std::move(each));
    }
    return list;
}

json ports_json(const PortRange& ports) {
    return ports.first == 0 ? "auto" : fmt::format("{}-{}", ports.first, ports.last);
}

json model_json(const Profile& profile) {
    const std::string& file = profile.model_file.empty() ? profile.model.name : profile.model_file;
    return {{"tensors", file.empty() ? json(nullptr) : json(file)},
            {"element_type", choice_name(element_type_names, profile.element_type)}};
}

json curve_json(const Profile& profile) {
    if (profile.ready_curve != ReadyCurve::points) {
        return choice_name(ready_curve_names, profile.ready_curve);
    }
    json points = json::array();
    for (const CurvePoint& point : profile.curve_points) {
        points.push_back({point.backward, point.bytes});
    }
    return points;
}

json jitter_json(const Jitter& jitter) {
    return {{"drift_sd", jitter.drift_sd},
            {"drift_rho", jitter.drift_rho},
            {"white_sd", jitter.white_sd},
            {"heavy_tail",
             {{"probability", jitter.heavy_tail.probability},
              {"factor", jitter.heavy_tail.factor},
              {"shape", jitter.heavy_tail.shape}}}};
}

json stalls_json(const InputStalls& stalls) {
    json result{{"time_ns", in_nanoseconds(stalls.time)}};
    if (stalls.every > 0) {
        result["every"] = stalls.every;
    } else {
        result["probability"] = stalls.probability;
    }
    return stalls == InputStalls{} ? json(nullptr) : result;
}

json stragglers_json(const std::vector<Straggler>& stragglers) {
    json list = json::array();
    for (const Straggler& straggler : stragglers) {
        list.push_back({{"ranks", straggler.ranks},
                        {"factor", straggler.factor},
                        {"from", straggler.from},
                        {"to", or_null(straggler.to)},
                        {"probability", straggler.probability}});
    }
    return list;
}

json compute_json(const Profile& profile) {
    return {{"forward_ns", in_nanoseconds(profile.compute.forward)},
            {"backward_ns", in_nanoseconds(profile.compute.backward)},
            {"optimizer_ns", in_nanoseconds(profile.compute.optimizer)},
            {"accumulation_steps", profile.accumulation_steps},
            {"ready_curve", curve_json(profile)},
            {"jitter", jitter_json(profile.jitter)},
            {"input_stalls", stalls_json(profile.input_stalls)},
            {"stragglers", stragglers_json(profile.stragglers)}};
}

json groups_json(const std::vector<Group>& groups) {
    json result = json::object();
    for (const Group& group : groups) {
        result[group.name] = group.members;
    }
    return result;
}

json bucket_json(const ExplicitBucket& bucket, const std::vector<Group>& groups) {
    json needed_at(nullptr);
    if (bucket.needed_at) {
        needed_at = in_nanoseconds(*bucket.needed_at);
    }
    return {{"bytes", bucket.bytes},
            {"ready_after_ns", in_nanoseconds(bucket.ready_after)},
            {"needed_at_ns", needed_at},
            {"collective", choice_name(collective_names, bucket.collective)},
            {"group", bucket.group == 0 ? std::string("all") : groups[bucket.group - 1].name},
            {"repeat", bucket.repeat},
            {"every_ns", in_nanoseconds(bucket.every)}};
}

json gradients_json(const Profile& profile) {
    const GradientSettings& gradients = profile.gradients;
    json buckets = json::array();
    for (const ExplicitBucket& bucket : gradients.buckets) {
        buckets.push_back(bucket_json(bucket, profile.groups));
    }
    return {{"bucketing", choice_name(bucketing_names, gradients.bucketing)},
            {"first_bucket_bytes", gradients.first_bucket_bytes},
            {"bucket_cap_bytes", gradients.bucket_cap_bytes},
            {"fusion_threshold", gradients.fusion_threshold},
            {"cycle_time_ns", in_nanoseconds(gradients.cycle_time)},
            {"partition_bytes", gradients.partition_bytes},
            {"first_iteration_single", gradients.first_iteration_single},
            {"overlap", gradients.overlap},
            {"broadcast_buffers", gradients.broadcast_buffers},
            {"sharding", choice_name(sharding_names, gradients.sharding)},
            {"prefetch", gradients.prefetch},
            {"buckets", buckets}};
}

json collective_json(const CollectiveSettings& collective) {
    return {{"algorithm", choice_name(algorithm_names, collective.algorithm)},
            {"service", choice_name(service_names, collective.service)},
            {"server_rank", collective.server_rank},
            {"channels", collective.channels},
            {"sockets_per_channel", collective.sockets_per_channel},
            {"in_flight", collective.in_flight},
            {"segment_bytes", collective.segment_bytes}};
}

json network_json(const NetworkSettings& network) {
    json settings = sockets_json(network.sockets);
    settings["interfaces"] = network.interfaces;
    settings["ports"] = ports_json(network.ports);
    settings["line_rate_bits_per_second"] = bits_or_null(network.line_rate);
    settings["connect_timeout_ns"] = in_nanoseconds(network.connect_timeout);
    settings["stall_timeout_ns"] = in_nanoseconds(network.stall_timeout);
    return settings;
}

json run_json(const RunSettings& run) {
    json duration(nullptr);
    if (run.duration) {
        duration = in_nanoseconds(*run.duration);
    }
    return {{"iterations", or_null(run.iterations)},
            {"duration_ns", duration},
            {"warmup", run.warmup},
            {"seed", run.seed},
            {"verify", run.verify},
            {"dry_run", run.dry_run},
            {"json", run.json},
            {"overwrite", run.overwrite},
            {"out", run.out}};
}

json effective(const Profile& profile) {
    return {{"name", profile.name},
            {"description", profile.description},
            {"model", model_json(profile)},
            {"compute", compute_json(profile)},
            {"groups", groups_json(profile.groups)},
            {"gradients", gradients_json(profile)},
            {"collective", collective_json(profile.collective)},
            {"network", network_json(profile.network)},
            {"background", background_json(profile.background)},
            {"scale",
             {{"bytes", profile.scale.bytes},
              {"time", profile.scale.time},
              {"reference_rate_bits_per_second", bits_or_null(profile.scale.reference_rate)}}},
            {"run", run_json(profile.run)},
            {"expect", profile.expect},
            {"sampling",
             {{"interval_ns", in_nanoseconds(profile.sampling.interval)},
              {"tcp_info", profile.sampling.tcp_info}}}};
}

/// 64-bit FNV-1a, http://www.isthe.com/chongo/tech/comp/fnv/.
class Fnv1a {
public:
    void add(std::string_view text) {
        for (const char character : text) {
            hash_ ^= static_cast<unsigned char>(character);
            hash_ *= 0x100000001b3;
        }
    }
    std::uint64_t value() const { return hash_; }

private:
    std::uint64_t hash_ = 0xcbf29ce484222325;
};

} // namespace

std::string effective_profile_json(const Profile& profile) {
    // A name that comes from a file's name need not be UTF-8.
    return effective(profile).dump(2, ' ', false, json::error_handler_t::replace);
}

std::string profile_hash(const Profile& profile) {
    json settings = effective(profile);
    settings.erase("name");
    settings.erase("description");
    settings.erase("expect");
    settings["model"].erase("tensors");
    for (const char* key : {"out", "json", "overwrite", "dry_run"}) {
        settings["run"].erase(key);
    }
    settings["sampling"].erase("tcp_info");
    if (profile.background.empty()) { // the hash of such a profile is older than the section
        settings.erase("background");
    }
    Fnv1a hash;
    hash.add(settings.dump());
    hash.add(
        fmt::format("\n{} {}\n", profile.model.buffer_fp32_elements, profile.model.buffer_int64_elements));
    for (const Tensor& tensor : profile.model.tensors) {
        hash.add(fmt::format("{} {} {} {} {} {}\n", tensor.name, tensor.elements, tensor.ready_order,
                             tensor.ready_arithmetic, tensor.ready_fp32, tensor.ready_tensor));
    }
    for (const ModelUnit& unit : profile.model.units) {
        hash.add(fmt::format("unit {} {}\n", unit.name, unit.tensors));
    }
    return fmt::format("{:016x}", hash.value());
}

} // namespace generator
