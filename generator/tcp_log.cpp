#include "generator/tcp_log.hpp"

#include <array>
#include <charconv>
#include <stdexcept>

namespace generator {
namespace {

constexpr std::string_view header =
    "rank,iteration,bucket,peer,lane,rtt_us,min_rtt_us,cwnd_segments,delivery_rate_bytes_per_second,"
    "retransmitted_segments,delivered_segments,ecn_marked_segments,acked_bytes,busy_us,receiver_limited_us,"
    "send_buffer_limited_us\n";
constexpr std::size_t usual_line = 75; // bytes

/// In the order of the columns.
constexpr std::array<std::int64_t TcpInfo::*, 11> info_columns{
    &TcpInfo::rtt_us,
    &TcpInfo::min_rtt_us,
    &TcpInfo::cwnd_segments,
    &TcpInfo::delivery_rate_bytes_per_second,
    &TcpInfo::retransmitted_segments,
    &TcpInfo::delivered_segments,
    &TcpInfo::ecn_marked_segments,
    &TcpInfo::acked_bytes,
    &TcpInfo::busy_us,
    &TcpInfo::receiver_limited_us,
    &TcpInfo::send_buffer_limited_us,
};

/// A line while it is written: room for sixteen numbers of 64 bits.
class LineText {
public:
    /// Nothing but the comma for a negative one.
    void add(std::int64_t value) {
        if (end_ != text_.data())
            *end_++ = ',';
        if (value >= 0)
            end_ = std::to_chars(end_, text_.data() + text_.size(), value).ptr;
    }
    std::string_view finish() {
        *end_++ = '\n';
        return {text_.data(), static_cast<std::size_t>(end_ - text_.data())};
    }

private:
    std::array<char, (5 + info_columns.size()) * 21> text_;
    char* end_ = text_.data();
};

/// Takes the next number of a line and what is behind it, a comma or the line's end; -1 where there is none.
std::int64_t take_number(std::string_view& text) {
    std::int64_t value = -1;
    const auto end = std::from_chars(text.data(), text.data() + text.size(), value).ptr;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty() || (text[0] != ',' && text[0] != '\n'))
        throw std::invalid_argument("tcp log: a line is cut off, or holds what is no number");
    text.remove_prefix(1);
    return value;
}

} // namespace

std::string tcp_lines(const TcpLog& log) {
    std::string lines;
    lines.reserve(log.records.size() * usual_line);
    for (const TcpRecord& r : log.records) {
        LineText line;
        for (const std::int64_t number : {std::int64_t{log.rank}, std::int64_t{r.iteration},
                                          std::int64_t{r.bucket}, std::int64_t{r.peer}, std::int64_t{r.lane}})
            line.add(number);
        for (const auto column : info_columns)
            line.add(r.info.*column);
        lines += line.finish();
    }
    return lines;
}

TcpLog parse_tcp_lines(std::string_view lines) {
    TcpLog log;
    while (!lines.empty()) {
        TcpRecord r;
        log.rank = static_cast<int>(take_number(lines));
        r.iteration = static_cast<std::uint32_t>(take_number(lines));
        r.bucket = static_cast<std::uint32_t>(take_number(lines));
        r.peer = static_cast<int>(take_number(lines));
        r.lane = static_cast<std::uint32_t>(take_number(lines));
        for (const auto column : info_columns)
            r.info.*column = take_number(lines);
        log.records.push_back(r);
    }
    return log;
}

std::string tcp_csv(const std::vector<std::string_view>& lines_of_ranks) {
    std::size_t bytes = header.size();
    for (const std::string_view lines : lines_of_ranks)
        bytes += lines.size();
    std::string csv;
    csv.reserve(bytes);
    csv += header;
    for (const std::string_view lines : lines_of_ranks)
        csv += lines;
    return csv;
}

} // namespace generator
