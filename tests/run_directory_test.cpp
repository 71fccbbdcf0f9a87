#include "generator/failure.hpp"
#include "generator/run_directory.hpp"
#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text.hpp"

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <system_error>

using namespace generator;
namespace fs = std::filesystem;
using tests::contains;
using tests::message_of;
using tests::text_of;
using tests::write_text;

namespace {

std::set<std::string> entries(const fs::path& folder) {
    std::set<std::string> names;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        names.insert(entry.path().filename().string());
    return names;
}

} // namespace

TEST_CASE("a run directory is made with all folders above it", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "a/b/run", false);
    CHECK(directory.path() == scratch / "a/b/run");
    CHECK(fs::is_directory(scratch / "a/b/run/nic"));
    CHECK(directory.kept() == std::vector<std::string>{"nic/"});
    directory.write("run.json", "{}\n");
    directory.write("nic/x.csv", "1\n");
    CHECK(directory.kept() == std::vector<std::string>{"run.json", "nic/"});
    CHECK(text_of(scratch / "a/b/run/run.json") == "{}\n");
    CHECK(text_of(scratch / "a/b/run/nic/x.csv") == "1\n");
}

TEST_CASE("odd names of folders are names like any other", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    for (const char* name : {"with space", "mit Umlaut \xc3\xa4", "trailing/", "a/../b", "no-utf8 \xff"}) {
        RunDirectory::create(scratch / name, false).write("run.json", "{}");
        CHECK(text_of(scratch / name / "run.json") == "{}");
    }
}

TEST_CASE("a folder that holds something else is used and left as it is", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    fs::create_directory(scratch / "run");
    write_text(scratch / "run/notes.txt", "mine");
    RunDirectory::create(scratch / "run", false);
    RunDirectory::create(scratch / "run", true);
    CHECK(text_of(scratch / "run/notes.txt") == "mine");
}

TEST_CASE("a folder that holds a run is refused", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory::create(scratch / "run", false).write("run.json", "old");
    const std::string message = message_of<UserError>([&] { RunDirectory::create(scratch / "run", false); });
    CHECK(contains(message, (scratch / "run").string()));
    CHECK(contains(message, "--overwrite"));
    CHECK(text_of(scratch / "run/run.json") == "old");
}

TEST_CASE("--overwrite removes the files of the old run and no others", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory old = RunDirectory::create(scratch / "run", false);
    for (const char* name : {"run.json", "timeline.csv", "tcp.csv", "metrics.prom", "nic/node.eth0.csv"})
        old.write(name, "old");
    write_text(scratch / "run/notes.txt", "mine");
    write_text(scratch / "run/report.json", "of the old run");
    write_text(scratch / "run/report.html", "of the old run");
    RunDirectory::create(scratch / "run", true);
    CHECK(entries(scratch / "run") == std::set<std::string>{"nic", "notes.txt"});
    CHECK(entries(scratch / "run/nic").empty());
}

TEST_CASE("--overwrite removes the steps of a sweep, and a folder that looks like one", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory::create_for_sweep(scratch / "sweep", false)
        .write("sweep.json", R"({"steps": [{"directory": "offset-01"}]})");
    CHECK(entries(scratch / "sweep") == std::set<std::string>{"sweep.json"});
    RunDirectory step = RunDirectory::create(scratch / "sweep/offset-01", false);
    step.write("launch.json", R"({"jobs": [{"name": "a"}]})");
    step.of_job("a").write("run.json", "old");
    RunDirectory other = RunDirectory::create(scratch / "sweep/mine", false);
    other.write("run.json", "not of the sweep");
    CHECK(contains(message_of<UserError>([&] { RunDirectory::create(scratch / "sweep", false); }),
                   "--overwrite"));
    RunDirectory::create_for_sweep(scratch / "sweep", true);
    CHECK(entries(scratch / "sweep") == std::set<std::string>{"mine"});
    CHECK(text_of(scratch / "sweep/mine/run.json") == "not of the sweep");
}

TEST_CASE("a file in the place of the folder is the user's mistake", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    write_text(scratch / "file", "");
    CHECK(
        contains(message_of<UserError>([&] { RunDirectory::create(scratch / "file", true); }), "is a file"));
    CHECK(contains(message_of<UserError>([&] { RunDirectory::create(scratch / "file/run", false); }),
                   "file/run: a part of this path is a file"));
}

