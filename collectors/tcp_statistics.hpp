#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace collectors {

/// A counter of /proc/net/snmp or netstat: a line of names "Tcp: A B ..." and below it one of values. nullopt
/// if this kernel has no such counter.
std::optional<std::int64_t> protocol_counter(std::string_view text, std::string_view protocol,
                                             std::string_view name);

/// What TCP and IP of a network namespace have counted; empty where the kernel does not tell.
struct TcpStatistics {
    std::optional<std::int64_t> sent_segments;
    std::optional<std::int64_t> retransmitted_segments;
    std::optional<std::int64_t> timeouts;
    std::optional<std::int64_t> loss_probes;
    std::optional<std::int64_t> congestion_marks_received; ///< packets that arrived with the mark CE
    std::optional<std::int64_t> congestion_marks_echoed;   ///< sent packets whose receiver saw the mark
};

/// Reads snmp and netstat of the network namespace of the thread that made it: 20 us.
class TcpReader {
public:
    /// Files that are not there are left out.
    explicit TcpReader(const std::filesystem::path& folder = "/proc/thread-self/net");
    ~TcpReader();
    TcpReader(const TcpReader&) = delete;
    TcpReader& operator=(const TcpReader&) = delete;

    TcpStatistics read() const;

private:
    int snmp_;
    int netstat_;
};

} // namespace collectors
