#include "collectors/sidecar.hpp"

#include "collectors/file_output.hpp"

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace collectors {

namespace {

constexpr const char* format_name = "gradburst-trace/1";

nlohmann::ordered_json columns() {
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

nlohmann::ordered_json flags() {
    return {
        {"1", "missed_ticks: at least one tick before this sample was skipped because it came too late"},
        {"2", "failed_reads: at least one read before this sample failed or was dropped: a gap"},
        {"4",
         "new_segment: a counter fell or the device came back; no difference may span this sample's start"}};
}

[[noreturn]] void fail(const std::string& attempt, const std::filesystem::path& path, int error) {
    throw std::system_error(error, std::generic_category(), attempt + " " + path.string());
}

} // namespace

void write_sidecar(const std::filesystem::path& path, const std::filesystem::path& trace_path,
                   const TraceInfo& info) {
    const nlohmann::ordered_json document{{"format", format_name},
                                          {"trace", trace_path.filename().string()},
                                          {"version", info.version},
                                          {"build_type", info.build_type},
                                          {"host", info.host},
                                          {"interface", info.interface},
                                          {"driver", info.driver},
                                          {"source", info.source},
                                          {"source_reason", info.source_reason},
                                          {"byte_unit", info.byte_unit},
                                          {"side", info.side},
                                          {"interval_ns", info.interval.count()},
                                          {"start_monotonic_ns", info.start_monotonic_ns},
                                          {"start_realtime_ns", info.start_realtime_ns},
                                          {"missed", info.missed},
                                          {"failed", info.failed},
                                          {"complete", info.complete},
                                          {"reason", info.reason},
                                          {"columns", columns()},
                                          {"flags", flags()}};
    // Interface and host names are bytes to the kernel: anything that is not UTF-8 is replaced, not refused.
    const std::string text = document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";

    std::filesystem::path aside = path;
    aside += ".new";
    const int descriptor = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor < 0)
        fail("create sidecar", aside, errno);
    try {
        write_all(descriptor, text, aside);
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

TraceInfo read_sidecar(const std::filesystem::path& path) {
    std::ifstream file(path);
    if (!file)
        fail("open sidecar", path, errno);
    try {
        const nlohmann::ordered_json document = nlohmann::ordered_json::parse(file);
        if (document.at("format") != format_name)
            throw std::runtime_error(
                fmt::format("format is {}, not {}", document.at("format").dump(), format_name));
        TraceInfo info;
        info.host = document.at("host");
        info.interface = document.at("interface");
        info.source = document.at("source");
        info.byte_unit = document.at("byte_unit");
        info.interval = std::chrono::nanoseconds(document.at("interval_ns").get<std::int64_t>());
        info.start_monotonic_ns = document.at("start_monotonic_ns");
        info.start_realtime_ns = document.at("start_realtime_ns");
        info.missed = document.at("missed");
        info.failed = document.at("failed");
        info.complete = document.at("complete");
        info.reason = document.at("reason");
        info.driver = document.value("driver", "");
        info.source_reason = document.value("source_reason", "");
        info.version = document.value("version", "");
        info.build_type = document.value("build_type", "");
        info.side = document.value("side", "");
        return info;
    } catch (const std::exception& error) {
        throw std::runtime_error(
            fmt::format("sidecar {}: {}; correct it, or remove it to read the trace without", path.string(),
                        error.what()));
    }
}

} // namespace collectors
