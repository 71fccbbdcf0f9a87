#include "collectors/trace_file.hpp"

#include "collectors/file_output.hpp"
#include "collectors/sidecar.hpp"

#include <cerrno>
#include <charconv>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace collectors {

namespace {

constexpr std::string_view header = "t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags\n";
constexpr std::size_t block_bytes = std::size_t{1} << 16;
constexpr std::size_t longest_line = 6 * 21; // six numbers of at most 20 digits, each with a separator

/// Text that grows in place and is written block by block: std::to_chars is twice as fast as any printf.
class CsvBlock {
public:
    CsvBlock() : text_(block_bytes, '\0') {}

    bool full() const { return used_ + longest_line > text_.size(); }
    std::string_view text() const { return {text_.data(), used_}; }
    void clear() { used_ = 0; }

    void add(const Sample& sample) {
        number(sample.t_ns, ',');
        number(sample.rx_width_ns, ',');
        number(sample.tx_width_ns, ',');
        number(sample.rx_bytes, ',');
        number(sample.tx_bytes, ',');
        number(sample.flags, '\n');
    }

private:
    template <typename Number>
    void number(Number value, char separator) {
        char* const begin = text_.data() + used_;
        char* const end = std::to_chars(begin, text_.data() + text_.size(), value).ptr;
        *end = separator;
        used_ += static_cast<std::size_t>(end - begin) + 1;
    }

    std::string text_;
    std::size_t used_ = 0;
};

} // namespace

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

std::filesystem::path sidecar_path(const std::filesystem::path& trace_path) {
    return std::filesystem::path(trace_path).replace_extension(".json");
}

TraceWriter::TraceWriter(std::filesystem::path path, bool overwrite) : path_(std::move(path)) {
    if (path_.extension() == ".json")
        throw std::system_error(std::make_error_code(std::errc::invalid_argument),
                                "create trace " + path_.string() + " (.json is for its sidecar; use .csv)");
    const int mode = overwrite ? O_TRUNC : O_EXCL;
    descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | mode, 0666);
    if (descriptor_ < 0)
        throw std::system_error(errno, std::generic_category(), "create trace " + path_.string());
    try {
        // A sidecar of an older trace must not explain this one.
        std::filesystem::remove(sidecar_path(path_));
        write_all(descriptor_, header, path_);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

TraceWriter::~TraceWriter() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

void TraceWriter::begin(const TraceInfo& info) {
    info_ = info;
    info_.complete = false;
    info_.reason = "still recording, or killed";
    write_sidecar(sidecar_path(path_), path_, info_);
}

void TraceWriter::append(std::span<const Sample> samples) {
    CsvBlock block;
    for (const Sample& sample : samples) {
        block.add(sample);
        if (block.full()) {
            write_all(descriptor_, block.text(), path_);
            block.clear();
        }
    }
    write_all(descriptor_, block.text(), path_);
}

void TraceWriter::finish(std::string reason, std::uint64_t missed, std::uint64_t failed,
                         SamplerFacts sampler) {
    const int descriptor = std::exchange(descriptor_, -1);
    if (descriptor >= 0 && ::close(descriptor) != 0)
        throw std::system_error(errno, std::generic_category(), "close " + path_.string());
    info_.complete = true;
    info_.reason = std::move(reason);
    info_.missed = missed;
    info_.failed = failed;
    info_.sampler = std::move(sampler);
    write_sidecar(sidecar_path(path_), path_, info_);
}

void write_trace(const std::filesystem::path& path, const Trace& trace) {
    TraceWriter writer(path, true);
    writer.append(trace.samples);
    write_sidecar(sidecar_path(path), path, trace.info);
}

} // namespace collectors
