#include "generator/profile_sections.hpp"

#include "generator/profile_reader.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <limits>

namespace generator {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Range<std::uint64_t> segment_range{1024, std::uint64_t{1} << 30};
constexpr Range<std::uint64_t> buffer_range{4096, std::uint64_t{1} << 30}; // of a socket
constexpr Range<std::uint64_t> parallel_range{1, 64}; // of channels, sockets, collectives in flight
constexpr Range<std::uint64_t> counter_range{1, std::numeric_limits<std::uint32_t>::max()};
constexpr Range<double> scale_range{1e-9, 1e6};
constexpr Range<nanoseconds> long_range{milliseconds(1), hours(24 * 366)};
constexpr Range<nanoseconds> timeout_range{milliseconds(1), hours(1)};
constexpr std::string_view port_rule = "must be \"auto\", a port, or a range such as \"42000-42063\"";

/// A port number, 1 to 65535; 0 if `text` is none.
std::uint16_t port_number(std::string_view text) {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    return error == std::errc() && end == text.data() + text.size() ? port : std::uint16_t{0};
}

PortRange read_ports(ObjectReader& section) {
    const nlohmann::json* value = section.raw("ports");
    if (value == nullptr) {
        return {};
    }
    const std::string text = value->is_string() ? value->get<std::string>() : value->dump();
    if (value->is_string() && text == "auto") {
        return {};
    }
    const std::size_t dash = text.find('-');
    const PortRange range{port_number(text.substr(0, dash)),
                          port_number(dash == std::string::npos ? text : text.substr(dash + 1))};
    if (!(value->is_string() || value->is_number()) || range.first == 0 || range.last == 0) {
        section.fail("ports", fmt::format("{}, is {}", port_rule, shown(*value)));
    }
    if (range.last < range.first) {
        section.fail("ports", fmt::format("must not end before it starts, is {}", shown(*value)));
    }
    return range;
}

/// The kernel takes names of at most 15 characters.
std::string read_congestion_control(ObjectReader& section) {
    const std::string name = section.text("congestion_control").value_or("");
    constexpr std::string_view allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-";
    if (name.size() > 15 || name.find_first_not_of(allowed) != std::string::npos) {
        section.fail("congestion_control",
                     "must be the name of a kernel module such as \"cubic\" or \"bbr\"");
    }
    return name;
}

} // namespace

SocketSettings read_sockets(ObjectReader& section) {
    SocketSettings sockets;
    sockets.congestion_control = read_congestion_control(section);
    if (const auto dscp = section.count("dscp", {0, 63})) {
        sockets.dscp = static_cast<std::uint32_t>(*dscp);
    }
    sockets.pacing_rate = section.rate("pacing_rate");
    sockets.send_buffer_bytes = section.bytes("send_buffer_bytes", buffer_range);
    sockets.receive_buffer_bytes = section.bytes("receive_buffer_bytes", buffer_range);
    sockets.no_delay = section.flag("no_delay").value_or(sockets.no_delay);
    return sockets;
}

CollectiveSettings read_collective(ObjectReader section) {
    CollectiveSettings collective;
    if (const auto algorithm = section.choice("algorithm", algorithm_names)) {
        collective.algorithm = static_cast<Algorithm>(*algorithm);
    }
    if (const auto service = section.choice("service", service_names)) {
        collective.service = static_cast<Service>(*service);
    }
    if (collective.service == Service::incast && collective.algorithm != Algorithm::server) {
        section.fail("service", fmt::format("incast needs /collective/algorithm \"server\", is \"{}\"",
                                            choice_name(algorithm_names, collective.algorithm)));
    }
    collective.server_rank = static_cast<int>(section.count("server_rank", rank_range).value_or(0));
    const auto parallel = [&section](std::string_view key) {
        return static_cast<std::uint32_t>(section.count(key, parallel_range).value_or(1));
    };
    collective.channels = parallel("channels");
    collective.sockets_per_channel = parallel("sockets_per_channel");
    collective.in_flight = parallel("in_flight");
    collective.segment_bytes =
        section.bytes("segment_bytes", segment_range).value_or(collective.segment_bytes);
    section.finish();
    return collective;
}

NetworkSettings read_network(ObjectReader section) {
    NetworkSettings network;
    network.interfaces = section.texts("interfaces").value_or(network.interfaces);
    if (std::find(network.interfaces.begin(), network.interfaces.end(), "") != network.interfaces.end()) {
        section.fail("interfaces", "must not contain an empty name");
    }
    network.ports = read_ports(section);
    network.sockets = read_sockets(section);
    network.line_rate = section.rate("line_rate");
    const auto timeout = [&section](std::string_view key, milliseconds otherwise) {
        return std::chrono::duration_cast<milliseconds>(
            section.duration(key, timeout_range).value_or(otherwise));
    };
    network.connect_timeout = timeout("connect_timeout", network.connect_timeout);
    network.stall_timeout = timeout("stall_timeout", network.stall_timeout);
    section.finish();
    return network;
}

ScaleSettings read_scale(ObjectReader section) {
    ScaleSettings scale;
    scale.bytes = section.number("bytes", scale_range).value_or(scale.bytes);
    scale.time = section.number("time", scale_range).value_or(scale.time);
    scale.reference_rate = section.rate("reference_rate");
    section.finish();
    return scale;
}

RunSettings read_run(ObjectReader section) {
    RunSettings run;
    run.duration = section.duration("duration", long_range);
    if (const auto iterations = section.count("iterations", counter_range)) {
        run.iterations = static_cast<std::uint32_t>(*iterations);
    } else if (run.duration) {
        run.iterations.reset();
    }
    run.warmup =
        static_cast<std::uint32_t>(section.count("warmup", {0, counter_range.most}).value_or(run.warmup));
    run.seed = section.count("seed", {0, std::numeric_limits<std::uint64_t>::max()}).value_or(run.seed);
    run.verify = section.flag("verify").value_or(run.verify);
    run.dry_run = section.flag("dry_run").value_or(run.dry_run);
    run.json = section.flag("json").value_or(run.json);
    run.overwrite = section.flag("overwrite").value_or(run.overwrite);
    run.out = section.text("out").value_or(run.out);
    section.finish();
    return run;
}

SamplingSettings read_sampling(ObjectReader section) {
    SamplingSettings sampling;
    sampling.interval =
        section.duration("interval", {microseconds(20), seconds(10)}).value_or(sampling.interval);
    sampling.tcp_info = section.flag("tcp_info").value_or(sampling.tcp_info);
    section.finish();
    return sampling;
}

} // namespace generator
