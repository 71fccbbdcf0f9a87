#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace generator {

/// Hosts with full-duplex NICs of one rate, on one ideal switch or on two levels of them: each leaf switch
/// carries `hosts_per_leaf` hosts and reaches the others over a spine, through an uplink and a downlink of
/// hosts_per_leaf x NIC rate / oversubscription each.
struct Topology {
    std::vector<int> hosts;      ///< of each rank, numbered from 0
    double bytes_per_second = 0; ///< of payload, out of each NIC and into each NIC
    int hosts_per_leaf = 0;      ///< hosts 0 to k-1 on leaf 0, and so on; 0: one switch for all
    double oversubscription = 1;
};

/// The ports of a topology are the only limits. Streams in flight share them max-min fairly (Bertsekas and
/// Gallager, Data Networks, section 6.5: fill all alike until a port is full, then the others go on). Streams
/// within a host do not use its NIC; each rank sends and receives them at the NIC's rate.
class FairNetwork {
public:
    using Stream = std::uint32_t;

    explicit FairNetwork(Topology topology);

    /// `between_blocks`: from the block of ranks that the topology is to the rank at that place in another
    /// one (see `fold_plan`), through the host's ports and those of the leaf.
    Stream add(int from, int to, bool between_blocks = false);
    void remove(Stream stream);
    double rate(Stream stream) const { return streams_[stream].rate; } ///< bytes per second

    /// Shares the ports anew where streams came or went; returns the streams whose rate has changed. A new
    /// one has rate 0 until then.
    std::vector<Stream> share();

private:
    struct Port {
        double bytes_per_second = 0;
        std::vector<Stream> streams;
        bool changed = false;
        // While shares are computed:
        bool visited = false;
        double left = 0;
        std::size_t open = 0;

        double share() const { return left / static_cast<double>(open); }
    };
    struct Carried {
        std::array<std::uint32_t, 4> ports{}; ///< from the sender to the receiver
        std::uint32_t port_count = 0;
        double rate = 0;
        double new_rate = 0;
        bool open = false;
    };

    std::span<const std::uint32_t> ports_of(Stream stream) const;
    std::vector<std::uint32_t> connected_ports(std::uint32_t port);
    std::size_t open_ports(const std::vector<std::uint32_t>& ports);
    std::size_t close(Port& port, double share);
    void fill(const std::vector<std::uint32_t>& ports);
    void mark_changed(std::uint32_t port);

    Topology topology_;
    std::uint32_t first_host_port_ = 0; ///< before them: those of ranks, for streams within a host
    std::uint32_t first_leaf_port_ = 0;
    std::vector<Port> ports_; ///< even ones send (out of a rank, host or leaf), odd ones receive
    std::vector<Carried> streams_;
    std::vector<Stream> free_;
    std::vector<std::uint32_t> changed_;
};

} // namespace generator
