// A block of ranks, those of a host or of a leaf, executed for all of them, against the execution of every
// rank.
#include "collectors/burstiness.hpp"
#include "generator/blocks.hpp"
#include "generator/prediction.hpp"
#include "generator/profile.hpp"

#include <array>
#include <numeric>
#include <string>

#include "catch.hpp"

using namespace generator;
using namespace std::chrono_literals;

namespace {

/// Hosts in order, on one switch (hosts_per_leaf 0) or on leaves.
struct Network {
    int ranks = 8;
    int ranks_per_host = 1;
    int hosts_per_leaf = 0;
    double oversubscription = 1;
    int block = 1; ///< that is expected to be executed
};

LinkModel link_on(const Network& network) {
    LinkModel link;
    link.line_rate = {1'000'000'000};
    for (int rank = 0; rank < network.ranks; ++rank)
        link.hosts.push_back(rank / network.ranks_per_host);
    link.hosts_per_leaf = network.hosts_per_leaf;
    link.oversubscription = network.oversubscription;
    return link;
}

std::string described(const Network& network) {
    return std::to_string(network.ranks) + " ranks, " + std::to_string(network.ranks_per_host) +
           " per host, " + std::to_string(network.hosts_per_leaf) + " hosts per leaf, oversubscription " +
           std::to_string(network.oversubscription);
}

/// Two buckets of a size that all numbers of ranks and channels here divide: 4 bytes x 2^7 x 3^3 x 5 x 7.
Workload twice_bucketed(Collective collective, Algorithm algorithm, const Network& network) {
    constexpr std::uint64_t bytes = 4 * 128 * 27 * 5 * 7;
    Workload workload;
    workload.compute = 22ms;
    workload.collective.algorithm = algorithm;
    workload.hosts = link_on(network).hosts;
    workload.first_iteration =
        workload.later_iterations = {{{.collective = collective, .bytes = 8 * bytes}, 0, 5ms, 20ms},
                                     {{.collective = collective, .bytes = bytes}, 0, 6ms, 20ms}};
    return workload;
}

struct Both {
    Prediction block;
    Prediction every_rank;
};

Both both(const Workload& workload, const Network& network, const Profile& profile) {
    return {predict(profile, workload, network.ranks, link_on(network), 2, Execution::one_for_all),
            predict(profile, workload, network.ranks, link_on(network), 2, Execution::every_rank)};
}

std::vector<int> ranks_of(int host, const Network& network) {
    std::vector<int> ranks(static_cast<std::size_t>(network.ranks_per_host));
    std::iota(ranks.begin(), ranks.end(), host * network.ranks_per_host);
    return ranks;
}

/// What a host's NIC carries of the bytes, most in any window of 100 us, 300 us and 2 ms, PtM of these, and
/// with what stays on the host.
std::vector<double> traffic(const Prediction& prediction, std::span<const int> ranks,
                            collectors::Direction direction) {
    constexpr std::array<nanoseconds, 3> windows{100us, 300us, 2ms};
    const auto readings = collectors::readings(predicted_trace(prediction, ranks), direction);
    const auto curve = collectors::burstiness_curve(readings, windows);
    std::vector<double> values{static_cast<double>(readings.back().bytes)};
    for (const auto& point : curve.points) {
        values.push_back(point.bytes.estimate);
        values.push_back(collectors::peak_to_mean(curve, point).estimate);
    }
    const auto all = collectors::readings(predicted_trace(prediction, ranks, true), direction);
    values.push_back(static_cast<double>(all.back().bytes));
    return values;
}

void check_agreement(const Workload& workload, const Network& network, const Profile& profile = {}) {
    INFO(described(network));
    const auto [block, every] = both(workload, network, profile);
    REQUIRE(block.executed_ranks == network.block);
    REQUIRE(every.executed_ranks == network.ranks);
    REQUIRE(block.iterations.size() == every.iterations.size());
    for (std::size_t i = 0; i < every.iterations.size(); ++i) {
        REQUIRE(block.iterations[i].size() == every.iterations[i].size());
        for (std::size_t rank = 0; rank < every.iterations[i].size(); ++rank) {
            CHECK(block.iterations[i][rank].last_bucket_end ==
                  Approx(every.iterations[i][rank].last_bucket_end).epsilon(1e-9));
            CHECK(block.iterations[i][rank].end == Approx(every.iterations[i][rank].end).epsilon(1e-9));
        }
    }
    for (int host = 0; host < network.ranks / network.ranks_per_host; ++host)
        for (const auto direction : {collectors::Direction::tx, collectors::Direction::rx}) {
            INFO("host " << host);
            const auto of_block = traffic(block, ranks_of(host, network), direction);
            const auto of_every = traffic(every, ranks_of(host, network), direction);
            for (std::size_t i = 0; i < of_every.size(); ++i) // a trace counts whole bytes and nanoseconds
                CHECK(of_block[i] == Approx(of_every[i]).epsilon(1e-5).margin(2));
        }
}

} // namespace

TEST_CASE("the ranks of a host stand for those of all hosts on one switch", "[blocks]") {
    for (const Network& network : {Network{8, 2, 0, 1, 2}, Network{12, 3, 0, 1, 3}, Network{16, 4, 0, 1, 4}})
        for (const Algorithm algorithm :
             {Algorithm::ring, Algorithm::sharded_server, Algorithm::hierarchical}) {
            check_agreement(twice_bucketed(Collective::all_reduce, algorithm, network), network);
            if (algorithm != Algorithm::hierarchical)
                check_agreement(twice_bucketed(Collective::reduce_scatter, algorithm, network), network);
        }
    for (const Network& network : {Network{8, 2, 0, 1, 2}, Network{12, 3, 0, 1, 3}})
        check_agreement(twice_bucketed(Collective::all_to_all, Algorithm::ring, network), network);
    for (const Network& network : {Network{8, 2, 0, 1, 2}, Network{32, 4, 0, 1, 4}})
        check_agreement(twice_bucketed(Collective::all_reduce, Algorithm::halving_doubling, network),
                        network);
}

TEST_CASE("the ranks of a leaf stand for those of all leaves, whose uplinks limit them", "[blocks]") {
    for (const double oversubscription : {2.0, 4.0, 8.0})
        for (const int hosts : {2, 3, 4}) {
            const Network network{hosts * 4, 1, hosts, oversubscription, hosts};
            for (const Algorithm algorithm : {Algorithm::sharded_server, Algorithm::halving_doubling}) {
                if (algorithm == Algorithm::halving_doubling && hosts == 3)
                    continue;
                check_agreement(twice_bucketed(Collective::all_reduce, algorithm, network), network);
                check_agreement(twice_bucketed(Collective::all_gather, algorithm, network), network);
            }
            check_agreement(twice_bucketed(Collective::all_to_all, Algorithm::ring, network), network);
        }
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::hierarchical}) {
        const Network network{12, 1, 2, 4, 2}; // a lone stream gets half of the NIC's rate
        check_agreement(twice_bucketed(Collective::all_reduce, algorithm, network), network);
    }
}

