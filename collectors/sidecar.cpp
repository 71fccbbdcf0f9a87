#include "collectors/sidecar.hpp"

#include "collectors/file_output.hpp"
#include "collectors/json_reason.hpp"
#include "collectors/sidecar_numbers.hpp"
#include "collectors/trace_file.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collectors {

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* trace_format = "gradburst-trace/1";
constexpr const char* complete_means =
    "the file was finished by its writer; if the counters could not be read to the end (the interface "
    "vanished), lost_from_ns is the t_ns from which on nothing is known";

nlohmann::ordered_json column_meanings() {
    const auto column = [](const char* name, const char* unit, const char* meaning) {
        return nlohmann::ordered_json{{"name", name}, {"unit", unit}, {"meaning", meaning}};
    };
    return {column("t_ns", "ns", "begin of the rx read, CLOCK_MONOTONIC, from the start of the trace"),
            column("rx_width_ns", "ns", "the rx counter was read within [t_ns, t_ns + rx_width_ns]"),
            column("tx_width_ns", "ns", "the tx counter was read within tx_width_ns after that"),
            column("rx_bytes", "bytes", "counter of received bytes"),
            column("tx_bytes", "bytes", "counter of sent bytes"),
            column("flags", "bit set", "see flags; 0 for an ordinary sample")};
}

/// For numpy.fromfile; see BinaryRecord.
void explain_records(nlohmann::ordered_json& document) {
    nlohmann::ordered_json dtype = nlohmann::ordered_json::array();
    for (const auto& [name, type] :
         {std::pair("t_ns", "<i8"), std::pair("rx_width_ns", "<u4"), std::pair("tx_width_ns", "<u4"),
          std::pair("rx_bytes", "<u8"), std::pair("tx_bytes", "<u8")})
        dtype.push_back({name, type});
    document["record_bytes"] = 32;
    document["numpy_dtype"] = std::move(dtype);
    document["numpy_example"] =
        "rows = np.fromfile(path, dtype=[tuple(c) for c in sidecar['numpy_dtype']]); "
        "samples = rows[(rows['rx_width_ns'] != 0xffffffff) | (rows['tx_width_ns'] != 0xffffffff)]";
    document["markers"] =
        "a record with both widths 0xffffffff is no sample: its rx_bytes are the flags of the "
        "sample in the record after it; samples without flags have none";
}

nlohmann::ordered_json flags() {
    return {
        {"1", "missed_ticks: at least one tick before this sample was skipped because it came too late"},
        {"2", "failed_reads: at least one read before this sample failed or was dropped: a gap"},
        {"4",
         "new_segment: a counter fell or the device came back; no difference may span this sample's start"},
        {"8", "host_suspended: the host was suspended before this sample, while t_ns stood still"}};
}

nlohmann::ordered_json clocks_json(const ClockFacts& clocks) {
    if (clocks.end_monotonic_ns == 0)
        return nullptr;
    return {{"end_monotonic_ns", clocks.end_monotonic_ns},
            {"end_realtime_ns", clocks.end_realtime_ns},
            {"suspended_ns", clocks.suspended_ns},
            {"slew_ppm", clocks.slew_ppm}};
}

ClockFacts clock_facts(const nlohmann::ordered_json& document) {
    ClockFacts clocks;
    if (document.is_null())
        return clocks;
    clocks.end_monotonic_ns = time_of(document, "end_monotonic_ns");
    clocks.end_realtime_ns = whole_number(document, "end_realtime_ns", 0, latest_realtime_ns);
    clocks.suspended_ns = time_of(document, "suspended_ns");
    clocks.slew_ppm = document.at("slew_ppm");
    return clocks;
}

nlohmann::ordered_json time_keeping_json(const TimeKeeping& kept) {
    const std::optional<TimeSteering>& by = kept.steering;
    const auto in_ns = [](std::chrono::nanoseconds time) { return time.count(); };
    return {{"synchronised", by ? Json(by->synchronised) : Json()},
            {"maximum_error_ns", by ? Json(in_ns(by->maximum_error)) : Json()},
            {"estimated_error_ns", by ? Json(in_ns(by->estimated_error)) : Json()},
            {"frequency_ppm", by ? Json(by->frequency_ppm) : Json()},
            {"ptp_clock", kept.ptp_clock ? Json(*kept.ptp_clock) : Json()}};
}

