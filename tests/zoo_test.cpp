#include "generator/prediction.hpp"
#include "generator/profile.hpp"
#include "generator/profile_ranks.hpp"
#include "generator/workload.hpp"
#include "tests/catch.hpp"
#include "tests/profiles.hpp"

#include <algorithm>
#include <filesystem>
#include <numeric>

using namespace generator;
using namespace std::chrono_literals;
using tests::shipped_profile;
using tests::shipped_profiles;

namespace {

std::uint64_t bytes_of(const std::vector<WorkloadBucket>& buckets, Collective collective) {
    return std::accumulate(buckets.begin(), buckets.end(), std::uint64_t{0},
                           [collective](std::uint64_t sum, const WorkloadBucket& bucket) {
                               return sum + (bucket.collective == collective ? bucket.bytes : 0);
                           });
}

/// What a profile promises: the bytes of its gradients, how many all-reduces carry them, and the time of an
/// iteration's computing in microseconds (batch / throughput).
struct Expected {
    const char* name;
    std::uint64_t gradient_bytes;
    std::size_t all_reduces;
    std::int64_t compute_us;
};

const std::vector<Expected> data_parallel{{"resnet18", 4 * 11'689'512, 3, 163'840},           // 128 x 1.28 ms
                                          {"resnet101", 4 * 44'549'160, 8, 696'333},          // 128 / 183.82
                                          {"resnet152", 4 * 60'192'808, 10, 980'467},         // 128 / 130.55
                                          {"vgg16", 4ULL * 138'357'544, 6, 415'584},          // 64 / 154
                                          {"bert-large", 4ULL * 336'226'108, 38, 247'525},    // 8 / 32.32
                                          {"gpt2-small", 4ULL * 124'439'808, 13, 418'848},    // 64 / 152.8
                                          {"gpt2-medium", 4ULL * 354'823'168, 37, 1'011'219}, // 64 / 63.29
                                          {"resnet50", 4ULL * 25'557'032, 1, 1'035'599},      // 96 / 92.7
                                          {"resnet50-ddp", 4ULL * 25'557'032, 5, 348'774}};   // 128 / 367

} // namespace

TEST_CASE("every data-parallel profile sends its model's gradients once per iteration", "[zoo]") {
    for (const Expected& expected : data_parallel) {
        INFO(expected.name);
        const Profile profile = shipped_profile(expected.name);
        const Workload workload = make_workload(profile, 1);
        CHECK(bytes_of(workload.first_iteration, Collective::all_reduce) == expected.gradient_bytes);
        CHECK(bytes_of(workload.later_iterations, Collective::all_reduce) == expected.gradient_bytes);
        CHECK(static_cast<std::size_t>(std::count_if(workload.later_iterations.begin(),
                                                     workload.later_iterations.end(), [](const auto& bucket) {
                                                         return bucket.collective == Collective::all_reduce;
                                                     })) == expected.all_reduces);
        CHECK(static_cast<double>(profile.compute.total() / 1us) ==
              Approx(static_cast<double>(expected.compute_us)).margin(1)); // rounded
        CHECK((workload.compute - profile.compute.total()).count() == 0);
    }
}

TEST_CASE("the bucket sizes of DDP are those of the reference lists", "[zoo]") {
    const auto first_sizes = [](const std::string& name) {
        std::vector<std::uint64_t> sizes;
        for (const WorkloadBucket& bucket : make_workload(shipped_profile(name), 1).later_iterations)
            if (bucket.collective == Collective::all_reduce && sizes.size() < 4)
                sizes.push_back(bucket.bytes);
        return sizes;
    };
    using Sizes = std::vector<std::uint64_t>;
    CHECK(first_sizes("resnet18") == Sizes{2'052'000, 28'852'224, 15'853'824});
    CHECK(first_sizes("resnet152") == Sizes{8'196'000, 31'502'336, 26'255'360, 27'863'040});
    CHECK(first_sizes("vgg16") == Sizes{16'388'000, 67'125'248, 411'058'176, 28'315'648});
    CHECK(first_sizes("bert-large") == Sizes{4'336'880, 37'781'504, 33'591'296, 29'396'992});
    CHECK(first_sizes("gpt2-medium") == Sizes{16'789'504, 33'595'392, 33'583'104, 33'591'296});
}

TEST_CASE("a tied embedding is in the last bucket, whose gradients are ready when backward ends", "[zoo]") {
    // GPT-2 small: 50,257 x 768 of tokens and 1,024 x 768 of positions, in the last of 13 buckets.
    const Profile profile = shipped_profile("gpt2-small");
    const WorkloadBucket last = make_workload(profile, 1).later_iterations.back();
    CHECK(last.bytes > 4ULL * (50'257 + 1'024) * 768);
    CHECK((last.ready_after == profile.compute.forward + profile.compute.backward));
}

TEST_CASE("Llama-2-7B is gathered in forward and backward, and its gradients are scattered", "[zoo]") {
    const Profile profile = shipped_profile("llama2-7b");
    CHECK(static_cast<double>(profile.compute.total() / 1us) == Approx(2'178'649).margin(1)); // 2 / 0.918 s
    const Workload workload = make_workload(profile, 1);
    const std::uint64_t parameters = 2 * 6'738'415'616; // bytes in bf16
    CHECK(bytes_of(workload.later_iterations, Collective::reduce_scatter) == parameters);
    // The last unit (norm and head) is still there when backward begins.
    CHECK(bytes_of(workload.later_iterations, Collective::all_gather) ==
          2 * parameters - 2 * (131'072'000 + 4'096));
}

TEST_CASE("every shipped profile loads, and four hosts at 1 Gbit/s carry it", "[zoo]") {
    const std::vector<ProfileListing> listings = list_profiles({shipped_profiles});
    CHECK(listings.size() >= 13);
    for (const ProfileListing& listing : listings) {
        INFO(listing.name);
        CHECK_FALSE(listing.description.empty());
        const Profile profile = shipped_profile(listing.name);
        LinkModel link;
        link.line_rate = BitRate{1'000'000'000};
        // Groups name their ranks; ours name eight.
        const int ranks = profile.groups.empty() ? 4 : 8;
        for (int rank = 0; rank < ranks; ++rank)
            link.hosts.push_back(rank * 4 / ranks);
        Workload workload = make_workload(profile, byte_scale(profile.scale, link.line_rate));
        workload.hosts = link.hosts;
        check_for_ranks(profile, ranks, link.hosts, listing.name);
        const Prediction prediction = predict(profile, workload, ranks, link, 3);
        REQUIRE(prediction.iteration_times.size() == 3);
        CHECK((prediction.iteration_mean >= workload.compute));
        CHECK((prediction.iteration_mean < 5s)); // a run of 20 iterations is over within two minutes
    }
}
