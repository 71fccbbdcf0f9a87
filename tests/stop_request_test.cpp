#include "generator/failure.hpp"
#include "generator/stop_request.hpp"
#include "tests/catch.hpp"

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace generator;
using namespace std::chrono_literals;

namespace {

bool is_readable(int descriptor) {
    pollfd readable{descriptor, POLLIN, 0};
    return ::poll(&readable, 1, 0) == 1;
}

/// A process that Open MPI seems to have started: prepares to be stopped, says so, and waits for ever.
pid_t start_child(const std::function<void(StopRequest&)>& prepare) {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe(ends) == 0);
    const pid_t id = ::fork();
    if (id == 0) {
        ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
        StopRequest stop;
        prepare(stop);
        [[maybe_unused]] const ssize_t written = ::write(ends[1], "r", 1);
        for (;;)
            ::pause();
    }
    char ready = 0;
    REQUIRE(::read(ends[0], &ready, 1) == 1);
    ::close(ends[0]);
    ::close(ends[1]);
    return id;
}

/// The exit code, and how long it took.
std::pair<int, std::chrono::milliseconds> exit_of(pid_t child) {
    const auto start = std::chrono::steady_clock::now();
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return {WEXITSTATUS(status),
            std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start)};
}

} // namespace

TEST_CASE("the first signal is kept as a request to stop", "[stop]") {
    StopRequest stop;
    stop.hold();
    CHECK(stop.signal() == 0);
    CHECK_FALSE(stop.requested_for(0ms));
    CHECK_FALSE(is_readable(stop.descriptor()));
    const int signal = GENERATE(SIGINT, SIGTERM, SIGHUP);
    std::raise(signal);
    std::raise(SIGTERM);
    CHECK(stop.signal() == signal);
    CHECK(is_readable(stop.descriptor()));
    CHECK(stop.requested_for(0ms));
    CHECK_FALSE(stop.requested_for(1h));
}

TEST_CASE("the word of another rank counts as much as a signal", "[stop]") {
    StopRequest stop;
    stop.hold();
    stop.request(15);
    CHECK(stop.signal() == 15);
    CHECK(is_readable(stop.descriptor()));
}

TEST_CASE("being continued is no request to stop, unless the launcher does it", "[stop]") {
    ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    StopRequest stop;
    stop.hold();
    std::raise(SIGCONT);
    CHECK(stop.signal() == 0);
    ::unsetenv("OMPI_COMM_WORLD_RANK");

    const pid_t child = start_child([](StopRequest& own) { own.hold(); });
    ::kill(child, SIGCONT);
    CHECK(exit_of(child).first == interrupted);
}

TEST_CASE("a process with nothing to bring to an end ends at once", "[stop]") {
    const int signal = GENERATE(SIGCONT, SIGINT, SIGTERM);
    const pid_t child = start_child([](StopRequest&) {});
    ::kill(child, signal);
    const auto [code, time] = exit_of(child);
    CHECK(code == interrupted);
    CHECK(time < stop_grace / 2);
}

TEST_CASE("a process that hangs ends when its grace is over", "[stop]") {
    const pid_t child = start_child([](StopRequest& stop) { stop.hold(); });
    ::kill(child, SIGTERM);
    const auto [code, time] = exit_of(child);
    CHECK(code == interrupted);
    CHECK(time >= stop_grace - 50ms);
}
