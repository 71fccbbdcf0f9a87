#include "collectors/commands.hpp"
#include "collectors/lane_file.hpp"
#include "collectors/printable.hpp"
#include "collectors/queue_lane.hpp"
#include "collectors/sidecar.hpp"
#include "collectors/slow_lane.hpp"
#include "collectors/trace_file.hpp"

#include <stdexcept>
#include <system_error>
#include <vector>

#include <fmt/format.h>

namespace collectors {

namespace {

/// Whatever it is called: another spelling, a link, or a part of the trace.
bool is_part_of(const std::filesystem::path& out, const std::filesystem::path& trace) {
    std::error_code error; // it need not exist
    for (std::size_t part = 0; std::filesystem::exists(part_path(trace, part)); ++part)
        if (std::filesystem::equivalent(out, part_path(trace, part), error))
            return true;
    return false;
}

/// What a recording left beside its trace.
struct LaneCopy {
    std::filesystem::path from;
    std::filesystem::path to;
};

/// None for a copy beside the original, which those lanes explain too.
std::vector<LaneCopy> lanes_of(const ExportSettings& settings) {
    std::vector<LaneCopy> lanes;
    for (const auto& path_of : {slow_path, queue_path}) {
        const LaneCopy lane{path_of(settings.trace_path), path_of(settings.out)};
        if (lane.from == lane.to || !std::filesystem::exists(lane.from))
            continue;
        if (std::filesystem::exists(lane.to) && !settings.overwrite)
            throw std::system_error(std::make_error_code(std::errc::file_exists),
                                    "create " + lane.to.string());
        lanes.push_back(lane);
    }
    return lanes;
}

} // namespace

int export_command(const ExportSettings& settings) {
    std::uint64_t count = 0;
    TraceInfo info;
    std::vector<LaneCopy> lanes;
    if (!std::filesystem::exists(settings.trace_path)) // before anything is created
        throw UsageError(
            fmt::format("open trace {}: No such file or directory", settings.trace_path.string()));
    try {
        info = read_trace_info(settings.trace_path);
        // Next to each other, one sidecar explains both files; it stays as it is.
        const bool shared = sidecar_path(settings.out) == sidecar_path(settings.trace_path);
        if (is_part_of(settings.out, settings.trace_path))
            throw UsageError(fmt::format("export: --out is the trace itself, {}", settings.out.string()));
        // A trace that cannot be read must not cost what is at --out.
        for_each_block(settings.trace_path, [](std::span<const Sample>) {});
        lanes = lanes_of(settings);
        TraceWriter writer(settings.out, {.overwrite = settings.overwrite, .keep_sidecar = shared});
        for_each_block(settings.trace_path, [&](std::span<const Sample> samples) {
            writer.append(samples);
            count += samples.size();
        });
        if (!shared)
            write_sidecar(sidecar_path(settings.out), settings.out, info);
        for (const LaneCopy& lane : lanes)
            copy_lane_file(lane.from, lane.to);
    } catch (const UsageError&) {
        throw;
    } catch (const std::system_error& error) {
        if (error.code() == std::errc::file_exists)
            throw UsageError(error.what() +
                             std::string("; choose another --out, or --overwrite to replace it"));
        if (error.code() == std::errc::no_such_file_or_directory)
            throw UsageError(error.what());
        throw;
    } catch (const std::runtime_error& error) { // what is in the user's file
        throw UsageError(error.what());
    }
    print_safely("{}: {} samples of {}\n", settings.out.string(), count, settings.trace_path.string());
    for (const LaneCopy& lane : lanes)
        print_safely("{}: copy of {}\n", lane.to.string(), lane.from.string());
    return 0;
}

} // namespace collectors