TEST_CASE("hosts of several ranks on leaves are one block", "[blocks]") {
    for (const double oversubscription : {4.0, 8.0})
        for (const Network& network :
             {Network{16, 2, 2, oversubscription, 4}, Network{18, 3, 2, oversubscription, 6}})
            for (const Algorithm algorithm :
                 {Algorithm::ring, Algorithm::sharded_server, Algorithm::hierarchical})
                check_agreement(twice_bucketed(Collective::all_reduce, algorithm, network), network);
    const Network network{32, 2, 4, 4, 8};
    check_agreement(twice_bucketed(Collective::all_reduce, Algorithm::halving_doubling, network), network);
    check_agreement(twice_bucketed(Collective::all_to_all, Algorithm::ring, network), network);
}

TEST_CASE("uplinks that cannot limit a plan do not make the block larger", "[blocks]") {
    const auto check = [](Algorithm algorithm, const Network& network) {
        check_agreement(twice_bucketed(Collective::all_reduce, algorithm, network), network);
    };
    check(Algorithm::ring, {16, 1, 4, 1, 1});
    check(Algorithm::halving_doubling, {16, 1, 4, 1, 1});
    check(Algorithm::sharded_server, {16, 2, 4, 1, 2});
    check(Algorithm::ring, {16, 1, 4, 4, 1}); // one of 4 hosts sends up and one receives, at 4 C / 4
    check(Algorithm::ring, {16, 1, 4, 4.5, 4});
    check(Algorithm::ring, {15, 1, 4, 4, 1}); // even if the last leaf is not full
    check(Algorithm::hierarchical, {24, 2, 3, 3, 2});
    check(Algorithm::sharded_server, {8, 2, 4, 8, 2}); // all hosts on one leaf: nothing goes up
}

TEST_CASE("channels, sockets, queues and segments are no obstacle for blocks", "[blocks]") {
    const Network networks[] = {{12, 3, 0, 1, 3}, {16, 2, 2, 4, 4}, {16, 1, 4, 8, 4}};
    for (const Network& network : networks)
        for (const Algorithm algorithm : {Algorithm::ring, Algorithm::sharded_server}) {
            Workload workload = twice_bucketed(Collective::all_reduce, algorithm, network);
            workload.collective.channels = 2;
            workload.collective.in_flight = 2;
            Profile profile;
            profile.collective.segment_bytes = 16384;
            check_agreement(workload, network, profile);
            workload.collective.sockets_per_channel = 2;
            check_agreement(workload, network, profile);
        }
    const Network network{16, 1, 4, 8, 4};
    Workload workload = twice_bucketed(Collective::all_reduce, Algorithm::halving_doubling, network);
    workload.later_iterations[1].collective = Collective::all_to_all; // one shift by xor, one by rotation
    workload.first_iteration = workload.later_iterations;
    workload.collective.in_flight = 2;
    check_agreement(workload, network);
}

