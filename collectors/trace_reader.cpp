#include "collectors/trace_file.hpp"

#include "collectors/csv_block.hpp"
#include "collectors/sidecar.hpp"
#include "collectors/sidecar_numbers.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace collectors {

namespace {

constexpr std::size_t chunk_bytes = std::size_t{1} << 20;

using Block = std::function<void(std::span<const Sample>)>;

/// Takes one number and its separator (none after the last) from the front of `line`.
template <typename Number>
bool take(std::string_view& line, Number& value, bool last) {
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), value);
    if (error != std::errc())
        return false;
    line.remove_prefix(static_cast<std::size_t>(end - line.data()));
    if (last)
        return line.empty();
    if (!line.starts_with(','))
        return false;
    line.remove_prefix(1);
    return true;
}

bool parse_sample(std::string_view line, Sample& sample) {
    return take(line, sample.t_ns, false) && take(line, sample.rx_width_ns, false) &&
           take(line, sample.tx_width_ns, false) && take(line, sample.rx_bytes, false) &&
           take(line, sample.tx_bytes, false) && take(line, sample.flags, true);
}

[[noreturn]] void refuse(const std::filesystem::path& path, std::uint64_t place, const std::string& reason) {
    throw std::runtime_error(fmt::format("{}:{}: {}", path.string(), place, reason));
}

/// Reads one file after the other; a sample may not begin before the last one ended, wherever that was.
class Reader {
public:
    explicit Reader(const Block& block) : block_(block) {}

    /// `path` is of a trace, or one of its further parts.
    void read(const std::filesystem::path& path, bool binary) {
        path_ = path;
        place_ = 0;
        // It is read more than once, and opening a pipe would wait for its writer.
        if (std::filesystem::exists(path) && !std::filesystem::is_regular_file(path))
            throw std::system_error(std::filesystem::is_directory(path) ? EISDIR : ESPIPE,
                                    std::generic_category(), "open trace " + path.string());
        std::ifstream file(path, std::ios::binary);
        if (!file)
            throw std::system_error(errno, std::generic_category(), "open trace " + path.string());
        std::vector<char> bytes(chunk_bytes);
        std::size_t rest = 0; // of a line or record that began in the chunk before
        // The file may still be growing or be cut at this moment: what was read is what counts.
        while (file.read(bytes.data() + rest, static_cast<std::streamsize>(bytes.size() - rest)),
               file.gcount() > 0) {
            const std::string_view chunk(bytes.data(), rest + static_cast<std::size_t>(file.gcount()));
            const std::size_t used = binary ? take_records(chunk) : take_lines(chunk);
            if (used == 0 && chunk.size() == bytes.size())
                refuse(path_, place_ + 1, "is not a trace: the line does not end");
            rest = chunk.size() - used;
            std::memmove(bytes.data(), bytes.data() + used, rest);
            hand_over();
        }
        if (!binary && place_ == 0)
            refuse(path_, 1, fmt::format("is not a trace: the first line must be {}", csv_header));
    }

private:
    void take(const Sample& sample) {
        if (!is_sensible(sample.t_ns))
            refuse(path_, place_, "is more than 36 years from the start of the trace");
        if (sample.t_ns < last_end_ns_)
            refuse(path_, place_, "begins before the sample above it ended");
        last_end_ns_ = sample.t_ns + sample.rx_width_ns + sample.tx_width_ns;
        samples_.push_back(sample);
    }

    /// Both return how many bytes they used up.
    std::size_t take_lines(std::string_view chunk) {
        std::size_t used = 0;
        for (std::size_t end = chunk.find('\n'); end != std::string_view::npos;
             end = chunk.find('\n', used)) {
            std::string_view line = chunk.substr(used, end - used);
            used = end + 1;
            ++place_;
            if (line.ends_with('\r'))
                line.remove_suffix(1);
            Sample sample;
            if (place_ == 1) {
                if (line != csv_header)
                    refuse(path_, 1, fmt::format("is not a trace: the first line must be {}", csv_header));
            } else if (!parse_sample(line, sample)) {
                refuse(path_, place_, fmt::format("'{}' is not six whole numbers", line.substr(0, 80)));
            } else {
                take(sample);
            }
        }
        return used;
    }

    std::size_t take_records(std::string_view chunk) {
        BinaryRecord record;
        std::size_t used = 0;
        for (; used + sizeof record <= chunk.size(); used += sizeof record) {
            std::memcpy(&record, chunk.data() + used, sizeof record);
            ++place_;
            if (const std::optional<Sample> sample = decoder_.add(record))
                take(*sample);
        }
        return used;
    }

    void hand_over() {
        block_(samples_);
        samples_.clear();
    }

    const Block& block_;
    std::filesystem::path path_;
    std::uint64_t place_ = 0; ///< line or record, from 1
    std::int64_t last_end_ns_ = std::numeric_limits<std::int64_t>::min();
    BinaryDecoder decoder_;
    std::vector<Sample> samples_;
};

} // namespace

void for_each_block(const std::filesystem::path& path, const Block& block) {
    Reader reader(block);
    const bool binary = is_binary(path);
    reader.read(path, binary);
    for (std::size_t part = 1; std::filesystem::exists(part_path(path, part)); ++part)
        reader.read(part_path(path, part), binary);
}

TraceInfo read_trace_info(const std::filesystem::path& path) {
    const std::filesystem::path sidecar = sidecar_path(path);
    if (std::filesystem::exists(sidecar))
        return read_sidecar(sidecar);
    TraceInfo info;
    info.reason = fmt::format("unknown: no sidecar {}", sidecar.string());
    return info;
}

Trace read_trace(const std::filesystem::path& path) {
    Trace trace;
    for_each_block(path, [&](std::span<const Sample> samples) {
        trace.samples.insert(trace.samples.end(), samples.begin(), samples.end());
    });
    trace.info = read_trace_info(path);
    return trace;
}

} // namespace collectors
