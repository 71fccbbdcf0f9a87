// Steps and bytes of every plan, by the formulas of the literature (see generator/plan_forms.hpp). Sizes
// where 32-bit counts break (MPI's int, signed sizes) are among them.
#include "generator/plan_steps.hpp"
#include "tests/plan_cases.hpp"

#include <bit>

using namespace generator;

namespace {

struct Totals {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
};

/// Data only, by rank; checks on the way that ranges lie between elements and inside the buffer.
std::vector<Totals> data_bytes(const CollectiveCall& call, int size, const std::vector<RankPlan>& plans) {
    std::vector<Totals> totals;
    for (int position = 0; position < size; ++position) {
        const std::uint64_t end = buffer_bytes(call, position, size);
        Totals& rank = totals.emplace_back();
        for (const Operation& operation : plans[static_cast<std::size_t>(position)].operations) {
            if (operation.is_signal())
                continue;
            (operation.is_send() ? rank.sent : rank.received) += operation.range.bytes;
            if (operation.range.offset + operation.range.bytes > end ||
                operation.range.offset % call.element_bytes != 0 || operation.range.bytes == 0)
                throw std::logic_error("a range outside the buffer or inside an element");
        }
    }
    return totals;
}

/// N = 2..33, sizes from nothing to 4 GiB, elements of 1, 2 and 4 bytes.
template <class Check>
void for_all_cases(CollectiveCall call, Check check) {
    for (const std::uint64_t element : {1U, 2U, 4U})
        for (int size = 2; size <= 33; ++size) {
            const auto n = static_cast<std::uint64_t>(size);
            for (const std::uint64_t elements :
                 {std::uint64_t{0}, std::uint64_t{1}, n - 1, n, n + 1, std::uint64_t{1000003},
                  (2147483648U - 4U) / element, 2147483648U / element, (4294967296U + 4U) / element}) {
                call.element_bytes = element;
                call.bytes = elements * element;
                INFO(tests::text(call, size) << ", elements of " << element << " bytes");
                const std::vector<RankPlan> plans = tests::all_ranks(call, size);
                check(call, size, plans, data_bytes(call, size, plans));
            }
        }
}

/// Of a collective in which every rank sends what the formula gives, within `elements` elements.
void require_bytes(std::uint64_t bytes, double formula, double elements, const CollectiveCall& call) {
    REQUIRE(std::abs(static_cast<double>(bytes) - formula) <=
            elements * static_cast<double>(call.element_bytes));
}

double fraction(int size) { // (N-1)/N
    return static_cast<double>(size - 1) / static_cast<double>(size);
}

std::uint64_t total_sent(const std::vector<Totals>& totals) {
    std::uint64_t sent = 0;
    std::uint64_t received = 0;
    for (const Totals& rank : totals) {
        sent += rank.sent;
        received += rank.received;
    }
    REQUIRE(sent == received);
    return sent;
}

/// Steps are counted where no chunk is empty.
bool all_take_part(const CollectiveCall& call, int size) {
    return call.bytes / call.element_bytes >= static_cast<std::uint64_t>(size);
}

std::size_t floor_log2(int number) {
    return static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(number))) - 1;
}

std::uint64_t others(int size) {
    return static_cast<std::uint64_t>(size - 1);
}

} // namespace

TEST_CASE("ring all-reduce: 2(N-1) steps, 2(N-1)/N S sent and received", "[ring]") {
    for_all_cases({}, [](const CollectiveCall& call, int size, const auto& plans, const auto& totals) {
        if (all_take_part(call, size)) {
            REQUIRE(dependent_steps(plans) == 2 * others(size));
            for (const RankPlan& plan : plans)
                REQUIRE(plan.operations.size() == 4 * others(size)); // a send and a receive in each step
        }
        for (const Totals& rank : totals) {
            require_bytes(rank.sent, 2 * fraction(size) * static_cast<double>(call.bytes), 2, call);
            require_bytes(rank.received, 2 * fraction(size) * static_cast<double>(call.bytes), 2, call);
        }
        REQUIRE(total_sent(totals) == 2 * others(size) * call.bytes);
    });
}

