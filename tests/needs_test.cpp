#include "generator/needs.hpp"
#include "tests/catch.hpp"

using namespace generator;
using namespace std::chrono_literals;

namespace {

/// One bucket of 4,000,000 bytes in an iteration of 100 ms; 500 us between samples.
Profile profile_with(const std::string& run) {
    return parse_profile({"p.json",
                          R"({"compute": {"time": "100ms"}, "gradients": {"bucketing": "explicit",
        "buckets": [{"bytes": 4000000}]}, "run": )" +
                              run + "}",
                          ""});
}

Needs needs_of(const std::string& run, const Placement& placement) {
    const Profile profile = profile_with(run);
    return estimate_needs(profile, make_workload(profile, 1), placement);
}

} // namespace

TEST_CASE("verifying holds every bucket once for each rank of a host", "[needs]") {
    const Placement eight_on_two_hosts{.world_size = 8, .ranks_per_host = 4, .interfaces = 2};
    const Needs without = needs_of(R"({"iterations": 20})", eight_on_two_hosts);
    const Needs with = needs_of(R"({"iterations": 20, "verify": true})", eight_on_two_hosts);
    CHECK(with.memory.least - without.memory.least == 4 * 4'000'000);
    CHECK(with.memory.likely - without.memory.likely == 4 * 4'000'000);
    CHECK(with.disk == without.disk);
}

TEST_CASE("disk takes a line per sample and interface, ten a second of its slow lane, and one per bucket, "
          "iteration and rank",
          "[needs]") {
    const Needs needs =
        needs_of(R"({"iterations": 600})", {.world_size = 8, .ranks_per_host = 4, .interfaces = 2});
    CHECK(needs.iterations == 600);
    // 600 x 100 ms = 60 s; 2,000 samples a second and interface; 600 x 8 lines of the timeline, and as
    // many of tcp.csv, for a rank of a ring sends on one connection.
    CHECK(needs.disk.likely == 60 * 2000 * 2 * 56 + 60 * 10 * 2 * 90 + 600 * 8 * (120 + 75));
    CHECK(needs.disk.least == 60 * 2000 * 2 * 12 + 60 * 10 * 2 * 30 + 600 * 8 * 40);
}

TEST_CASE("a run with a duration ends by it", "[needs]") {
    const Placement two{.world_size = 2, .ranks_per_host = 1, .interfaces = 2};
    const Needs hour = needs_of(R"({"duration": "1h"})", two);
    CHECK(hour.iterations == 36'001); // 3,600 s / 100 ms, and the one in which it ends
    CHECK(hour.disk.likely == 3600ULL * 2 * (2000 * 56 + 10 * 90) + 36'001ULL * 2 * (120 + 75));
    CHECK(hour.disk.least ==
          3600ULL * 2 * (2000 * 12 + 10 * 30) + 2 * 40); // a slow network may leave one iteration
    CHECK(needs_of(R"({"duration": "1h", "iterations": 10})", two).iterations == 10);
}

TEST_CASE("a slow network makes fewer iterations of a duration likely", "[needs]") {
    Placement two{.world_size = 2, .ranks_per_host = 1, .interfaces = 2};
    const Needs fast = needs_of(R"({"duration": "100s"})", two);
    two.line_rate = BitRate{32'000'000}; // 4 MB take a second
    const Needs slow = needs_of(R"({"duration": "100s"})", two);
    CHECK(fast.disk.likely - slow.disk.likely == (1001 - 101) * 2 * (120 + 75));
    CHECK(slow.iterations == fast.iterations);
}

TEST_CASE("connections take lines of tcp.csv only where they are asked, and so many at most", "[needs]") {
    const auto disk = [](const std::string& rest, int world_size) {
        const Profile profile = parse_profile({"p.json",
                                               R"({"compute": {"time": "100ms"}, "gradients": {"bucketing":
            "explicit", "buckets": [{"bytes": 4000000}]}, )" +
                                                   rest + "}",
                                               ""});
        return estimate_needs(profile, make_workload(profile, world_size), {.world_size = world_size})
            .disk.likely;
    };
    const std::string off = R"(, "sampling": {"tcp_info": false})";
    const std::string ring = R"("collective": {"channels": 2}, "run": {"iterations": 100})";
    CHECK(disk(ring, 4) - disk(ring + off, 4) == 100 * 4 * 2 * 75);
    // The server sends to three workers, each of them to the server.
    const std::string server = R"("collective": {"algorithm": "server"}, "run": {"iterations": 100})";
    CHECK(disk(server, 4) - disk(server + off, 4) == 100 * (3 + 3) * 75);
    const std::string longest = R"("run": {"iterations": 1000000000})";
    CHECK(disk(longest, 2) - disk(longest + off, 2) == 2ULL * 262'144 * 75);
    CHECK(disk(ring, 1) == disk(ring + off, 1)); // nobody to send to
}

TEST_CASE("an estimate beyond 64 bits is the largest number, not a small one", "[needs]") {
    const Profile profile = parse_profile(
        {"p.json",
         R"({"gradients": {"bucketing": "explicit", "buckets": [{"bytes": 9000000000000000000}]}, "run": {"verify": true}})",
         ""});
    const Needs needs =
        estimate_needs(profile, make_workload(profile, 1), {.world_size = 8, .ranks_per_host = 8});
    CHECK(needs.memory.least == ~std::uint64_t{0});
}

TEST_CASE("what does not fit is told, and only what certainly does not fit is an error", "[needs]") {
    const Needs needs{.iterations = 1, .memory = {100, 1000}, .disk = {20, 2000}};
    CHECK(space_warnings(needs, {1000, 2000}).empty());
    CHECK(space_warnings(needs, {}).empty()); // nobody knows
    REQUIRE(space_warnings(needs, {999, 1999}).size() == 2);
    CHECK(space_warnings(needs, {999, 1999})[0].find("MEMORY: the ranks of a host need about 1 kB") == 0);
    CHECK(space_warnings(needs, {999, 1999})[1].find("DISK: traces, timeline and tcp.csv need about 2 kB") ==
          0);
    CHECK(space_error(needs, {100, 20}).empty());
    CHECK(space_error(needs, {}).empty());
    CHECK(space_error(needs, {99, 20}).find("need 100 B of memory at least") != std::string::npos);
    CHECK(space_error(needs, {100, 19}).find("traces and timeline need 20 B at least") != std::string::npos);
}
