#include "tools/report_figure.hpp"

#include "tools/report_files.hpp"

#include "collectors/file_output.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tools {
namespace {

/// A file that goes away with this.
class TemporaryScript {
public:
    explicit TemporaryScript(const std::string& text) {
        std::string name = (std::filesystem::temp_directory_path() / "gradburst-figure.XXXXXX").string();
        const int descriptor = ::mkstemp(name.data());
        if (descriptor < 0)
            throw std::system_error(errno, std::generic_category(), "create " + name);
        path_ = name;
        collectors::write_all(descriptor, text, path_);
        ::close(descriptor);
    }
    ~TemporaryScript() { ::unlink(path_.c_str()); }
    TemporaryScript(const TemporaryScript&) = delete;
    TemporaryScript& operator=(const TemporaryScript&) = delete;

    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

/// What gnuplot writes to standard output.
std::string run_gnuplot(const std::filesystem::path& script, const std::filesystem::path& figure) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "create a pipe to gnuplot");
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
    std::string program = "gnuplot";
    std::string argument = script.string();
    char* const arguments[] = {program.data(), argument.data(), nullptr};
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, program.c_str(), &actions, nullptr, arguments, environ);
    ::posix_spawn_file_actions_destroy(&actions);
    ::close(pipe[1]);
    std::string drawn;
    if (error == 0) {
        std::array<char, 65536> buffer{};
        for (ssize_t got = 0; (got = ::read(pipe[0], buffer.data(), buffer.size())) != 0;)
            if (got > 0)
                drawn.append(buffer.data(), static_cast<std::size_t>(got));
            else if (errno != EINTR)
                break;
    }
    ::close(pipe[0]);
    if (error == ENOENT)
        throw std::runtime_error(fmt::format(
            "--figure {}: needs gnuplot, which is not installed (Debian: gnuplot-nox)", figure.string()));
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "start gnuplot");
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0 || drawn.empty())
        throw std::runtime_error(fmt::format("--figure {}: gnuplot failed", figure.string()));
    return drawn;
}

} // namespace

void draw_script(const std::filesystem::path& path, const std::string& text) {
    const TemporaryScript script(text);
    replace_file(path, run_gnuplot(script.path(), path));
}

void draw_figure(const std::filesystem::path& path, const nlohmann::ordered_json& report,
                 std::span<const ReportInput> inputs) {
    draw_script(path, figure_script(path, report, inputs));
}

} // namespace tools