TEST_CASE("reduce-scatter and all-gather: (N-1)/N S in N-1 steps by ring, 1 step directly", "[plan]") {
    for (const Collective collective : {Collective::reduce_scatter, Collective::all_gather})
        for (const Algorithm algorithm :
             {Algorithm::ring, Algorithm::sharded_server, Algorithm::double_binary_tree})
            for_all_cases({.collective = collective, .algorithm = algorithm}, [&](const CollectiveCall& call,
                                                                                  int size, const auto& plans,
                                                                                  const auto& totals) {
                if (all_take_part(call, size))
                    REQUIRE(dependent_steps(plans) ==
                            (algorithm == Algorithm::sharded_server ? 1 : others(size)));
                for (const Totals& rank : totals) {
                    require_bytes(rank.sent, fraction(size) * static_cast<double>(call.bytes), size, call);
                    if (call.bytes > 0 && all_take_part(call, size))
                        require_bytes(rank.received, fraction(size) * static_cast<double>(call.bytes), size,
                                      call);
                }
                REQUIRE(total_sent(totals) == others(size) * call.bytes);
            });
}

TEST_CASE("recursive halving: log2 N steps, rounded up or down; S less the own chunk is sent, or received "
          "when doubling",
          "[halving]") {
    for (const Collective collective : {Collective::reduce_scatter, Collective::all_gather})
        for_all_cases({.collective = collective, .algorithm = Algorithm::halving_doubling},
                      [&](const CollectiveCall& call, int size, const auto& plans, const auto& totals) {
                          const bool power = std::has_single_bit(static_cast<unsigned>(size));
                          if (all_take_part(call, size)) {
                              const std::size_t steps = dependent_steps(plans);
                              REQUIRE(steps >= floor_log2(size));
                              REQUIRE(steps <= floor_log2(size) + (power ? 0 : 1));
                          }
                          for (int position = 0; position < size; ++position) {
                              const Totals& rank = totals[static_cast<std::size_t>(position)];
                              const std::uint64_t rest =
                                  call.bytes - tests::chunk(call, size, position).bytes;
                              const bool scatter = collective == Collective::reduce_scatter;
                              REQUIRE((scatter ? rank.sent : rank.received) == rest);
                              if (power && all_take_part(call, size))
                                  require_bytes(scatter ? rank.received : rank.sent,
                                                fraction(size) * static_cast<double>(call.bytes), size, call);
                          }
                          REQUIRE(total_sent(totals) == others(size) * call.bytes);
                      });
}

TEST_CASE("sharded servers: 2 steps, 2(N-1)/N S, N-1 senders at each at once", "[server]") {
    for_all_cases({.algorithm = Algorithm::sharded_server}, [](const CollectiveCall& call, int size,
                                                               const auto& plans, const auto& totals) {
        if (all_take_part(call, size)) {
            REQUIRE(dependent_steps(plans) == 2);
            // The first transfers to rank 0 come from all others and wait for nothing.
            for (std::size_t rank = 1; rank < plans.size(); ++rank)
                for (const Operation& operation : plans[rank].operations)
                    if (operation.is_send() && operation.peer == 0) {
                        REQUIRE(operation.behind.empty());
                        REQUIRE(operation.after.empty());
                        break;
                    }
            REQUIRE(plans[0].operations[0].peer == 1);
        }
        for (const Totals& rank : totals)
            require_bytes(rank.sent, 2 * fraction(size) * static_cast<double>(call.bytes), size, call);
        REQUIRE(total_sent(totals) == 2 * others(size) * call.bytes);
    });
}