TimeKeeping time_keeping_of(const nlohmann::ordered_json& document) {
    TimeKeeping kept;
    if (document.is_null())
        return kept;
    if (!document.at("ptp_clock").is_null())
        kept.ptp_clock = document.at("ptp_clock");
    if (document.at("synchronised").is_null())
        return kept;
    const auto time = [&](const char* key) {
        return std::chrono::duration_cast<std::chrono::microseconds>(
            std::chrono::nanoseconds(time_of(document, key)));
    };
    kept.steering = {document.at("synchronised"), time("maximum_error_ns"), time("estimated_error_ns"),
                     document.at("frequency_ppm")};
    return kept;
}

nlohmann::ordered_json renamings_json(const std::vector<Renaming>& renamings) {
    nlohmann::ordered_json document = nlohmann::ordered_json::array();
    for (const Renaming& renaming : renamings)
        document.push_back({{"t_ns", renaming.t_ns}, {"name", renaming.name}});
    return document;
}

std::vector<Renaming> renamings_of(const nlohmann::ordered_json& document) {
    std::vector<Renaming> renamings;
    for (const nlohmann::ordered_json& each : document)
        renamings.push_back({time_of(each, "t_ns"), each.at("name")});
    return renamings;
}

nlohmann::ordered_json spread_json(const Spread& spread) {
    return {{"p50", spread.p50.count()}, {"p99", spread.p99.count()}, {"max", spread.max.count()}};
}

Spread spread_of(const nlohmann::ordered_json& document) {
    const auto time = [&](const char* key) { return std::chrono::nanoseconds(time_of(document, key)); };
    return {time("p50"), time("p99"), time("max")};
}

nlohmann::ordered_json sampler_json(const SamplerFacts& sampler) {
    if (sampler.scheduling.empty())
        return nullptr;
    return {{"scheduling", sampler.scheduling},
            {"cpu", sampler.cpu ? Json(*sampler.cpu) : Json()},
            {"cpu_share", sampler.cpu_share},
            {"sources", sampler.sources},
            {"spin_ns", sampler.spin.count()},
            {"achieved_interval_ns", spread_json(sampler.achieved_interval)},
            {"read_width_ns", spread_json(sampler.read_width)},
            {"gaps", sampler.gaps},
            {"longest_gap_ns", sampler.longest_gap.count()},
            {"refresh_period_ns", sampler.refresh_period ? Json(sampler.refresh_period->count()) : Json()},
            {"resolved_from_ns", sampler.resolved_from.count()}};
}

SamplerFacts sampler_facts(const nlohmann::ordered_json& document) {
    SamplerFacts sampler;
    if (document.is_null())
        return sampler;
    sampler.scheduling = document.at("scheduling");
    if (!document.at("cpu").is_null())
        sampler.cpu = static_cast<int>(whole_number(document, "cpu", 0, std::numeric_limits<int>::max()));
    sampler.cpu_share = document.at("cpu_share");
    sampler.sources = count_of(document, "sources");
    const auto time = [&](const char* key) { return std::chrono::nanoseconds(time_of(document, key)); };
    sampler.spin = time("spin_ns");
    sampler.achieved_interval = spread_of(document.at("achieved_interval_ns"));
    sampler.read_width = spread_of(document.at("read_width_ns"));
    sampler.gaps = count_of(document, "gaps");
    sampler.longest_gap = time("longest_gap_ns");
    if (!document.at("refresh_period_ns").is_null())
        sampler.refresh_period = time("refresh_period_ns");
    sampler.resolved_from = time("resolved_from_ns");
    return sampler;
}

[[noreturn]] void fail(const std::string& attempt, const std::filesystem::path& path, int error) {
    throw std::system_error(error, std::generic_category(), attempt + " " + path.string());
}

constexpr off_t reserved_bytes = 16 * 1024; // several times a sidecar

/// A full disk must not keep the last word from a sidecar: room for it is reserved behind its end.
void write_aside(const std::filesystem::path& path, const std::string& text) {
    std::filesystem::path aside = path;
    aside += ".new";
    const int descriptor = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        fail("create sidecar", aside, errno);
    try {
        write_all(descriptor, text, aside);
        (void)::fallocate(descriptor, FALLOC_FL_KEEP_SIZE, 0, reserved_bytes); // not every file system can
        if (::fsync(descriptor) != 0)
            fail("sync sidecar", aside, errno);
    } catch (...) {
        ::close(descriptor);
        ::unlink(aside.c_str());
        throw;
    }
    ::close(descriptor);
    if (::rename(aside.c_str(), path.c_str()) != 0)
        fail("rename sidecar to", path, errno);
}

