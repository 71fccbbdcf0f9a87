#include "generator/run_clocks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <set>
#include <sstream>
#include <utility>

namespace generator {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto connect_limit = std::chrono::seconds(2); // enough for a second SYN
constexpr auto end_limit = std::chrono::seconds(1);

std::vector<int> lowest_ranks_of_other_hosts(const std::vector<HostFacts>& ranks) {
    std::vector<int> lowest;
    std::set<std::string> known{ranks.at(0).addresses.network};
    for (std::size_t rank = 1; rank < ranks.size(); ++rank)
        if (known.insert(ranks[rank].addresses.network).second)
            lowest.push_back(static_cast<int>(rank));
    return lowest;
}

} // namespace

RunClocks::RunClocks(ControlPlane& control, const std::vector<HostFacts>& ranks,
                     const std::vector<Endpoint>& endpoints, ConnectSettings settings)
    : ranks_(ranks), answering_(lowest_ranks_of_other_hosts(ranks)) {
    for (const HostFacts& facts : ranks)
        by_host_[facts.addresses.network] = {};
    if (answering_.empty())
        return;
    settings.timeout = connect_limit;
    settings.sockets = {};
    open_links(control, endpoints, settings);
    std::map<int, ClockOffset> offsets;
    if (links_ && control.rank() == 0)
        offsets = links_->measure([] { return true; });
    std::vector<int> missing;
    for (const int rank : answering_) {
        const auto found = offsets.find(rank);
        if (found != offsets.end())
            of_host(rank) = {ClockMethod::data_network, found->second, std::nullopt};
        else
            missing.push_back(rank);
    }
    std::istringstream agreed(control.broadcast(fmt::format("{}", fmt::join(missing, " "))));
    for (auto rank = std::istream_iterator<int>(agreed); rank != std::istream_iterator<int>(); ++rank)
        of_host(*rank) = {ClockMethod::mpi_network, clock_offset(control.clock_round_trips(*rank)),
                          std::nullopt};
}

/// All or none: where one host cannot be reached, the others' links are closed as well.
void RunClocks::open_links(ControlPlane& control, const std::vector<Endpoint>& endpoints,
                           const ConnectSettings& settings) {
    const bool takes_part = control.rank() == 0 || std::find(answering_.begin(), answering_.end(),
                                                             control.rank()) != answering_.end();
    const std::string failure = control.together([&]() -> std::string {
        try {
            if (takes_part)
                links_.emplace(control.rank(), answering_, endpoints, settings);
        } catch (const Stopped&) {
            throw;
        } catch (const std::exception& error) {
            return error.what();
        }
        return "";
    });
    for (const std::string& each : control.all_gather(failure))
        if (!each.empty() && warning_.empty())
            warning_ = fmt::format("CLOCKS ARE COMPARED OVER MPI'S NETWORK, at the start only: {}", each);
    if (!warning_.empty())
        links_.reset();
}

void RunClocks::measure_end(const std::function<bool()>& go_on) {
    if (!links_)
        return;
    const auto until = Clock::now() + end_limit;
    for (const auto& [rank, offset] : links_->measure([&] { return go_on() && Clock::now() < until; }))
        of_host(rank).end = offset;
}

void RunClocks::begin_again() {
    for (auto& [network, clock] : by_host_)
        if (clock.end)
            clock.start = std::exchange(clock.end, std::nullopt);
}

const std::string& RunClocks::network_of(int rank) const {
    return ranks_.at(static_cast<std::size_t>(rank)).addresses.network;
}

std::vector<ClockAlignment> RunClocks::by_rank() const {
    std::vector<ClockAlignment> clocks;
    for (std::size_t rank = 0; rank < ranks_.size(); ++rank)
        clocks.push_back(by_host_.at(network_of(static_cast<int>(rank))));
    return clocks;
}

} // namespace generator
