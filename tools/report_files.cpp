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

void require_ours(const fs::path& path, bool overwrite) {
    if (overwrite || !fs::exists(path))
        return;
    constexpr std::size_t head = 4096; // each of our files names its program early
    std::string text(head, '\0');
    std::ifstream file(path, std::ios::binary);
    file.read(text.data(), static_cast<std::streamsize>(head));
    if (text.find("gradburst-report") == std::string::npos)
        throw generator::UserError(fmt::format(
            "{}: is there and not from gradburst-report; give another --out, or --overwrite to replace it",
            path.string()));
}

void replace_file(const fs::path& path, std::string_view content) {
    const fs::path beside = path.string() + ".new";
    const int descriptor = ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
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
