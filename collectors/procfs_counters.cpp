#include "collectors/procfs_counters.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace collectors {

namespace {

void skip_spaces(std::string_view& text) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
}

} // namespace

ProcfsCounters::ProcfsCounters(const std::string& interface, const std::filesystem::path& file)
    : interface_(interface), prefix_(interface + ":"), watch_(interface),
      descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0)
        throw std::system_error(errno, std::generic_category(), "open counters " + file.string());
    prefix_.reserve(IFNAMSIZ + 1); // that it never allocates again
    std::uint64_t bytes = 0;
    if (const int error = read_rx(bytes); error != 0) {
        ::close(descriptor_);
        throw std::system_error(error, std::generic_category(), "find " + interface + " in " + file.string());
    }
}

ProcfsCounters::~ProcfsCounters() {
    ::close(descriptor_);
}

int ProcfsCounters::open() noexcept {
    if (follow() != 0) {
        prefix_.assign(interface_).push_back(':');
        watch_.follow(interface_);
    }
    return 0;
}

int ProcfsCounters::read_rx(std::uint64_t& bytes) noexcept {
    return read_followed(0, bytes);
}

int ProcfsCounters::follow() noexcept {
    if (watch_.index() == 0 || watch_.is_called(std::string_view(prefix_).substr(0, prefix_.size() - 1)))
        return 0;
    const InterfaceWatch::Name name = watch_.name();
    if (name.front() == '\0')
        return ENODEV;
    prefix_.assign(name.data()).push_back(':');
    return 0;
}

int ProcfsCounters::read_followed(int column, std::uint64_t& bytes) noexcept {
    int error = follow();
    if (error == 0)
        error = read_column(column, bytes);
    if (error == ENODEV && watch_.index() != 0 && follow() == 0) // renamed in between
        error = read_column(column, bytes);
    return error;
}

int ProcfsCounters::find_line(std::string_view& columns) noexcept {
    off_t offset = 0;
    std::size_t kept = 0; // of a line that the last read cut
    while (true) {
        const ssize_t length = ::pread(descriptor_, text_.data() + kept, text_.size() - kept, offset);
        if (length < 0)
            return errno;
        if (length == 0)
            return ENODEV;
        offset += length;
        std::string_view text(text_.data(), kept + static_cast<std::size_t>(length));
        for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
            std::string_view line = text.substr(0, end);
            text.remove_prefix(end + 1);
            skip_spaces(line);
            // A name may contain a colon on old kernels; after its own colon comes a space.
            if (line.starts_with(prefix_) && line.substr(prefix_.size()).starts_with(' ')) {
                columns = line.substr(prefix_.size());
                return 0;
            }
        }
        kept = text.size();
        if (kept == text_.size())
            return EBADMSG; // a line of 16 KiB
        std::memmove(text_.data(), text.data(), kept);
    }
}

int ProcfsCounters::read_column(int column, std::uint64_t& bytes) noexcept {
    std::string_view columns;
    if (const int error = find_line(columns); error != 0)
        return error;
    for (int number = 0;; ++number) {
        skip_spaces(columns);
        const auto [end, error] = std::from_chars(columns.data(), columns.data() + columns.size(), bytes);
        if (error != std::errc())
            return EBADMSG;
        if (number == column)
            return 0;
        columns.remove_prefix(static_cast<std::size_t>(end - columns.data()));
    }
}

} // namespace collectors
