#include "collectors/file_counters.hpp"

#include <cerrno>
#include <charconv>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace collectors {

FileCounters::FileCounters(const std::filesystem::path& root, const std::filesystem::path& rx,
                           const std::filesystem::path& tx, std::uint64_t unit_bytes, std::uint64_t limit)
    : root_(::open(root.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)), paths_{rx.string(), tx.string()},
      unit_bytes_(unit_bytes), limit_(limit) {
    const int error = root_ < 0 ? errno : FileCounters::open();
    if (error == 0)
        return;
    if (root_ >= 0)
        ::close(root_);
    throw std::system_error(error, std::generic_category(),
                            "open counters " + (root / rx).string() + " and " + tx.filename().string());
}

FileCounters::~FileCounters() {
    close_files();
    ::close(root_);
}

int FileCounters::open() noexcept {
    return open_files(paths_[0].c_str(), paths_[1].c_str());
}

int FileCounters::open_files(const char* rx, const char* tx) noexcept {
    close_files();
    const std::array paths{rx, tx};
    for (std::size_t i = 0; i < paths.size(); ++i) {
        descriptors_[i] = ::openat(root_, paths[i], O_RDONLY | O_CLOEXEC);
        if (descriptors_[i] < 0) {
            const int error = errno;
            close_files();
            return error;
        }
    }
    return 0;
}

void FileCounters::close_files() noexcept {
    for (int& descriptor : descriptors_) {
        if (descriptor >= 0)
            ::close(descriptor);
        descriptor = -1;
    }
}

int FileCounters::read_file(std::size_t number, std::uint64_t& bytes) const noexcept {
    std::array<char, 24> text; // 20 digits and a line end
    const ssize_t length = ::pread(descriptors_[number], text.data(), text.size(), 0);
    if (length < 0)
        return errno;
    if (length == 0)
        return ENODATA;
    const auto [end, error] = std::from_chars(text.data(), text.data() + length, bytes);
    if (error != std::errc())
        return EBADMSG;
    if (limit_ != 0 && bytes == limit_)
        return EOVERFLOW;
    bytes *= unit_bytes_;
    return 0;
}

} // namespace collectors
