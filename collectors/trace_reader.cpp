#include "collectors/trace_file.hpp"

#include "collectors/sidecar.hpp"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

namespace collectors {

namespace {

constexpr std::string_view header = "t_ns,rx_width_ns,tx_width_ns,rx_bytes,tx_bytes,flags";

std::string read_text(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || std::filesystem::is_directory(path))
        throw std::system_error(file ? EISDIR : errno, std::generic_category(),
                                "open trace " + path.string());
    std::string text(std::filesystem::file_size(path), '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    // The file may still be growing or be cut at this moment: what was read is what counts.
    text.resize(static_cast<std::size_t>(file.gcount()));
    return text;
}

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

[[noreturn]] void refuse(const std::filesystem::path& path, std::size_t line, const std::string& reason) {
    throw std::runtime_error(fmt::format("{}:{}: {}", path.string(), line, reason));
}

std::int64_t end_of(const Sample& sample) {
    return sample.t_ns + sample.rx_width_ns + sample.tx_width_ns;
}

std::vector<Sample> parse_samples(std::string_view text, const std::filesystem::path& path) {
    std::vector<Sample> samples;
    std::size_t line_number = 0;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        ++line_number;
        if (line.ends_with('\r'))
            line.remove_suffix(1);
        if (line_number == 1) {
            if (line != header)
                refuse(path, 1, fmt::format("is not a trace: the first line must be {}", header));
            continue;
        }
        Sample sample;
        if (!parse_sample(line, sample))
            refuse(path, line_number, fmt::format("'{}' is not six whole numbers", line.substr(0, 80)));
        if (!samples.empty() && sample.t_ns < end_of(samples.back()))
            refuse(path, line_number, "begins before the sample above it ended");
        samples.push_back(sample);
    }
    if (line_number == 0)
        refuse(path, 1, fmt::format("is not a trace: the first line must be {}", header));
    return samples;
}

} // namespace

Trace read_trace(const std::filesystem::path& path) {
    Trace trace;
    trace.samples = parse_samples(read_text(path), path);
    const std::filesystem::path sidecar = sidecar_path(path);
    if (std::filesystem::exists(sidecar))
        trace.info = read_sidecar(sidecar);
    else
        trace.info.reason = fmt::format("unknown: no sidecar {}", sidecar.string());
    return trace;
}

} // namespace collectors
