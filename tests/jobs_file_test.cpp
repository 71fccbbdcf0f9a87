#include "generator/jobs_file.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

using namespace generator;
using namespace std::chrono_literals;
using tests::message_of;

namespace {

namespace fs = std::filesystem;

const fs::path bad_jobs = GRADBURST_SOURCE_DIR "/tests/data/bad_jobs";

std::vector<JobSpec> jobs_of(const std::string& list) {
    return parse_jobs({"folder/jobs.json", R"({"jobs": [)" + list + "]}"});
}

std::string job_named(const std::string& name, const std::string& ranks, const std::string& more = "") {
    return R"({"name": ")" + name + R"(", "profile": "smoke", "ranks": )" + ranks + more + "}";
}

/// Of three hosts with two ranks each.
const std::vector<int> six_ranks{0, 0, 1, 1, 2, 2};

std::string assign_error(const std::string& list) {
    return message_of<ProfileError>([&] { assign_ranks(jobs_of(list), six_ranks, "jobs.json"); });
}

} // namespace

TEST_CASE("a job has profile, ranks, overrides and a start", "[jobs_file]") {
    const auto jobs = jobs_of(
        job_named("a", "\"0-2,8\"") + "," +
        job_named(
            "b", "[4, 3]",
            R"(, "set": {"/run/iterations": 7}, "start": {"phase": 0.5, "of": "a", "period": "1.5s"})") +
        "," + job_named("c", R"({"per_host": 2})", R"(, "start": {"offset_ms": 12})"));
    REQUIRE(jobs.size() == 3);
    CHECK(jobs[0].name == "a");
    CHECK(jobs[0].profile == "smoke");
    CHECK(jobs[0].ranks.ranks == std::vector{0, 1, 2, 8});
    CHECK(jobs[0].start == JobStart{});
    CHECK(jobs[1].ranks.ranks == std::vector{4, 3});
    CHECK(jobs[1].start == JobStart{0ns, 0.5, "a", 1500ms});
    REQUIRE(jobs[1].overrides.size() == 1);
    CHECK(jobs[1].overrides[0].pointer == "/run/iterations");
    CHECK(jobs[1].overrides[0].json == "7");
    CHECK(jobs[1].overrides[0].option == "folder/jobs.json: job b: /run/iterations");
    CHECK(jobs[2].ranks.per_host == 2);
    CHECK(jobs[2].start.offset == 12ms);
}

TEST_CASE("paths of profiles count from the folder of the jobs file", "[jobs_file]") {
    const auto profile = [](const std::string& name) {
        return jobs_of(R"({"name": "a", "ranks": [0], "profile": ")" + name + "\"}").at(0).profile;
    };
    CHECK(profile("resnet50") == "resnet50");
    CHECK(profile("my.json") == "folder/my.json");
    CHECK(profile("../my.json") == "folder/../my.json");
    CHECK(profile("/etc/my.json") == "/etc/my.json");
}

TEST_CASE("each bad jobs file is refused with the message that helps its user", "[jobs_file]") {
    std::ifstream file(bad_jobs / "messages.tsv");
    std::string line;
    std::getline(file, line); // names of the columns
    std::set<std::string> known;
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        std::string name;
        std::string schema;
        std::string message;
        std::getline(fields, name, '\t');
        std::getline(fields, schema, '\t');
        std::getline(fields, message);
        known.insert(name);
        const std::string path = (bad_jobs / name).string();
        CHECK(message_of<ProfileError>([&] { parse_jobs(load_jobs(path)); }) == path + ": " + message);
    }
    CHECK(known.size() >= 30);
    for (const fs::directory_entry& entry : fs::directory_iterator(bad_jobs))
        CHECK((entry.path().extension() != ".json" || known.contains(entry.path().filename().string())));
}

TEST_CASE("what is no JSON is told with its place", "[jobs_file]") {
    CHECK(tests::contains(message_of<ProfileError>([] { parse_jobs({"jobs.json", "{"}); }), "jobs.json: "));
    CHECK(tests::contains(message_of<ProfileError>([] { load_jobs("no/such/jobs.json"); }),
                          "no/such/jobs.json: cannot be opened"));
    CHECK(tests::contains(message_of<ProfileError>([] { load_jobs("/"); }), "is a directory"));
}

TEST_CASE("every rank goes to the job that names it, or to the next that takes some of each host",
          "[jobs_file]") {
    using Members = std::vector<std::vector<int>>;
    const auto assigned = [](const std::string& list) {
        return assign_ranks(jobs_of(list), six_ranks, "jobs.json");
    };
    CHECK(assigned(job_named("a", "\"0-3\"") + "," + job_named("b", "[5, 4]")) ==
          Members{{0, 1, 2, 3}, {5, 4}});
    const std::string one_each = R"({"per_host": 1})";
    CHECK(assigned(job_named("a", one_each) + "," + job_named("b", one_each)) ==
          Members{{0, 2, 4}, {1, 3, 5}});
    CHECK(assigned(job_named("a", one_each) + "," + job_named("b", "[0, 3, 4]")) ==
          Members{{1, 2, 5}, {0, 3, 4}});
}

TEST_CASE("ranks that do not exist, belong to two jobs or to none are told", "[jobs_file]") {
    CHECK(assign_error(job_named("a", "\"0-6\"")) ==
          "jobs.json: /jobs/0/ranks: names rank 6, but there are 6 ranks: 0 to 5");
    CHECK(assign_error(job_named("a", "\"0-3\"") + "," + job_named("b", "\"3-5\"")) ==
          "jobs.json: /jobs/1/ranks: rank 3 belongs to job a already");
    CHECK(assign_error(job_named("a", "\"0-3\"")) ==
          "jobs.json: /jobs: rank 4, 5 of 6 belongs to no job; start fewer ranks, or add them to a job");
    CHECK(assign_error(job_named("a", "\"0-5\"") + "," + job_named("b", R"({"per_host": 1})")) ==
          "jobs.json: /jobs/1/ranks: no rank is left for job b");
}

TEST_CASE("an option holds for every job, and replaces what the jobs file sets", "[jobs_file]") {
    const auto joined = joined_overrides({{"/run/iterations", "7", "file"}, {"/run/seed", "2", "file"}},
                                         {{"/run/iterations", "3", "--iterations"}});
    REQUIRE(joined.size() == 2);
    CHECK(joined[0].option == "--iterations");
    CHECK(joined[1].pointer == "/run/seed");
}
