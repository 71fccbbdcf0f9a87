#include "generator/plan_steps.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <vector>

namespace generator {
namespace {

/// A send with the receive that it meets.
struct Link {
    bool is_signal = false;
    std::size_t steps = 0; ///< of the longest chain that ends here
    std::size_t waits_for = 0;
    std::vector<std::size_t> followers;
};

struct Links {
    std::vector<Link> links;
    std::vector<std::vector<std::size_t>> of; ///< by rank and operation
};

Links join(std::span<const RankPlan> plans) {
    Links joined;
    std::map<std::tuple<int, int, std::uint32_t>, std::vector<std::size_t>> on; // from, to, lane
    for (std::size_t rank = 0; rank < plans.size(); ++rank) {
        joined.of.emplace_back();
        for (const Operation& operation : plans[rank].operations) {
            joined.of[rank].push_back(joined.links.size());
            if (!operation.is_send())
                continue;
            on[{static_cast<int>(rank), operation.peer, operation.lane}].push_back(joined.links.size());
            joined.links.push_back({operation.is_signal(), 0, 0, {}});
        }
    }
    std::map<std::tuple<int, int, std::uint32_t>, std::size_t> met;
    for (std::size_t rank = 0; rank < plans.size(); ++rank)
        for (std::size_t i = 0; i < plans[rank].operations.size(); ++i) {
            const Operation& operation = plans[rank].operations[i];
            if (operation.is_send())
                continue;
            const std::tuple lane{operation.peer, static_cast<int>(rank), operation.lane};
            const std::size_t k = met[lane]++;
            if (k >= on[lane].size())
                throw std::logic_error("a receive without a send");
            joined.of[rank][i] = on[lane][k];
        }
    return joined;
}

void add_conditions(Links& joined, std::span<const RankPlan> plans) {
    for (std::size_t rank = 0; rank < plans.size(); ++rank)
        for (std::size_t i = 0; i < plans[rank].operations.size(); ++i) {
            const Operation& operation = plans[rank].operations[i];
            for (const IndexList* conditions : {&operation.after, &operation.behind})
                for (const std::uint32_t before : *conditions) {
                    joined.links[joined.of[rank][before]].followers.push_back(joined.of[rank][i]);
                    ++joined.links[joined.of[rank][i]].waits_for;
                }
        }
}

} // namespace

std::size_t dependent_steps(std::span<const RankPlan> plans) {
    Links joined = join(plans);
    add_conditions(joined, plans);
    std::vector<std::size_t> ready;
    for (std::size_t i = 0; i < joined.links.size(); ++i)
        if (joined.links[i].waits_for == 0)
            ready.push_back(i);
    std::size_t longest = 0;
    std::size_t done = 0;
    for (; !ready.empty(); ++done) {
        Link& link = joined.links[ready.back()];
        ready.pop_back();
        link.steps += link.is_signal ? 0 : 1;
        longest = std::max(longest, link.steps);
        for (const std::size_t follower : link.followers) {
            Link& next = joined.links[follower];
            next.steps = std::max(next.steps, link.steps);
            if (--next.waits_for == 0)
                ready.push_back(follower);
        }
    }
    if (done < joined.links.size())
        throw std::logic_error("a transfer that waits for itself");
    return longest;
}

} // namespace generator
