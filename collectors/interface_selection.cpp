#include "collectors/interface_selection.hpp"

#include "collectors/rdma_counters.hpp"

#include <algorithm>
#include <fstream>

#include <fnmatch.h>

#include <fmt/format.h>

namespace collectors {

namespace {

namespace fs = std::filesystem;

bool is_pattern(const std::string& word) {
    return word.find_first_of("*?[") != std::string::npos;
}

int number_in(const fs::path& file) {
    int number = 0;
    std::ifstream(file) >> number;
    return number;
}

/// A bond, bridge, VLAN or macvlan has a link lower_<name> to each device that it stands on.
bool stands_on(const std::string& upper, const std::string& lower, const fs::path& root) {
    std::error_code error;
    return fs::exists(fs::symlink_status(root / upper / ("lower_" + lower), error));
}

bool are_veth_ends(const std::string& a, const std::string& b, const fs::path& root) {
    const int index_a = number_in(root / a / "ifindex");
    const int index_b = number_in(root / b / "ifindex");
    return index_a != 0 && number_in(root / a / "iflink") == index_b &&
           number_in(root / b / "iflink") == index_a;
}

} // namespace

InterfaceSelection select_interfaces(const std::vector<std::string>& words, const SourceFolders& folders) {
    std::vector<NetworkInterface> known = list_interfaces(folders.interfaces);
    for (NetworkInterface& port : list_rdma_ports(folders.rdma))
        known.push_back(std::move(port));
    InterfaceSelection selection;
    auto& chosen = selection.interfaces;
    bool any_pattern = false;
    for (const std::string& word : words) {
        any_pattern = any_pattern || is_pattern(word);
        bool found = false;
        for (const NetworkInterface& interface : known) {
            if (::fnmatch(word.c_str(), interface.name.c_str(), FNM_PATHNAME) != 0)
                continue;
            found = true;
            if (std::find(chosen.begin(), chosen.end(), interface) == chosen.end())
                chosen.push_back(interface);
        }
        if (!found)
            throw NoInterface(word, known);
    }
    selection.single = !any_pattern && chosen.size() == 1;
    return selection;
}

fs::path trace_path_of(const fs::path& out, const std::string& interface, bool single) {
    if (single)
        return out;
    std::string name = interface;
    std::replace(name.begin(), name.end(), '/', '-');
    // Without an extension the sidecars, which replace it, would all have one name.
    const std::string extension = out.has_extension() ? out.extension().string() : ".csv";
    return fs::path(out).replace_filename(fmt::format("{}.{}{}", out.stem().string(), name, extension));
}

std::vector<std::string> shared_traffic(const std::vector<NetworkInterface>& interfaces,
                                        const fs::path& root) {
    std::vector<std::string> sentences;
    for (std::size_t i = 0; i < interfaces.size(); ++i)
        for (std::size_t j = i + 1; j < interfaces.size(); ++j) {
            const std::string& a = interfaces[i].name;
            const std::string& b = interfaces[j].name;
            const char* const relation = stands_on(a, b, root) || stands_on(b, a, root)
                                             ? "one of them stands on the other"
                                         : are_veth_ends(a, b, root) ? "they are both ends of one link"
                                                                     : nullptr;
            if (relation != nullptr)
                sentences.push_back(
                    fmt::format("{} AND {} COUNT THE SAME TRAFFIC: {}; do not add them up", a, b, relation));
        }
    return sentences;
}

} // namespace collectors
