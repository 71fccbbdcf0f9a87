#include "collectors/lane_file.hpp"

#include "collectors/file_output.hpp"
#include "collectors/sidecar_numbers.hpp"

#include <cerrno>
#include <charconv>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace collectors {

namespace {

std::filesystem::path sidecar_of(const std::filesystem::path& path) {
    return std::filesystem::path(path).replace_extension(".json");
}

std::string header_of(std::span<const LaneColumn> columns) {
    std::vector<std::string_view> names;
    for (const LaneColumn& column : columns)
        names.push_back(column.name);
    return fmt::format("{}", fmt::join(names, ","));
}

std::vector<std::int64_t> parse_row(std::string_view line, std::size_t columns, const std::string& place) {
    std::vector<std::int64_t> row(columns);
    const char* position = line.data();
    const char* const end = line.data() + line.size();
    for (std::size_t i = 0; i < columns; ++i) {
        const bool last = i + 1 == columns;
        const auto [after, error] = std::from_chars(position, end, row[i]);
        if (error != std::errc() || (last ? after != end : after == end || *after != ','))
            throw std::runtime_error(fmt::format("{}: expected {} whole numbers", place, columns));
        position = last ? after : after + 1;
    }
    return row;
}

void write_sidecar_of(const std::filesystem::path& path, const nlohmann::ordered_json& document) {
    std::filesystem::path aside = path;
    aside.replace_extension(".json.new");
    const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
    std::ofstream file(aside, std::ios::trunc);
    if (!(file << text) || !file.flush()) {
        const int error = errno;
        std::error_code ignored;
        std::filesystem::remove(aside, ignored);
        throw std::system_error(error, std::generic_category(), "write sidecar " + aside.string());
    }
    file.close();
    std::filesystem::rename(aside, sidecar_of(path));
}

/// `read(document)` of the sidecar.
template <typename Read>
void read_sidecar_of(const std::filesystem::path& path, Read read) {
    const std::filesystem::path sidecar = sidecar_of(path);
    try {
        std::ifstream file(sidecar);
        read(nlohmann::ordered_json::parse(file));
    } catch (const std::exception& error) {
        throw std::runtime_error(fmt::format("sidecar {}: {}", sidecar.string(), error.what()));
    }
}

} // namespace

LaneFile::LaneFile(std::filesystem::path path, LaneInfo info, bool overwrite)
    : path_(std::move(path)), info_(std::move(info)) {
    descriptor_ =
        ::open(path_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | (overwrite ? O_TRUNC : O_EXCL), 0666);
    if (descriptor_ < 0)
        throw std::system_error(errno, std::generic_category(), "create " + path_.string());
    try {
        write_all(descriptor_, header_of(info_.columns) + "\n", path_);
        write_sidecar(false);
    } catch (...) {
        ::close(descriptor_);
        throw;
    }
}

LaneFile::~LaneFile() {
    if (descriptor_ >= 0)
        ::close(descriptor_);
}

void LaneFile::add(std::span<const std::int64_t> row) {
    fmt::format_to(std::back_inserter(lines_), "{}\n", fmt::join(row, ","));
    ++rows_;
}

void LaneFile::write() {
    write_all(descriptor_, lines_, path_);
    lines_.clear();
}

void LaneFile::finish() {
    write();
    if (::close(std::exchange(descriptor_, -1)) != 0)
        throw std::system_error(errno, std::generic_category(), "close " + path_.string());
    write_sidecar(true);
}

void LaneFile::write_sidecar(bool complete) const {
    nlohmann::ordered_json document{
        {"format", info_.format}, {"trace", path_.filename().string()}, {"interface", info_.interface}};
    for (const auto& [key, text] : info_.facts)
        document[key] = text;
    document["interval_ns"] = info_.interval_ns;
    document["start_monotonic_ns"] = info_.start_monotonic_ns;
    document["complete"] = complete;
    document["failed"] = failed_;
    document["late"] = late_;
    document["gave_up"] = gave_up_.empty() ? nlohmann::ordered_json() : nlohmann::ordered_json(gave_up_);
    for (const LaneColumn& column : info_.columns)
        document["columns"].push_back(
            {{"name", column.name}, {"unit", column.unit}, {"meaning", column.meaning}});
    write_sidecar_of(path_, document);
}

void copy_lane_file(const std::filesystem::path& from, const std::filesystem::path& to) {
    std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
    read_sidecar_of(from, [&](nlohmann::ordered_json document) {
        document["trace"] = to.filename().string();
        write_sidecar_of(to, document);
    });
}

std::string LaneTable::fact(std::string_view key) const {
    for (const auto& [name, text] : facts)
        if (name == key)
            return text;
    return {};
}

LaneNotes read_lane_notes(const std::filesystem::path& path) {
    LaneNotes notes;
    read_sidecar_of(path, [&](const nlohmann::ordered_json& document) {
        notes.failed = document.value("failed", std::uint64_t{0});
        notes.late = document.value("late", std::uint64_t{0});
        if (const auto reason = document.find("gave_up"); reason != document.end() && reason->is_string())
            notes.gave_up = reason->get<std::string>();
    });
    return notes;
}

LaneTable read_lane_file(const std::filesystem::path& path, std::span<const LaneColumn> columns) {
    LaneTable table;
    read_sidecar_of(path, [&](const nlohmann::ordered_json& document) {
        table.start_monotonic_ns = time_of(document, "start_monotonic_ns");
        table.interface = document.at("interface");
        for (const auto& [key, value] : document.items())
            if (value.is_string())
                table.facts.emplace_back(key, value.get<std::string>());
    });
    const std::string header = header_of(columns);
    std::ifstream file(path);
    std::string line;
    if (!std::getline(file, line) || line != header)
        throw std::runtime_error(fmt::format("{}: its first line must be {}", path.string(), header));
    for (std::size_t number = 2; std::getline(file, line); ++number)
        if (!file.eof())
            table.rows.push_back(
                parse_row(line, columns.size(), fmt::format("{}, line {}", path.string(), number)));
    return table;
}

} // namespace collectors