TEST_CASE("halving-doubling by binary blocks: 2 floor(log2 N) steps; per rank 2(B-1)/B S, and S/B for each "
          "neighbouring block",
          "[halving]") {
    for_all_cases({.algorithm = Algorithm::halving_doubling}, [](const CollectiveCall& call, int size,
                                                                 const auto& plans, const auto& totals) {
        // Every piece has an element when there are as many as ranks in the largest block.
        if (all_take_part(call, size))
            REQUIRE(dependent_steps(plans) == 2 * floor_log2(size));
        int first = 0;
        while (first < size) { // block by block, largest first
            const int block = 1 << floor_log2(size - first);
            const int neighbours = (first > 0 ? 1 : 0) + (first + block < size ? 1 : 0);
            const double formula = (2 * fraction(block) + static_cast<double>(neighbours) / block) *
                                   static_cast<double>(call.bytes);
            for (int position = first; position < first + block; ++position) {
                const Totals& rank = totals[static_cast<std::size_t>(position)];
                require_bytes(rank.sent, formula, 6, call); // an element per halving, at most 5, and one
                REQUIRE(rank.sent == rank.received);
                if (call.bytes % (static_cast<std::uint64_t>(block) * call.element_bytes) == 0)
                    REQUIRE(static_cast<double>(rank.sent) == formula);
            }
            first += block;
        }
        REQUIRE(total_sent(totals) == 2 * others(size) * call.bytes);
    });
}

TEST_CASE("double binary tree: 2 floor(log2 N) steps, at most 2 S per rank, no rank inside both trees",
          "[tree]") {
    for_all_cases({.algorithm = Algorithm::double_binary_tree},
                  [](const CollectiveCall& call, int size, const auto& plans, const auto& totals) {
                      if (call.bytes / call.element_bytes >= 2)
                          REQUIRE(dependent_steps(plans) == 2 * floor_log2(size));
                      for (std::size_t position = 0; position < plans.size(); ++position) {
                          const Totals& rank = totals[position];
                          REQUIRE(rank.sent == rank.received);
                          REQUIRE(rank.sent <= 2 * call.bytes + 2 * call.element_bytes);
                          // Children are those whose sums are added here.
                          std::array<std::uint64_t, 2> children{};
                          for (const Operation& operation : plans[position].operations)
                              if (operation.kind == Operation::Kind::receive_add)
                                  ++children[operation.range.offset == 0 ? 0 : 1];
                          if (call.bytes / call.element_bytes >= 2)
                              REQUIRE((children[0] == 0 || children[1] == 0));
                      }
                      REQUIRE(total_sent(totals) == 2 * others(size) * call.bytes);
                  });
}

TEST_CASE("broadcast: (N-1) S in all; N-1 steps by ring, 1 + floor(log2 (N-1)) by two trees, 1 by incast",
          "[plan]") {
    for (const Algorithm algorithm : {Algorithm::ring, Algorithm::double_binary_tree, Algorithm::server})
        for_all_cases(
            {.collective = Collective::broadcast, .algorithm = algorithm, .service = Service::incast},
            [&](const CollectiveCall& call, int size, const auto& plans, const auto& totals) {
                const std::size_t steps = algorithm == Algorithm::ring     ? others(size)
                                          : algorithm == Algorithm::server ? 1
                                                                           : 1 + floor_log2(size - 1);
                if (call.bytes / call.element_bytes >= 2)
                    REQUIRE(dependent_steps(plans) == steps);
                REQUIRE(totals[0].sent == (algorithm == Algorithm::server ? others(size) : 1) * call.bytes);
                REQUIRE(totals[0].received == 0);
                for (std::size_t rank = 1; rank < totals.size(); ++rank) {
                    REQUIRE(totals[rank].received == call.bytes);
                    REQUIRE(totals[rank].sent <= call.bytes + 2 * call.element_bytes);
                }
                REQUIRE(total_sent(totals) == others(size) * call.bytes);
            });
}