TEST_CASE("a folder that cannot be made is named with the reason", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    write_text(scratch / "file", "");
    const auto below_a_file = [&] { RunDirectory::join(scratch / "file/run"); };
    CHECK(contains(message_of<std::system_error>(below_a_file), "file/run"));
    CHECK(contains(message_of<std::system_error>(below_a_file), "Not a directory"));
    const auto in_proc = [&] { RunDirectory::create("/proc/gradburst-run", false); };
    CHECK(contains(message_of<std::system_error>(in_proc), "/proc/gradburst-run"));
}

TEST_CASE("a name that is too long is the user's to change, and named", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    const std::string name(300, 'x');
    CHECK(contains(message_of<std::system_error>([&] { RunDirectory::create(scratch / name, false); }),
                   "File name too long"));
}

TEST_CASE("writing replaces a file as a whole and leaves nothing beside it", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    directory.write("run.json", std::string(100'000, 'a'));
    std::ifstream reader(scratch / "run/run.json"); // opened before, sees the old file to its end
    directory.write("run.json", "b");
    CHECK(std::string(std::istreambuf_iterator<char>(reader), {}) == std::string(100'000, 'a'));
    CHECK(text_of(scratch / "run/run.json") == "b");
    CHECK(entries(scratch / "run") == std::set<std::string>{"nic", "run.json"});
}

TEST_CASE("a file that cannot be written is named, and the old one stays", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    directory.write("run.json", "old");
    fs::create_directory(scratch / "run/run.json.new");
    CHECK(contains(message_of<std::system_error>([&] { directory.write("run.json", "new"); }), "run.json"));
    CHECK(text_of(scratch / "run/run.json") == "old");
}

TEST_CASE("a folder in the place of a file is named, kept out of the list, and nothing stays beside it",
          "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    fs::create_directory(scratch / "run/tcp.csv");
    write_text(scratch / "run/tcp.csv/mine", "");
    CHECK(contains(message_of<std::system_error>([&] { directory.write("tcp.csv", "x"); }), "run/tcp.csv"));
    CHECK(entries(scratch / "run") == std::set<std::string>{"nic", "tcp.csv"});
    CHECK(directory.kept() == std::vector<std::string>{"nic/"});
}

TEST_CASE("what another run left is not listed as kept by this one", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    fs::create_directory(scratch / "run");
    write_text(scratch / "run/tcp.csv", "old");
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    directory.write("run.json", "{}");
    CHECK(directory.kept() == std::vector<std::string>{"run.json", "nic/"});
    CHECK(text_of(scratch / "run/tcp.csv") == "old");
}

TEST_CASE("a full disk is told with the file's name, and leaves no half file", "[run_directory]") {
    if (!fs::exists("/dev/full"))
        return;
    const tests::TemporaryFolder scratch;
    RunDirectory directory = RunDirectory::create(scratch / "run", false);
    directory.write("run.json", "old");
    fs::create_symlink("/dev/full", scratch / "run/run.json.new");
    const std::string message = message_of<std::system_error>([&] { directory.write("run.json", "new"); });
    CHECK(contains(message, "run.json"));
    CHECK(contains(message, "No space left"));
    CHECK(text_of(scratch / "run/run.json") == "old");
    CHECK(entries(scratch / "run") == std::set<std::string>{"nic", "run.json"});
}

TEST_CASE("ranks without a common file system make the folder themselves", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    CHECK(RunDirectory::join(scratch / "run").path() == scratch / "run");
    CHECK(fs::is_directory(scratch / "run/nic"));
    RunDirectory::create(scratch / "other", false).write("run.json", "{}");
    RunDirectory::join(scratch / "other"); // with a common one they find what rank 0 made
    CHECK(text_of(scratch / "other/run.json") == "{}");
}

TEST_CASE("a job's folder leads to the traces, which the jobs have in common", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory launch = RunDirectory::create(scratch / "run", false);
    RunDirectory job = launch.of_job("a");
    write_text(scratch / "run/nic/host.eth0.csv", "t_ns");
    job.write("run.json", "{}");
    launch.write("launch.json", R"({"jobs": [{"name": "a"}]})");
    CHECK(text_of(scratch / "run/a/nic/host.eth0.csv") == "t_ns");
    CHECK(job.kept() == std::vector<std::string>{"run.json", "nic/"});
    fs::rename(scratch / "run", scratch / "elsewhere");
    CHECK(text_of(scratch / "elsewhere/a/nic/host.eth0.csv") == "t_ns");
    write_text(scratch / "elsewhere/a/report.json", "{}");
    RunDirectory::create(scratch / "elsewhere", true);
    CHECK(entries(scratch / "elsewhere") == std::set<std::string>{"nic"});
    CHECK(entries(scratch / "elsewhere/nic").empty());
}

TEST_CASE("a launch that is replaced takes its jobs' folders with it and no other", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory launch = RunDirectory::create(scratch / "run", false);
    launch.of_job("a").write("run.json", "{}");
    launch.write("launch.json",
                 R"({"jobs": [{"name": "a"}, {"name": "linked"}, {"name": "../elsewhere"}, {}]})");
    for (const char* name : {"elsewhere", "run/other"})
        RunDirectory::create(scratch / name, false).write("run.json", "mine");
    fs::create_directory_symlink(scratch / "elsewhere", scratch / "run/linked");
    RunDirectory::create(scratch / "run", true);
    CHECK(entries(scratch / "run") == std::set<std::string>{"linked", "nic", "other"});
    for (const char* name : {"elsewhere", "run/other"})
        CHECK(text_of(scratch / name / "run.json") == "mine");
}

TEST_CASE("what only looks like a launch is not followed, waited for, or emptied", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    const auto overwrite = [&] { RunDirectory::create(scratch / "run", true); };
    write_text(scratch / "mine", "mine");
    fs::create_directories(scratch / "run");
    write_text(scratch / "run/launch.json", R"({"jobs": [{"name": "..\u0000x"}, {"name": "a/../.."}]})");
    overwrite();
    CHECK(text_of(scratch / "mine") == "mine");
    REQUIRE(::mkfifo((scratch / "run/launch.json").c_str(), 0600) == 0);
    overwrite();
    CHECK(entries(scratch / "run") == std::set<std::string>{"nic"});
    fs::create_directories(scratch / "run/run.json");
    write_text(scratch / "run/run.json/notes", "mine");
    overwrite();
    CHECK(text_of(scratch / "run/run.json/notes") == "mine");
}

TEST_CASE("a job's folder that stands already is used if it is empty or of a launch cut short",
          "[run_directory]") {
    const tests::TemporaryFolder scratch;
    RunDirectory::create(scratch / "run", false).of_job("a"); // and then it was killed
    RunDirectory launch = RunDirectory::create(scratch / "run", false);
    launch.of_job("a").write("run.json", "old");
    CHECK(contains(message_of<UserError>([&] { launch.of_job("a"); }),
                   (scratch / "run/a").string() + ": holds a run already"));
    fs::create_directories(scratch / "run/b/nic");
    CHECK(contains(message_of<UserError>([&] { launch.of_job("b"); }), (scratch / "run/b/nic").string()));
    CHECK(text_of(scratch / "run/a/run.json") == "old");
}

TEST_CASE("runs that start in the same second get folders of their own", "[run_directory]") {
    const tests::TemporaryFolder scratch;
    const fs::path before = fs::current_path();
    fs::current_path(scratch / "");
    std::set<std::string> names;
    for (int run = 0; run < 3; ++run) {
        names.insert(default_run_directory());
        RunDirectory::create(*names.rbegin(), true);
    }
    fs::current_path(before);
    CHECK(names.size() == 3);
}

TEST_CASE("names and times of runs have the documented form", "[run_directory]") {
    CHECK(std::regex_match(default_run_directory(), std::regex("gradburst-\\d{8}T\\d{6}Z")));
    CHECK(std::regex_match(utc_now(), std::regex("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ")));
    CHECK(std::regex_match(random_run_id(), std::regex("[0-9a-f]{16}")));
    CHECK(random_run_id() != random_run_id());
}