/// At once and without cutting the file first; blanks cover what is left of a longer one.
bool write_in_place(const std::filesystem::path& path, std::string text) {
    std::error_code error;
    const std::uintmax_t old = std::filesystem::file_size(path, error);
    if (error)
        return false;
    text.resize(std::max<std::size_t>(text.size(), old), '\n');
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    const bool written = descriptor >= 0 && ::pwrite(descriptor, text.data(), text.size(), 0) ==
                                                static_cast<ssize_t>(text.size());
    if (descriptor >= 0)
        ::close(descriptor);
    return written;
}

} // namespace

void write_sidecar(const std::filesystem::path& path, const std::filesystem::path& trace_path,
                   const TraceInfo& info) {
    nlohmann::ordered_json document{{"format", trace_format},
                                    {"trace", trace_path.filename().string()},
                                    {"version", info.version},
                                    {"build_type", info.build_type},
                                    {"host", info.host},
                                    {"interface", info.interface},
                                    {"renamings", renamings_json(info.renamings)},
                                    {"driver", info.driver},
                                    {"source", info.source},
                                    {"source_reason", info.source_reason},
                                    {"byte_unit", info.byte_unit},
                                    {"side", info.side},
                                    {"interval_ns", info.interval.count()},
                                    {"start_monotonic_ns", info.start_monotonic_ns},
                                    {"start_realtime_ns", info.start_realtime_ns},
                                    {"clocks", clocks_json(info.clocks)},
                                    {"time_keeping", time_keeping_json(info.time_keeping)},
                                    {"samples", info.samples ? Json(*info.samples) : Json()},
                                    {"missed", info.missed},
                                    {"failed", info.failed},
                                    {"complete", info.complete},
                                    {"complete_means", complete_means},
                                    {"reason", info.reason},
                                    {"lost_from_ns", info.lost_from ? Json(info.lost_from->count()) : Json()},
                                    {"sampler", sampler_json(info.sampler)},
                                    {"columns", column_meanings()},
                                    {"flags", flags()}};
    if (is_binary(trace_path))
        explain_records(document);
    // Interface and host names are bytes to the kernel: anything that is not UTF-8 is replaced, not refused.
    const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";

    try {
        write_aside(path, text);
    } catch (const std::system_error& error) {
        if (error.code() != std::errc::no_space_on_device || !write_in_place(path, text))
            throw;
    }
}

TraceInfo read_sidecar(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file)
        fail("open sidecar", path, errno);
    const auto refusal = [&](const std::string& reason) {
        return std::runtime_error(fmt::format(
            "sidecar {}: {}; correct it, or remove it to read the trace without", path.string(), reason));
    };
    try {
        const nlohmann::ordered_json document = nlohmann::ordered_json::parse(file);
        if (document.at("format") != trace_format)
            throw std::runtime_error(
                fmt::format("format is {}, not {}", document.at("format").dump(), trace_format));
        TraceInfo info;
        info.host = document.at("host");
        info.interface = document.at("interface");
        info.source = document.at("source");
        info.byte_unit = document.at("byte_unit");
        info.interval = std::chrono::nanoseconds(length_of(document, "interval_ns"));
        info.start_monotonic_ns = time_of(document, "start_monotonic_ns");
        info.start_realtime_ns = whole_number(document, "start_realtime_ns", 0, latest_realtime_ns);
        info.clocks = clock_facts(document.value("clocks", nlohmann::ordered_json()));
        info.time_keeping = time_keeping_of(document.value("time_keeping", nlohmann::ordered_json()));
        if (const auto samples = document.find("samples"); samples != document.end() && !samples->is_null())
            info.samples = count_of(document, "samples");
        info.missed = count_of(document, "missed");
        info.failed = count_of(document, "failed");
        info.complete = document.at("complete");
        info.reason = document.at("reason");
        if (const auto lost = document.find("lost_from_ns"); lost != document.end() && !lost->is_null())
            info.lost_from = std::chrono::nanoseconds(time_of(document, "lost_from_ns"));
        info.renamings = renamings_of(document.value("renamings", nlohmann::ordered_json::array()));
        info.driver = document.value("driver", "");
        info.source_reason = document.value("source_reason", "");
        info.version = document.value("version", "");
        info.build_type = document.value("build_type", "");
        info.side = document.value("side", "");
        info.sampler = sampler_facts(document.value("sampler", nlohmann::ordered_json()));
        return info;
    } catch (const nlohmann::json::exception& error) {
        throw refusal(json_reason(error));
    } catch (const std::exception& error) {
        throw refusal(error.what());
    }
}

} // namespace collectors
