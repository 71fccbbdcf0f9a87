#include "tools/report_figure.hpp"

#include "collectors/file_output.hpp"

#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

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

void run_gnuplot(const std::filesystem::path& script, const std::filesystem::path& figure) {
    std::string program = "gnuplot";
    std::string argument = script.string();
    char* const arguments[] = {program.data(), argument.data(), nullptr};
    pid_t child = 0;
    const int error = ::posix_spawnp(&child, program.c_str(), nullptr, nullptr, arguments, environ);
    if (error == ENOENT)
        throw std::runtime_error(fmt::format(
            "--figure {}: needs gnuplot, which is not installed (Debian: gnuplot-nox)", figure.string()));
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "start gnuplot");
    int status = 0;
    while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (status != 0)
        throw std::runtime_error(fmt::format("--figure {}: gnuplot failed", figure.string()));
}

} // namespace

void draw_figure(const std::filesystem::path& path, const nlohmann::ordered_json& report,
                 std::span<const ReportInput> inputs) {
    const std::filesystem::path beside = path.string() + ".new";
    const TemporaryScript script(figure_script(path, report, inputs, beside));
    try {
        run_gnuplot(script.path(), path);
        std::filesystem::rename(beside, path);
    } catch (...) {
        std::error_code ignored;
        std::filesystem::remove(beside, ignored);
        throw;
    }
}

} // namespace tools
