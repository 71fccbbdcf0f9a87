#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace generator {

/// An ideal switch whose ports are the only limits: each host's NIC sends and receives at one rate at the
/// same time (full duplex). Streams in flight share the ports max-min fairly (Bertsekas and Gallager, Data
/// Networks, section 6.5: fill all alike until a port is full, then the others go on). Streams within a host
/// do not use its NIC; each rank sends and receives them at the same rate.
class FairNetwork {
public:
    using Stream = std::uint32_t;

    /// `hosts`: the host of each rank.
    FairNetwork(const std::vector<int>& hosts, double bytes_per_second);

    Stream add(int from, int to);
    void remove(Stream stream);
    double rate(Stream stream) const { return streams_[stream].rate; } ///< bytes per second

    /// Shares the ports anew where streams came or went; returns the streams whose rate has changed. A new
    /// one has rate 0 until then.
    std::vector<Stream> share();

private:
    struct Port {
        std::vector<Stream> streams;
        bool changed = false;
        // While shares are computed:
        bool visited = false;
        double left = 0;
        std::size_t open = 0;
    };
    struct Carried {
        std::array<std::uint32_t, 2> ports{}; ///< out of the sender, into the receiver
        double rate = 0;
        double new_rate = 0;
        bool open = false;
    };

    std::vector<std::uint32_t> connected_ports(std::uint32_t port);
    void fill(const std::vector<std::uint32_t>& ports);
    void mark_changed(std::uint32_t port);

    std::vector<int> hosts_;
    double bytes_per_second_;
    std::vector<Port> ports_;
    std::vector<Carried> streams_;
    std::vector<Stream> free_;
    std::vector<std::uint32_t> changed_;
};

} // namespace generator
