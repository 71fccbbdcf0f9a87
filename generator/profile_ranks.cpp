#include "generator/profile_ranks.hpp"

#include "generator/background_flows.hpp"
#include "generator/profile_sections.hpp"
#include "generator/schedule_check.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace generator {
namespace {

/// Beyond it a walk through the schedule takes seconds; a run then finds out by its stall timeout.
constexpr std::size_t most_walked_buckets = 10'000'000; // of all ranks

constexpr std::size_t most_flows = 4096; // each is a connection

class RankCheck {
public:
    RankCheck(const Profile& profile, int world_size, const std::vector<int>& hosts, const std::string& file)
        : profile_(profile), world_size_(world_size), file_(file), workload_(make_workload(profile, 1)) {
        workload_.hosts = hosts;
    }

    void run() const {
        if (profile_.collective.algorithm == Algorithm::server)
            check_rank("/collective/server_rank", profile_.collective.server_rank);
        check_named_ranks();
        check_background();
        for (const WorkloadBucket& bucket : workload_.later_iterations)
            check_collective(bucket);
        if (!profile_.groups.empty() &&
            workload_.later_iterations.size() <= most_walked_buckets / static_cast<std::size_t>(world_size_))
            check_waits();
    }

private:
    [[noreturn]] void fail(const std::string& path, const std::string& rule) const {
        throw ProfileError(fmt::format("{}: {}: {}", file_, path, rule));
    }

    void check_rank(const std::string& path, int rank) const {
        if (rank >= world_size_)
            fail(path, fmt::format("must be less than the number of ranks, {}, is {}", world_size_, rank));
    }

    void check_named_ranks() const {
        for (std::size_t i = 0; i < profile_.stragglers.size(); ++i)
            for (std::size_t k = 0; k < profile_.stragglers[i].ranks.size(); ++k)
                check_rank(fmt::format("/compute/stragglers/{}/ranks/{}", i, k),
                           profile_.stragglers[i].ranks[k]);
        for (const Group& group : profile_.groups)
            for (std::size_t i = 0; i < group.members.size(); ++i)
                for (std::size_t k = 0; k < group.members[i].size(); ++k)
                    check_rank(fmt::format("/groups/{}/{}/{}", group.name, i, k), group.members[i][k]);
    }

    /// One rank alone has nobody to send to: that is a warning of the run.
    void check_background() const {
        const auto& background = profile_.background;
        for (std::size_t i = 0; i < background.size(); ++i) {
            const std::string path = fmt::format("/background/{}", i);
            for (std::size_t k = 0; k < background[i].from.size(); ++k)
                check_rank(fmt::format("{}/from/{}", path, k), background[i].from[k]);
            for (std::size_t k = 0; k < background[i].to.size(); ++k)
                check_rank(fmt::format("{}/to/{}", path, k), background[i].to[k]);
            check_flows(path, background[i]);
        }
        if (background_flows(background, world_size_).size() > most_flows)
            fail("/background", fmt::format("comes to {} flows; must be at most {}: name the ranks",
                                            background_flows(background, world_size_).size(), most_flows));
    }

    void check_flows(const std::string& path, const BackgroundEntry& entry) const {
        if (world_size_ == 1)
            return;
        if (background_flows({entry}, world_size_).empty())
            fail(path, "\"from\" and \"to\" are the same rank, which sends nothing to itself");
        if (entry.pattern != BackgroundPattern::incast)
            return;
        for (int client = 0; client < world_size_; ++client)
            if (entry.to.empty() || std::count(entry.to.begin(), entry.to.end(), client) > 0)
                if (const auto servers = servers_of(entry, client, world_size_).size();
                    servers == 0 || servers < entry.fan_in.value_or(1))
                    fail(path + "/fan_in", fmt::format("rank {} has {} servers, which are not {}", client,
                                                       servers, entry.fan_in.value_or(1)));
    }

    /// One rank alone sends nothing, whatever the algorithm.
    void check_collective(const BucketKind& bucket) const {
        const Group& group = workload_.groups[bucket.group];
        std::vector<std::vector<int>> lists = group.members;
        if (lists.empty())
            lists.push_back(group.members_with(0, world_size_));
        for (const std::vector<int>& members : lists) {
            try {
                if (members.size() > 1)
                    check_call(workload_.call(bucket.collective, bucket.bytes, members),
                               static_cast<int>(members.size()));
            } catch (const UserError& error) {
                fail("/collective/algorithm",
                     fmt::format("\"{}\" cannot be done by group \"{}\": {}",
                                 choice_name(algorithm_names, profile_.collective.algorithm), group.name,
                                 error.what()));
            }
        }
    }

    /// The bucket of the profile that became bucket `number` of the workload.
    std::string path_of(std::size_t number) const {
        std::size_t index = 0;
        for (; number >= profile_.gradients.buckets[index].repeat; ++index)
            number -= profile_.gradients.buckets[index].repeat;
        return fmt::format("/gradients/buckets/{}", index);
    }

    void check_waits() const {
        if (const auto wait = find_endless_wait(profile_, workload_, world_size_))
            fail(path_of(wait->bucket),
                 fmt::format("rank {} would wait for ever: rank {} does not launch this bucket before {} is "
                             "complete",
                             wait->rank, wait->other_rank, path_of(wait->other_bucket)));
    }

    const Profile& profile_;
    int world_size_;
    const std::string& file_;
    Workload workload_;
};

} // namespace

void check_for_ranks(const Profile& profile, int world_size, const std::vector<int>& hosts,
                     const std::string& file) {
    RankCheck(profile, world_size, hosts, file).run();
}

} // namespace generator
