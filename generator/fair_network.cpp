#include "generator/fair_network.hpp"

#include <algorithm>
#include <limits>

namespace generator {
namespace {

/// Ports whose shares differ by less are full at the same time: rounding.
constexpr double same_share = 1e-12;

} // namespace

FairNetwork::FairNetwork(Topology topology) : topology_(std::move(topology)) {
    const std::vector<int>& hosts = topology_.hosts;
    const std::size_t host_count =
        hosts.empty() ? 0 : static_cast<std::size_t>(*std::max_element(hosts.begin(), hosts.end())) + 1;
    first_host_port_ = static_cast<std::uint32_t>(2 * hosts.size());
    first_leaf_port_ = static_cast<std::uint32_t>(first_host_port_ + 2 * host_count);
    ports_.resize(first_leaf_port_);
    for (Port& port : ports_)
        port.bytes_per_second = topology_.bytes_per_second;
    if (topology_.hosts_per_leaf == 0)
        return;
    const auto per_leaf = static_cast<std::size_t>(topology_.hosts_per_leaf);
    ports_.resize(first_leaf_port_ + 2 * ((host_count + per_leaf - 1) / per_leaf));
    for (std::size_t leaf_port = first_leaf_port_; leaf_port < ports_.size(); ++leaf_port)
        ports_[leaf_port].bytes_per_second =
            static_cast<double>(per_leaf) * topology_.bytes_per_second / topology_.oversubscription;
}

FairNetwork::Stream FairNetwork::add(int from, int to, bool between_blocks) {
    if (free_.empty()) {
        free_.push_back(static_cast<Stream>(streams_.size()));
        streams_.emplace_back();
    }
    const Stream stream = free_.back();
    free_.pop_back();
    Carried& carried = streams_[stream];
    carried = {};
    const auto crosses = [&carried](std::uint32_t port) { carried.ports[carried.port_count++] = port; };
    const auto sender = static_cast<std::uint32_t>(from);
    const auto receiver = static_cast<std::uint32_t>(to);
    const auto from_host = static_cast<std::uint32_t>(topology_.hosts[sender]);
    const auto to_host = static_cast<std::uint32_t>(topology_.hosts[receiver]);
    if (from_host == to_host && !between_blocks) {
        crosses(2 * sender);
        crosses(2 * receiver + 1);
    } else {
        crosses(first_host_port_ + 2 * from_host);
        if (topology_.hosts_per_leaf > 0) {
            const auto per_leaf = static_cast<std::uint32_t>(topology_.hosts_per_leaf);
            if (between_blocks || from_host / per_leaf != to_host / per_leaf) {
                crosses(first_leaf_port_ + 2 * (from_host / per_leaf));
                crosses(first_leaf_port_ + 2 * (to_host / per_leaf) + 1);
            }
        }
        crosses(first_host_port_ + 2 * to_host + 1);
    }
    for (const std::uint32_t port : ports_of(stream)) {
        ports_[port].streams.push_back(stream);
        mark_changed(port);
    }
    return stream;
}

void FairNetwork::remove(Stream stream) {
    for (const std::uint32_t port : ports_of(stream)) {
        auto& streams = ports_[port].streams;
        streams.erase(std::find(streams.begin(), streams.end(), stream));
        mark_changed(port);
    }
    free_.push_back(stream);
}

std::span<const std::uint32_t> FairNetwork::ports_of(Stream stream) const {
    return std::span(streams_[stream].ports).first(streams_[stream].port_count);
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
            for (const Stream stream : ports_[port].streams)
                if (streams_[stream].ports[0] == port && streams_[stream].new_rate != streams_[stream].rate)
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
            for (const std::uint32_t next : ports_of(stream))
                if (!ports_[next].visited) {
                    ports_[next].visited = true;
                    ports.push_back(next);
                }
    return ports;
}

/// Nothing is shared out yet. Returns how many streams cross the ports.
std::size_t FairNetwork::open_ports(const std::vector<std::uint32_t>& ports) {
    std::size_t open = 0;
    for (const std::uint32_t number : ports) {
        Port& port = ports_[number];
        port.left = port.bytes_per_second;
        port.open = port.streams.size();
        for (const Stream stream : port.streams) {
            open += streams_[stream].ports[0] == number ? 1u : 0u;
            streams_[stream].open = true;
        }
    }
    return open;
}

/// The port is full: its open streams get `share` and no more. Returns how many these were.
std::size_t FairNetwork::close(Port& port, double share) {
    std::size_t closed = 0;
    for (const Stream stream : port.streams) {
        if (!streams_[stream].open)
            continue;
        streams_[stream].open = false;
        streams_[stream].new_rate = share;
        ++closed;
        for (const std::uint32_t number : ports_of(stream)) {
            --ports_[number].open;
            ports_[number].left = std::max(0.0, ports_[number].left - share);
        }
    }
    return closed;
}

void FairNetwork::fill(const std::vector<std::uint32_t>& ports) {
    for (std::size_t open = open_ports(ports); open > 0;) {
        double share = std::numeric_limits<double>::infinity();
        for (const std::uint32_t number : ports)
            if (ports_[number].open > 0)
                share = std::min(share, ports_[number].share());
        for (const std::uint32_t number : ports)
            if (ports_[number].open > 0 && ports_[number].share() <= share * (1 + same_share))
                open -= close(ports_[number], share);
    }
}

} // namespace generator
