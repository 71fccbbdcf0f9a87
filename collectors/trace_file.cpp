#include "collectors/trace_file.hpp"

#include "collectors/csv_block.hpp"
#include "collectors/file_output.hpp"
#include "collectors/sidecar.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace collectors {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 16;

} // namespace

std::filesystem::path sidecar_path(const std::filesystem::path& trace_path) {
    return std::filesystem::path(trace_path).replace_extension(".json");
}

std::filesystem::path part_path(const std::filesystem::path& trace_path, std::size_t part) {
    if (part == 0)
        return trace_path;
    std::filesystem::path path = trace_path;
    path += "." + std::to_string(part);
    return path;
}

bool is_binary(const std::filesystem::path& trace_path) {
    const std::string extension = trace_path.extension().string();
    const bool is_part =
        extension.size() > 1 && extension.find_first_not_of("0123456789", 1) == std::string::npos;
    return (is_part ? trace_path.stem().extension() : trace_path.extension()) == ".bin";
}

TraceWriter::TraceWriter(std::filesystem::path path, const TraceFileOptions& options)
    : path_(std::move(path)), options_(options) {
    const auto refuse = [&](std::errc error, const std::string& why) {
        throw std::system_error(std::make_error_code(error), "create trace " + path_.string() + why);
    };
    if (path_.extension() == ".json")
        refuse(std::errc::invalid_argument, " (.json is for its sidecar; use .csv or .bin)");
    if (const auto next = part_path(path_, 1); !options_.overwrite && std::filesystem::exists(next))
        refuse(std::errc::file_exists, " (its part " + next.string() + " is there)");
    const auto twin = std::filesystem::path(path_).replace_extension(is_binary(path_) ? ".csv" : ".bin");
    if (!options_.keep_sidecar && std::filesystem::exists(twin))
        refuse(std::errc::invalid_argument,
               " (" + twin.string() + " has the same sidecar; choose another name)");
    try {
        open_part();
        // A sidecar of an older trace must not explain this one, nor its parts follow this one.
        if (!options_.keep_sidecar)
            std::filesystem::remove(sidecar_path(path_));
        for (std::size_t part = 1; std::filesystem::remove(part_path(path_, part)); ++part) {
        }
    } catch (...) {
        close_all();
        throw;
    }
}

TraceWriter::~TraceWriter() {
    close_all();
}

void TraceWriter::close_all() noexcept {
    for (int* descriptor : {&descriptor_, &lock_})
        if (const int open = std::exchange(*descriptor, -1); open >= 0)
            ::close(open);
}

/// Where the file system knows no locks there is none.
void TraceWriter::lock() {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        throw std::system_error(EBUSY, std::generic_category(),
                                "create trace " + path_.string() + " (somebody is recording into it)");
    lock_ = ::fcntl(descriptor_, F_DUPFD_CLOEXEC, 0);
}

void TraceWriter::open_part() {
    const std::filesystem::path path = part_path(path_, part_);
    const int mode = options_.overwrite ? 0 : O_EXCL;
    descriptor_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666);
    if (descriptor_ < 0)
        throw std::system_error(errno, std::generic_category(), "create trace " + path.string());
    in_part_ = 0;
    try {
        if (part_ == 0)
            lock();
        if (struct stat about{};
            ::fstat(descriptor_, &about) == 0 && S_ISREG(about.st_mode) && ::ftruncate(descriptor_, 0) != 0)
            throw std::system_error(errno, std::generic_category(), "empty " + path.string());
        if (!is_binary(path_))
            write_all(descriptor_, std::string(csv_header) + "\n", path);
    } catch (...) {
        ::close(std::exchange(descriptor_, -1));
        throw;
    }
}

void TraceWriter::close_part() {
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor >= 0 && ::close(descriptor) != 0)
        throw std::system_error(errno, std::generic_category(), "close " + part_path(path_, part_).string());
}

void TraceWriter::begin(const TraceInfo& info) {
    info_ = info;
    info_.complete = false;
    info_.reason = "still recording, or killed";
    write_sidecar(sidecar_path(path_), path_, info_);
}

void TraceWriter::rename(Renaming renaming) {
    info_.renamings.push_back(std::move(renaming));
    write_sidecar(sidecar_path(path_), path_, info_);
}

std::uint64_t TraceWriter::room() const {
    return options_.max_samples ? *options_.max_samples - in_part_
                                : std::numeric_limits<std::uint64_t>::max();
}

void TraceWriter::append(std::span<const Sample> samples) {
    while (!samples.empty() && !full()) {
        if (room() == 0) {
            close_part();
            ++part_;
            open_part();
        }
        const std::size_t count = std::min<std::uint64_t>(samples.size(), room());
        write(samples.first(count));
        samples = samples.subspan(count);
        in_part_ += count;
        written_ += count;
    }
}

void TraceWriter::write(std::span<const Sample> samples) {
    const std::filesystem::path path = part_path(path_, part_);
    const bool binary = is_binary(path_);
    const auto flush = [&] {
        write_all(descriptor_, {block_.data(), block_.size()}, path);
        block_.clear();
    };
    for (const Sample& sample : samples) {
        if (binary)
            encoder_.add(sample, block_);
        else
            append_csv(sample, block_);
        if (block_.size() >= block_bytes)
            flush();
    }
    flush();
}

void TraceWriter::finish(TraceEnd end) {
    close_part();
    info_.complete = true;
    info_.samples = written_;
    info_.reason = std::move(end.reason);
    info_.missed = end.missed;
    info_.failed = end.failed;
    info_.lost_from = end.lost_from;
    info_.sampler = std::move(end.sampler);
    info_.clocks = end.clocks;
    write_sidecar(sidecar_path(path_), path_, info_);
    close_all();
}

void TraceWriter::give_up(std::string reason) {
    info_.reason = std::move(reason);
    write_sidecar(sidecar_path(path_), path_, info_);
}

void write_trace(const std::filesystem::path& path, const Trace& trace) {
    TraceWriter writer(path, {.overwrite = true});
    writer.append(trace.samples);
    write_sidecar(sidecar_path(path), path, trace.info);
}

} // namespace collectors
