#include "collectors/file_output.hpp"

#include <cerrno>
#include <stdexcept>
#include <system_error>

#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collectors {

void write_all(int descriptor, std::string_view text, const std::filesystem::path& path) {
    while (!text.empty()) {
        const ssize_t written = ::write(descriptor, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written < 0)
            throw std::system_error(errno, std::generic_category(), "write " + path.string());
        text.remove_prefix(static_cast<std::size_t>(written));
    }
}

void require_written(std::vector<std::string> errors) {
    std::erase(errors, std::string());
    if (!errors.empty())
        throw std::runtime_error(fmt::format("{}", fmt::join(errors, "; ")));
}

} // namespace collectors
