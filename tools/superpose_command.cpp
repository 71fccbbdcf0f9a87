#include "tools/superpose_command.hpp"

#include "collectors/parsed_option.hpp"
#include "tools/report_figure.hpp"
#include "tools/report_files.hpp"
#include "tools/superpose_report.hpp"

#include "collectors/burstiness.hpp"
#include "collectors/printable.hpp"
#include "generator/failure.hpp"

#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace tools {
namespace {

namespace fs = std::filesystem;
using generator::UserError;
using Json = nlohmann::ordered_json;
using std::chrono::nanoseconds;

constexpr std::int64_t most_jobs = 4096;
constexpr std::int64_t most_phases = 1'000'000; // some 100 MB of results
constexpr std::int64_t usual_phases = 10'000;
constexpr std::int64_t most_threads = 1024;

nanoseconds parsed_length(const char* option, const std::string& text) {
    const nanoseconds length = collectors::parsed_option<UserError>(option, text, collectors::parse_duration);
    if (length.count() == 0)
        throw UserError(fmt::format("{}: must be greater than 0", option));
    return length;
}

std::size_t in_range(const char* option, std::int64_t value, std::int64_t most) {
    if (value < 1 || value > most)
        throw UserError(fmt::format("{}: must be from 1 to {}, is {}", option, most, value));
    return static_cast<std::size_t>(value);
}

std::vector<nanoseconds> parsed_offsets(const SuperposeOptions& options, std::size_t jobs) {
    std::vector<nanoseconds> offsets;
    for (const std::string& text : options.offsets)
        offsets.push_back(text == "0" ? nanoseconds(0)
                                      : collectors::parsed_option<UserError>("--offsets", text,
                                                                             collectors::parse_duration));
    if (offsets.empty())
        return offsets;
    if (offsets.size() != jobs)
        throw UserError(fmt::format("--offsets: {} given for {} jobs; each needs one, e.g. 0,13ms",
                                    offsets.size(), jobs));
    if (options.phases || options.seed)
        throw UserError("--offsets: are given phases, so none are drawn: not with --phases or --seed");
    return offsets;
}

SuperposeSettings settings_of(const SuperposeOptions& options) {
    SuperposeSettings settings;
    settings.jobs = in_range(
        "--jobs", options.jobs.value_or(static_cast<std::int64_t>(options.inputs.size())), most_jobs);
    if (settings.jobs < options.inputs.size())
        throw UserError(fmt::format("--jobs {}: {} traces are given, one for each job at most", settings.jobs,
                                    options.inputs.size()));
    settings.phases = in_range("--phases", options.phases.value_or(usual_phases), most_phases);
    settings.seed = options.seed.value_or(1);
    settings.offsets = parsed_offsets(options, settings.jobs);
    if (options.direction != "tx" && options.direction != "rx")
        throw UserError(fmt::format("--direction: must be tx or rx, is \"{}\"", options.direction));
    settings.direction = options.direction == "tx" ? collectors::Direction::tx : collectors::Direction::rx;
    for (const std::string& text : options.windows)
        settings.windows.push_back(parsed_length("--tau", text));
    if (settings.windows.empty())
        settings.windows.assign(collectors::standard_windows().begin(), collectors::standard_windows().end());
    if (!options.rate.empty()) {
        settings.rate =
            collectors::parsed_option<UserError>("--rate", options.rate, collectors::parse_bit_rate);
        if (settings.rate->bits_per_second == 0)
            throw UserError("--rate: must be greater than 0");
    }
    for (const std::string& text : options.buffers)
        settings.buffers.push_back(
            collectors::parsed_option<UserError>("--buffer", text, collectors::parse_byte_size));
    if (!settings.buffers.empty() && !settings.rate)
        throw UserError("--buffer: needs --rate, the link in front of which it stands");
    settings.created_at = fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::now()));
    return settings;
}

std::vector<SuperposedTrace> read_traces(const SuperposeOptions& options, SuperposeSettings& settings) {
    std::vector<ChosenTrace> chosen;
    for (const std::string& path : options.inputs)
        chosen.push_back(choose_trace(path));
    settings.cell = options.cell.empty() ? common_cell(chosen) : parsed_length("--cell", options.cell);
    JobTraceSettings wanted{settings.direction, std::nullopt};
    if (!options.period.empty())
        wanted.period = parsed_length("--period", options.period);
    std::vector<SuperposedTrace> traces;
    for (ChosenTrace& each : chosen) {
        JobTrace job = job_trace(each, wanted, settings.cell);
        traces.push_back({std::move(each), std::move(job)});
    }
    return traces;
}

void require_figure_names(const SuperposeOptions& options) {
    for (const std::string& figure : options.figures)
        if (fs::path(figure).stem() != "superpose" || figure_terminal(figure).empty())
            throw UserError(fmt::format(
                "--figure {}: with --superpose it is superpose.svg, superpose.png or superpose.pdf", figure));
}

} // namespace

void superpose(const SuperposeOptions& options) {
    SuperposeSettings settings = settings_of(options);
    require_figure_names(options);
    const auto cores = static_cast<std::int64_t>(std::max(1U, std::thread::hardware_concurrency()));
    const std::size_t threads = in_range("--threads", options.threads.value_or(cores), most_threads);
    const fs::path file = fs::path(options.out.empty() ? "." : options.out) / "superpose.json";
    if (!options.overwrite) {
        if (!options.json)
            require_ours(file, "gradburst-superpose");
        for (const std::string& figure : options.figures)
            require_ours(figure, figure_sign(figure));
    }
    const std::vector<SuperposedTrace> traces = read_traces(options, settings);
    const Json document = superpose_json(traces, settings, threads);
    std::vector<std::string> scripts; // all before anything is written
    for (const std::string& figure : options.figures)
        scripts.push_back(superpose_figure(figure, document));
    const std::string text = document.dump(1, ' ', false, Json::error_handler_t::replace);
    if (options.json) {
        collectors::print_safely("{}\n", text);
    } else {
        collectors::print_safely("{}\n", superpose_text(document));
        fs::create_directories(file.parent_path());
        replace_file(file, text + "\n");
        collectors::print_safely("wrote {}\n", file.string());
    }
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        draw_script(options.figures[i], scripts[i]);
        collectors::print_safely(options.json ? stderr : stdout, "wrote {}\n", options.figures[i]);
    }
}

} // namespace tools
