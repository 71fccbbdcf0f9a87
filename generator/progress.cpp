#include "generator/progress.hpp"

#include "collectors/units.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <unistd.h>

namespace generator {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto terminal_interval = std::chrono::milliseconds(200);
constexpr auto plain_interval = std::chrono::seconds(5);

} // namespace

bool shown_on_terminal() {
    if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr)
        return ::isatty(STDERR_FILENO) != 0;
    std::error_code error;
    const auto target = std::filesystem::read_symlink(fmt::format("/proc/{}/fd/2", ::getppid()), error);
    return !error && target.string().starts_with("/dev/pts/");
}

Progress::Progress(const std::string& job, std::optional<std::uint32_t> iterations,
                   std::optional<std::chrono::nanoseconds> duration)
    : job_(job), terminal_(job.empty() && shown_on_terminal()), iterations_(iterations), duration_(duration),
      next_(Clock::now()) {}

Progress::~Progress() {
    if (line_open_)
        std::fputc('\n', stderr);
}

void Progress::show(const IterationRecord& record) {
    const bool last = iterations_ && record.iteration + 1 == *iterations_;
    if (Clock::now() < next_ && !last)
        return;
    next_ = Clock::now() + (terminal_ ? std::chrono::nanoseconds(terminal_interval) : plain_interval);
    std::string goal;
    if (iterations_)
        goal = fmt::format(" of {}", *iterations_);
    if (duration_)
        goal += fmt::format(" for {}", collectors::format_duration(*duration_));
    const std::string text = fmt::format(
        "{}iteration {}{} after {}, the last took {}", job_.empty() ? "" : job_ + " | ", record.iteration + 1,
        goal, collectors::format_duration(std::chrono::nanoseconds(record.end_ns)),
        collectors::format_duration(std::chrono::nanoseconds(record.end_ns - record.start_ns)));
    if (terminal_)
        fmt::print(stderr, "\r{:<76}", text);
    else
        fmt::print(stderr, "{}\n", text);
    std::fflush(stderr);
    line_open_ = terminal_;
}

} // namespace generator
