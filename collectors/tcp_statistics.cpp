#include "collectors/tcp_statistics.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <fcntl.h>
#include <unistd.h>

namespace collectors {

namespace {

/// Takes the first word off a line.
std::string_view next_word(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view word = line.substr(0, line.find(' '));
    line.remove_prefix(word.size());
    return word;
}

/// Takes the first line off a text.
std::string_view next_line(std::string_view& text) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    return line;
}

std::string read_whole(int descriptor) {
    std::string text;
    std::array<char, 8192> block;
    while (descriptor >= 0) {
        const ssize_t length =
            ::pread(descriptor, block.data(), block.size(), static_cast<off_t>(text.size()));
        if (length <= 0)
            break;
        text.append(block.data(), static_cast<std::size_t>(length));
    }
    return text;
}

} // namespace

std::optional<std::int64_t> protocol_counter(std::string_view text, std::string_view protocol,
                                             std::string_view name) {
    while (!text.empty()) {
        std::string_view names = next_line(text);
        std::string_view values = next_line(text);
        const std::string_view title = next_word(names);
        if (title != next_word(values) || title.substr(0, title.find(':')) != protocol)
            continue;
        while (!names.empty()) {
            const std::string_view counter = next_word(names);
            const std::string_view value = next_word(values);
            std::int64_t number = 0;
            if (counter == name &&
                std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc())
                return number;
        }
    }
    return std::nullopt;
}

TcpReader::TcpReader(const std::filesystem::path& folder)
    : snmp_(::open((folder / "snmp").c_str(), O_RDONLY | O_CLOEXEC)),
      netstat_(::open((folder / "netstat").c_str(), O_RDONLY | O_CLOEXEC)) {}

TcpReader::~TcpReader() {
    for (const int descriptor : {snmp_, netstat_})
        if (descriptor >= 0)
            ::close(descriptor);
}

TcpStatistics TcpReader::read() const {
    const std::string snmp = read_whole(snmp_);
    const std::string netstat = read_whole(netstat_);
    return {protocol_counter(snmp, "Tcp", "OutSegs"),
            protocol_counter(snmp, "Tcp", "RetransSegs"),
            protocol_counter(netstat, "TcpExt", "TCPTimeouts"),
            protocol_counter(netstat, "TcpExt", "TCPLossProbes"),
            protocol_counter(netstat, "IpExt", "InCEPkts"),
            protocol_counter(netstat, "TcpExt", "TCPDeliveredCE")};
}

} // namespace collectors
