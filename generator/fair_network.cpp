#include "generator/fair_network.hpp"

#include <algorithm>
#include <limits>

namespace generator {

FairNetwork::FairNetwork(const std::vector<int>& hosts, double bytes_per_second)
    : hosts_(hosts), bytes_per_second_(bytes_per_second) {
    const int last_host = hosts.empty() ? 0 : *std::max_element(hosts.begin(), hosts.end());
    ports_.resize(2 * (hosts.size() + static_cast<std::size_t>(last_host) + 1));
}

FairNetwork::Stream FairNetwork::add(int from, int to) {
    if (free_.empty()) {
        free_.push_back(static_cast<Stream>(streams_.size()));
        streams_.emplace_back();
    }
    const Stream stream = free_.back();
    free_.pop_back();
    const auto sender = static_cast<std::size_t>(from);
    const auto receiver = static_cast<std::size_t>(to);
    const bool local = hosts_[sender] == hosts_[receiver];
    // Ports of ranks (within the host) come first, then those of hosts; even ones send, odd ones receive.
    const std::size_t out = local ? sender : hosts_.size() + static_cast<std::size_t>(hosts_[sender]);
    const std::size_t in = local ? receiver : hosts_.size() + static_cast<std::size_t>(hosts_[receiver]);
    streams_[stream] = {};
    streams_[stream].ports = {static_cast<std::uint32_t>(2 * out), static_cast<std::uint32_t>(2 * in + 1)};
    for (const std::uint32_t port : streams_[stream].ports) {
        ports_[port].streams.push_back(stream);
        mark_changed(port);
    }
    return stream;
}

void FairNetwork::remove(Stream stream) {
    for (const std::uint32_t port : streams_[stream].ports) {
        auto& streams = ports_[port].streams;
        streams.erase(std::find(streams.begin(), streams.end(), stream));
        mark_changed(port);
    }
    free_.push_back(stream);
}

void FairNetwork::mark_changed(std::uint32_t port) {
    if (!ports_[port].changed)
        changed_.push_back(port);
    ports_[port].changed = true;
}

std::vector<FairNetwork::Stream> FairNetwork::share() {
    std::vector<Stream> affected;
    std::vector<std::uint32_t> visited;
    for (const std::uint32_t changed : changed_) {
        ports_[changed].changed = false;
        if (ports_[changed].visited)
            continue;
        const std::vector<std::uint32_t> ports = connected_ports(changed);
        fill(ports);
        for (const std::uint32_t port : ports)
            if (port % 2 == 0) // each stream has one sending port
                for (const Stream stream : ports_[port].streams)
                    if (streams_[stream].new_rate != streams_[stream].rate)
                        affected.push_back(stream);
        visited.insert(visited.end(), ports.begin(), ports.end());
    }
    changed_.clear();
    for (const std::uint32_t port : visited)
        ports_[port].visited = false;
    for (const Stream stream : affected)
        streams_[stream].rate = streams_[stream].new_rate;
    return affected;
}

/// What one stream gets depends on no port beyond these.
std::vector<std::uint32_t> FairNetwork::connected_ports(std::uint32_t port) {
    std::vector<std::uint32_t> ports{port};
    ports_[port].visited = true;
    for (std::size_t i = 0; i < ports.size(); ++i)
        for (const Stream stream : ports_[ports[i]].streams)
            for (const std::uint32_t next : streams_[stream].ports)
                if (!ports_[next].visited) {
                    ports_[next].visited = true;
                    ports.push_back(next);
                }
    return ports;
}

void FairNetwork::fill(const std::vector<std::uint32_t>& ports) {
    std::size_t open = 0;
    for (const std::uint32_t number : ports) {
        Port& port = ports_[number];
        port.left = bytes_per_second_;
        port.open = port.streams.size();
        for (const Stream stream : port.streams)
            streams_[stream].open = true;
        open += number % 2 == 0 ? port.open : 0;
    }
    while (open > 0) {
        std::uint32_t tightest = ports.front();
        double share = std::numeric_limits<double>::infinity();
        for (const std::uint32_t number : ports) {
            const Port& port = ports_[number];
            if (port.open > 0 && port.left / static_cast<double>(port.open) < share) {
                share = port.left / static_cast<double>(port.open);
                tightest = number;
            }
        }
        for (const Stream stream : ports_[tightest].streams) {
            if (!streams_[stream].open)
                continue;
            streams_[stream].open = false;
            streams_[stream].new_rate = share;
            --open;
            for (const std::uint32_t number : streams_[stream].ports) {
                --ports_[number].open;
                ports_[number].left = std::max(0.0, ports_[number].left - share);
            }
        }
    }
}

} // namespace generator
