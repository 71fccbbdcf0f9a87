#include "generator/failure.hpp"
#include "generator/plan.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <stdexcept>

namespace generator {
namespace {

void check_hosts(const CollectiveCall& call, int size) {
    if (!call.hosts.empty() && call.hosts.size() != static_cast<std::size_t>(size))
        throw std::logic_error(
            fmt::format("hosts of {} positions for a group of {}", call.hosts.size(), size));
    std::map<int, int> ranks_on;
    for (const int host : call.hosts)
        ++ranks_on[host];
    const std::size_t hosts = call.hosts.empty() ? static_cast<std::size_t>(size) : ranks_on.size();
    if (hosts < 2)
        throw UserError(
            fmt::format("a hierarchical all-reduce needs at least two hosts, and {}",
                        size == 1 ? "there is one rank only" : fmt::format("all {} ranks are on one", size)));
    const auto [fewest, most] =
        std::minmax_element(ranks_on.begin(), ranks_on.end(),
                            [](const auto& one, const auto& other) { return one.second < other.second; });
    if (!ranks_on.empty() && fewest->second != most->second)
        throw UserError(fmt::format("a hierarchical all-reduce needs equally many ranks on every host, and "
                                    "one host has {}, another {}",
                                    fewest->second, most->second));
}

} // namespace

void check_call(const CollectiveCall& call, int size) {
    if (size < 1 || call.element_bytes == 0)
        throw std::logic_error("a collective of no ranks, or of elements without bytes");
    if (call.channels == 0)
        throw UserError("channels must be at least 1, is 0");
    if (call.sockets == 0)
        throw UserError("sockets per channel must be at least 1, is 0");
    if (call.algorithm == Algorithm::server && (call.server < 0 || call.server >= size))
        throw UserError(fmt::format("server {} is not in the group: its {} ranks have positions 0 to {}",
                                    call.server, size, size - 1));
    if (call.collective == Collective::send && size != 2)
        throw UserError(
            fmt::format("a send needs a group of two ranks, sender and receiver; this one has {}", size));
    if (call.collective == Collective::all_reduce && call.algorithm == Algorithm::hierarchical)
        check_hosts(call, size);
}

} // namespace generator
