#include "tools/report_files.hpp"

#include "collectors/file_output.hpp"
#include "generator/failure.hpp"

#include <cerrno>
#include <fstream>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tools {

namespace fs = std::filesystem;

void require_ours(const fs::path& path, std::string_view sign) {
    if (!fs::exists(path))
        return;
    if (!fs::is_regular_file(path))
        throw generator::UserError(fmt::format("{}: is there and is no file", path.string()));
    constexpr std::size_t head = 4096; // each of our files has its sign early
    std::string text(head, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(text.data(), static_cast<std::streamsize>(head));
    if (text.find(sign) == std::string::npos)
        throw generator::UserError(fmt::format(
            "{}: is there and not from gradburst-report; give another name, or --overwrite to replace it",
            path.string()));
}

void replace_file(const fs::path& path, std::string_view content) {
    const fs::path beside = path.string() + ".new";
    std::error_code none_there;
    fs::create_directories(path.parent_path(), none_there); // what fails is told below
    fs::remove(beside, none_there); // of a program that was killed, or a link to who knows where
    const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (descriptor < 0)
        throw std::system_error(errno, std::generic_category(), "create " + beside.string());
    try {
        collectors::write_all(descriptor, content, beside);
        fs::rename(beside, path);
    } catch (...) {
        ::close(descriptor);
        ::unlink(beside.c_str()); // half a file helps nobody
        throw;
    }
    ::close(descriptor);
}

} // namespace tools
