#include "generator/schedule_check.hpp"

#include "generator/bucket_queues.hpp"
#include "generator/schedule.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

namespace generator {
namespace {

/// How far one rank has come.
struct Walker {
    IterationSchedule schedule;
    std::vector<ComputeStep> steps;
    BucketQueues queues;
    std::size_t next = 0; ///< step

    /// Index into the schedule of the bucket with this number.
    std::size_t index_of(std::uint32_t number) const {
        const auto found =
            std::lower_bound(schedule.buckets.begin(), schedule.buckets.end(), number,
                             [](const Bucket& bucket, std::uint32_t value) { return bucket.number < value; });
        return static_cast<std::size_t>(found - schedule.buckets.begin());
    }
};

class Walk {
public:
    Walk(const Profile& profile, const Workload& workload, int world_size) : workload_(workload) {
        const Profile steady = without_variation(profile);
        for (int rank = 0; rank < world_size; ++rank) {
            Walker walker;
            walker.schedule = iteration_schedule(steady, workload, rank, 1);
            walker.steps = compute_steps(walker.schedule);
            walker.queues = BucketQueues(walker.schedule);
            ranks_.push_back(std::move(walker));
            active_.push_back(rank);
        }
    }

    std::optional<EndlessWait> run() {
        while (!active_.empty()) {
            const int rank = active_.front();
            active_.pop_front();
            advance(rank);
        }
        for (int rank = 0; rank < static_cast<int>(ranks_.size()); ++rank)
            if (at(rank).next < at(rank).steps.size())
                return blame(rank);
        return std::nullopt;
    }

private:
    Walker& at(int rank) { return ranks_[static_cast<std::size_t>(rank)]; }

    const Bucket& waited_for(int rank) {
        return at(rank).schedule.buckets[at(rank).steps[at(rank).next].bucket];
    }

    void advance(int rank) {
        Walker& walker = at(rank);
        for (; walker.next < walker.steps.size(); ++walker.next) {
            const ComputeStep& step = walker.steps[walker.next];
            if (step.kind == ComputeStep::Kind::launch)
                started(rank, walker.queues.launch(step.bucket));
            else if (!walker.queues.is_complete(step.bucket))
                return;
        }
    }

    std::vector<int> members_of(const Bucket& bucket, int rank) {
        return workload_.groups[bucket.group].members_with(rank, static_cast<int>(ranks_.size()));
    }

    void started(int rank, std::optional<std::size_t> index) {
        if (!index)
            return;
        const Bucket bucket = at(rank).schedule.buckets[*index];
        const std::vector<int> members = members_of(bucket, rank);
        if (++running_[{bucket.number, members.front()}] < members.size())
            return;
        for (const int member : members) {
            started(member, at(member).queues.complete(at(member).index_of(bucket.number)));
            active_.push_back(member);
        }
    }

    EndlessWait blame(int rank) {
        const Bucket& bucket = waited_for(rank);
        for (const int member : members_of(bucket, rank))
            if (!at(member).queues.is_running(at(member).index_of(bucket.number)))
                return {rank, bucket.number, member, waited_for(member).number};
        return {rank, bucket.number, rank, bucket.number};
    }

    const Workload& workload_;
    std::vector<Walker> ranks_;
    std::deque<int> active_;
    std::map<std::pair<std::uint32_t, int>, std::size_t> running_; ///< ranks, per bucket and first member
};

} // namespace

std::optional<EndlessWait> find_endless_wait(const Profile& profile, const Workload& workload,
                                             int world_size) {
    return Walk(profile, workload, world_size).run();
}

} // namespace generator
