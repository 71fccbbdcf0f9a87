#pragma once

#include "program_folder.hpp"
#include "temporary_folder.hpp"

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tests {

/// gradburst-collect in a folder of its own; GRADBURST_COLLECT is its path. Unlike ShellProgram it can be
/// looked at and signalled while it runs.
class CollectProgram {
public:
    std::filesystem::path trace() const { return folder_ / "trace.csv"; }
    std::string folder() const { return folder_.path().string(); }

    pid_t start(std::vector<std::string> arguments) const {
        arguments.insert(arguments.begin(), GRADBURST_COLLECT);
        std::vector<char*> pointers;
        for (std::string& argument : arguments)
            pointers.push_back(argument.data());
        pointers.push_back(nullptr);
        const std::string output = (folder_ / "stdout").string();
        const std::string errors = (folder_ / "stderr").string();
        const pid_t child = ::fork();
        if (child == 0) {
            ::dup2(::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
            ::dup2(::open(errors.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
            ::execv(GRADBURST_COLLECT, pointers.data());
            ::_exit(127);
        }
        return child;
    }

    Outcome finish(pid_t child) const {
        int status = 0;
        ::waitpid(child, &status, 0);
        Outcome outcome;
        outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
        outcome.output = text_of(folder_ / "stdout");
        outcome.errors = text_of(folder_ / "stderr");
        return outcome;
    }

    Outcome run(std::vector<std::string> arguments) const { return finish(start(std::move(arguments))); }

    Outcome record(std::vector<std::string> more = {"--duration", "500ms"}) const {
        more.insert(more.begin(), {"record", "--iface", "lo", "--out", trace().string()});
        return run(std::move(more));
    }

    /// Records until at least one block is in the file; then the program is in the middle of it.
    pid_t start_recording() const {
        const pid_t child =
            start({"record", "--iface", "lo", "--out", trace().string(), "--interval", "1ms"});
        const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(20);
        std::error_code error;
        while (std::chrono::steady_clock::now() < deadline &&
               (std::filesystem::file_size(trace(), error) < 200 || error))
            std::this_thread::sleep_for(std::chrono::milliseconds(5));
        return child;
    }

private:
    TemporaryFolder folder_;
};

} // namespace tests
