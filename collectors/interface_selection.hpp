#pragma once

#include "collectors/interfaces.hpp"
#include "collectors/source_choice.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// What the user names with --iface, and where its traces go.
namespace collectors {

struct InterfaceSelection {
    std::vector<NetworkInterface> interfaces; ///< each once, in the order of the words, then by name
    /// One interface, by its name: its trace is the file that --out names. Otherwise each trace has the
    /// interface in its name, however many a pattern matched on this host.
    bool single = false;
};

/// Words may be names or shell patterns (`eth*`, `ens[0-9]`), also of RDMA ports (`mlx5_*/1`; `*` alone does
/// not match their slash). Throws NoInterface for a word that fits none.
InterfaceSelection select_interfaces(const std::vector<std::string>& words,
                                     const SourceFolders& folders = {});

/// trace.csv, or trace.eth0.csv if there are several (.csv is added if `out` has no extension). A name that a
/// file cannot have (mlx5_0/1) has its slashes replaced by '-'.
std::filesystem::path trace_path_of(const std::filesystem::path& out, const std::string& interface,
                                    bool single);

/// One sentence for each pair of which one carries the other's traffic (bond and member, VLAN and parent,
/// bridge and port, both ends of a veth): their bytes must not be added up.
std::vector<std::string> shared_traffic(const std::vector<NetworkInterface>& interfaces,
                                        const std::filesystem::path& root = "/sys/class/net");

} // namespace collectors