TEST_CASE("where blocks differ, every rank is executed", "[blocks]") {
    const auto executed = [](const Network& network, const LinkModel& link, const Profile& profile = {},
                             Algorithm algorithm = Algorithm::sharded_server) {
        return predict(profile, twice_bucketed(Collective::all_reduce, algorithm, network), network.ranks,
                       link, 1, Execution::one_for_all)
            .executed_ranks;
    };
    const Network leaves{16, 1, 4, 4, 4};
    CHECK(executed(leaves, link_on(leaves)) == 4);
    const Network not_full{14, 1, 4, 4};
    CHECK(executed(not_full, link_on(not_full)) == 14);
    Profile straggler;
    straggler.stragglers = {{.ranks = {3}, .factor = 1.5, .to = std::nullopt}};
    CHECK(executed(leaves, link_on(leaves), straggler) == 16);
    const Network pairs{16, 2};
    CHECK(executed(pairs, link_on(pairs)) == 2);
    LinkModel unequal = link_on(pairs);
    unequal.hosts.back() = 6; // 3 ranks on host 6, one on host 7
    unequal.hosts[13] = 6;
    unequal.hosts[14] = 6;
    unequal.hosts[15] = 7;
    CHECK(executed(pairs, unequal) == 16);
    LinkModel unordered = link_on(pairs);
    std::swap(unordered.hosts[0], unordered.hosts[2]);
    CHECK(executed(pairs, unordered) == 16);
    const Network one_host{4, 4};
    CHECK(executed(one_host, link_on(one_host)) == 4);
    CHECK(executed(leaves, link_on(leaves), {}, Algorithm::server) == 16);
    CHECK(executed(leaves, link_on(leaves), {}, Algorithm::double_binary_tree) == 16);
    const Network threes{12, 1, 3, 4}; // halving and doubling of 12 folds 4 ranks away first
    CHECK(executed(threes, link_on(threes), {}, Algorithm::halving_doubling) == 12);
}

TEST_CASE("hosts, and leaves with scarce uplinks, are blocks if all are equal", "[blocks]") {
    const auto sizes = [](const Network& network) {
        const LinkModel link = link_on(network);
        std::vector<int> found;
        for (const RankBlock& block : equal_blocks({.hosts = link.hosts,
                                      .hosts_per_leaf = link.hosts_per_leaf,
                                      .oversubscription = link.oversubscription}))
            found.push_back(block.size);
        return found;
    };
    CHECK(sizes({8, 1}) == std::vector{1});
    CHECK(sizes({8, 2}) == std::vector{2});
    CHECK(sizes({8, 8}).empty());
    CHECK(sizes({9, 2}).empty());
    CHECK(sizes({16, 2, 4, 1}) == std::vector{2});
    CHECK(sizes({16, 2, 4, 2}) == std::vector{2, 8});
    CHECK(sizes({12, 2, 4, 2}) == std::vector{2}); // the last leaf has two hosts
    CHECK(sizes({8, 2, 4, 2}) == std::vector{2});  // one leaf
}

TEST_CASE("blocks of a large job: little that hinders is left out, sizes need not divide", "[blocks]") {
    const Network network{1024, 2};
    Workload workload = twice_bucketed(Collective::all_reduce, Algorithm::ring, network);
    workload.later_iterations.front().bytes = 40'000'004;
    workload.later_iterations.push_back({{.collective = Collective::broadcast, .bytes = 4000}, 0, 7ms, 20ms});
    const Prediction large = predict({}, workload, network.ranks, link_on(network), 2);
    CHECK(large.executed_ranks == 2);
    CHECK(large.left_out.size() == 1);
    const Network small{16, 2, 2, 8, 4};
    workload = twice_bucketed(Collective::all_reduce, Algorithm::sharded_server, small);
    workload.later_iterations.front().bytes = 4'000'004; // chunks of 250,000 and 250,004 bytes
    const auto [block, every] = both(workload, small, {});
    CHECK(block.executed_ranks == 4);
    CHECK(static_cast<double>(block.iteration_times[1].count()) ==
          Approx(static_cast<double>(every.iteration_times[1].count())).epsilon(1e-3));
}

TEST_CASE("groups that are not the whole world have no blocks of several ranks", "[blocks]") {
    const Network network{8, 2};
    Workload workload = twice_bucketed(Collective::all_reduce, Algorithm::ring, network);
    workload.groups.push_back({"halves", {{0, 1, 2, 3}, {4, 5, 6, 7}}});
    workload.later_iterations[1].group = workload.first_iteration[1].group = 1;
    const auto executed = [&](const Network& on) {
        return predict({}, workload, 8, link_on(on), 1, Execution::one_for_all).executed_ranks;
    };
    CHECK(executed(network) == 8);
    CHECK(executed({8, 1, 2, 4}) == 8);
    CHECK(executed({8, 1}) == 1);
}