TEST_CASE("all-to-all: N-1 steps, everything but the own partition is sent", "[plan]") {
    for_all_cases({.collective = Collective::all_to_all},
                  [](const CollectiveCall& call, int size, const auto& plans, const auto& totals) {
                      if (all_take_part(call, size))
                          REQUIRE(dependent_steps(plans) == others(size));
                      for (int position = 0; position < size; ++position) {
                          const Totals& rank = totals[static_cast<std::size_t>(position)];
                          const std::uint64_t own = tests::chunk(call, size, position).bytes;
                          REQUIRE(rank.sent == call.bytes - own);
                          REQUIRE(rank.received == others(size) * own);
                      }
                      total_sent(totals);
                  });
}

TEST_CASE("send: one step from the first to the second", "[plan]") {
    const CollectiveCall call{.collective = Collective::send, .bytes = 4294967300};
    const std::vector<RankPlan> plans = tests::all_ranks(call, 2);
    REQUIRE(dependent_steps(plans) == 1);
    REQUIRE(plans[0].sent_bytes() == 4294967300);
    REQUIRE(plans[0].received_bytes() == 0);
    REQUIRE(plans[1].received_bytes() == 4294967300);
}

TEST_CASE("hierarchical: 2(G-1) + 2(M-1) steps; a host's NIC sends 2(M-1)/M S", "[hierarchical]") {
    for (const auto& [hosts, per_host] : {std::pair{2, 1}, {2, 2}, {2, 8}, {3, 2}, {4, 4}, {8, 4}, {5, 3}})
        for (const std::uint64_t bytes :
             {0ULL, 4ULL, 1000000ULL, 2147483644ULL, 2147483648ULL, 4294967300ULL}) {
            const int size = hosts * per_host;
            CollectiveCall call{.bytes = bytes, .element_bytes = 4, .algorithm = Algorithm::hierarchical};
            for (int position = 0; position < size; ++position)
                call.hosts.push_back(position / per_host);
            INFO(tests::text(call, size) << ", " << hosts << " hosts");
            const std::vector<RankPlan> plans = tests::all_ranks(call, size);
            if (all_take_part(call, size))
                REQUIRE(dependent_steps(plans) ==
                        static_cast<std::size_t>(2 * (per_host - 1) + 2 * (hosts - 1)));
            std::vector<std::uint64_t> leaving(static_cast<std::size_t>(hosts), 0);
            for (int position = 0; position < size; ++position) {
                std::uint64_t inside = 0;
                for (const Operation& operation : plans[static_cast<std::size_t>(position)].operations)
                    if (operation.is_send())
                        (operation.peer / per_host == position / per_host
                             ? inside
                             : leaving[static_cast<std::size_t>(position / per_host)]) +=
                            operation.range.bytes;
                require_bytes(inside, 2 * fraction(per_host) * static_cast<double>(bytes), 2, call);
            }
            for (const std::uint64_t host_bytes : leaving)
                require_bytes(host_bytes, 2 * fraction(hosts) * static_cast<double>(bytes), 2 * per_host,
                              call);
            total_sent(data_bytes(call, size, plans));
        }
}

TEST_CASE("server: 2 steps when all push at once, 2(N-1) one after another", "[server]") {
    for (int size = 2; size <= 33; ++size) {
        CollectiveCall call{.bytes = 97, .algorithm = Algorithm::server, .service = Service::incast};
        REQUIRE(dependent_steps(tests::all_ranks(call, size)) == 2);
        call.service = Service::sequenced;
        REQUIRE(dependent_steps(tests::all_ranks(call, size)) == 2 * others(size));
        call.collective = Collective::broadcast;
        REQUIRE(dependent_steps(tests::all_ranks(call, size)) == others(size));
    }
}

TEST_CASE("a transfer that waits for itself has no number of steps", "[plan]") {
    std::vector<RankPlan> plans = tests::all_ranks({.bytes = 9}, 3);
    for (RankPlan& plan : plans)
        plan.operations[0].after = {static_cast<std::uint32_t>(plan.operations.size() - 1)};
    REQUIRE_THROWS_WITH(dependent_steps(plans), "a transfer that waits for itself");
}
