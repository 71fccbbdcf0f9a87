#include "generator/failure.hpp"
#include "generator/publication.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text.hpp"

#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace generator;

namespace {

/// What `action` prints on one of the standard streams.
template <typename Action>
std::string printed(int descriptor, const std::filesystem::path& scratch, Action action) {
    const std::filesystem::path file = scratch / ("printed" + std::to_string(descriptor));
    std::fflush(nullptr);
    const int before = ::dup(descriptor);
    const int target = ::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    ::dup2(target, descriptor);
    ::close(target);
    action();
    std::fflush(nullptr);
    ::dup2(before, descriptor);
    ::close(before);
    return tests::text_of(file);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
        ++count;
    return count;
}

RunRecord finished_run() {
    RunRecord record;
    record.status = RunStatus::complete;
    return record;
}

/// Nothing can be written under this name any more, as on a full disk.
void block(const RunDirectory& directory, const std::string& name) {
    std::filesystem::create_directory(directory.path() / (name + ".new"));
}

} // namespace

TEST_CASE("a complete run is kept whole and exits with 0", "[results]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    int exit_code = -1;
    const std::string text = printed(STDOUT_FILENO, scratch / "", [&] {
        exit_code = publish(finished_run(), directory, keep({.record = finished_run()}, directory)).exit_code;
    });
    CHECK(exit_code == success);
    CHECK_THAT(text, Catch::Contains("run: run.json, timeline.csv, tcp.csv, nic/, metrics.prom\n"));
    CHECK(occurrences(text, "NOT WRITTEN") == 0);
    CHECK_THAT(tests::text_of(scratch / "run/run.json"), Catch::Contains("\"status\": \"complete\""));
}

TEST_CASE("a run.json that could not be replaced says why it may be there, and the text that it is old",
          "[results]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    const auto unwritten = keep({.record = finished_run()}, directory);
    REQUIRE(unwritten.empty());
    block(directory, "run.json");
    int exit_code = -1;
    const std::string text = printed(STDOUT_FILENO, scratch / "", [&] {
        exit_code = publish(finished_run(), directory, unwritten).exit_code;
    });
    CHECK(exit_code == our_failure);
    CHECK_THAT(text, Catch::Contains(
                         "run: timeline.csv, tcp.csv, nic/, metrics.prom\n"
                         "NOT WRITTEN: run.json; the run.json that is there is from before the metrics\n"));
    CHECK_THAT(tests::text_of(scratch / "run/run.json"),
               Catch::Contains("rank 0 was killed, or could not write (disk full?), after all iterations"));
}

TEST_CASE("a file that can never be written is told once", "[results]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    block(directory, "run.json");
    block(directory, "timeline.csv");
    std::string text;
    const std::string errors = printed(STDERR_FILENO, scratch / "", [&] {
        text = printed(STDOUT_FILENO, scratch / "", [&] {
            CHECK(publish(finished_run(), directory, keep({.record = finished_run()}, directory)).exit_code ==
                  our_failure);
        });
    });
    CHECK(occurrences(errors, "run.json.new") == 1);
    CHECK(occurrences(errors, "timeline.csv.new") == 1);
    CHECK_THAT(text,
               Catch::Contains("run: tcp.csv, nic/, metrics.prom\nNOT WRITTEN: run.json, timeline.csv\n"));
}

TEST_CASE("a run that could not write one of its files has failed, in run.json too", "[results]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    std::filesystem::create_directory(scratch / "run/tcp.csv");
    int exit_code = -1;
    const std::string text = printed(STDOUT_FILENO, scratch / "", [&] {
        exit_code = publish(finished_run(), directory, keep({.record = finished_run()}, directory)).exit_code;
    });
    CHECK(exit_code == our_failure);
    CHECK_THAT(text,
               Catch::Contains("run: run.json, timeline.csv, nic/, metrics.prom\nNOT WRITTEN: tcp.csv\n"));
    CHECK_THAT(tests::text_of(scratch / "run/run.json"),
               Catch::Contains("\"status\": \"failed\"") && Catch::Contains("could not write tcp.csv"));
    CHECK_THAT(tests::text_of(scratch / "run/metrics.prom"), Catch::Contains("run_complete{profile=\"\"} 0"));
}

TEST_CASE("a run directory that was removed keeps nothing, and that is said", "[results]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "gone", false);
    std::filesystem::remove_all(scratch / "gone");
    const std::string text = printed(STDOUT_FILENO, scratch / "", [&] {
        CHECK(publish(finished_run(), directory, keep({.record = finished_run()}, directory)).exit_code ==
              our_failure);
    });
    CHECK_THAT(text,
               Catch::Contains("NOTHING IS KEPT in ") && Catch::Contains("gone\nNOT WRITTEN: run.json"));
}
