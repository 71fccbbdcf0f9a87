#include "tools/report_run.hpp"

#include "generator/json_values.hpp"
#include "tools/report_order.hpp"
#include "tools/report_sections.hpp"
#include "tools/trace_numbers.hpp"

#include "generator/distribution.hpp"
#include "generator/failure.hpp"
#include "generator/verdict.hpp"

#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;
using generator::Expectation;
using generator::or_null;

Json copied(const Json& document, const std::string& path, Json otherwise) {
    Json found = section_in(document, path);
    return found.is_null() ? otherwise : found;
}

Json trace_document(const TraceSource& trace) {
    Json document;
    const bool known = !trace.info.host.empty();
    document["status"] = known ? Json(trace.info.complete ? "complete" : "interrupted") : Json();
    document["started_at"] =
        trace.info.start_realtime_ns > 0 ? Json(utc_text(trace.info.start_realtime_ns)) : Json();
    document["warnings"] = Json::array();
    if (!trace.info.complete)
        document["warnings"].push_back(fmt::format("THE RECORDING DID NOT END AS PLANNED: {}",
                                                   known ? trace.info.reason : "no sidecar"));
    return document;
}

/// From the traces. A damaged one costs a run that interface; by itself there is nothing to report.
Json summaries_of(ReportRun& run, std::span<const Expectation> asked) {
    Json summaries = Json::array();
    for (const TraceSource& trace : run.input->traces)
        try {
            if (!trace.is_switch_port)
                for (Json& summary : trace_summaries(*run.input, trace, asked))
                    summaries.push_back(std::move(summary));
        } catch (const std::runtime_error& error) {
            if (run.input->kind == ReportInput::Kind::trace)
                throw;
            run.document["warnings"].push_back(
                fmt::format("TRACE {} CANNOT BE READ: {}", trace.path.string(), error.what()));
        }
    return summaries;
}

/// True if some interface lacks a window or a rate that is asked for.
bool lacks(const Json& interfaces, std::span<const Expectation> asked) {
    const auto has = [](const Json& points, const char* key, double value) {
        return std::any_of(points.begin(), points.end(), [&](const Json& point) {
            const auto number = number_in(point, key);
            return number && std::abs(*number - value) <= 1e-12 * value;
        });
    };
    for (const Json& interface : interfaces)
        for (const Expectation& each : asked) {
            if (each.quantity.argument == generator::QuantityArgument::window &&
                !has(copied(interface, "/burstiness", Json::array()), "/tau_seconds",
                     collectors::in_seconds(each.window)))
                return true;
            if (each.quantity.argument == generator::QuantityArgument::rate &&
                !has(copied(interface, "/backlog", Json::array()), "/rate_bits_per_second",
                     static_cast<double>(each.rate.bits_per_second)))
                return true;
        }
    return false;
}

/// What is asked of a run and run.json does not hold comes from its traces; nothing was predicted for it.
void add_asked_points(ReportRun& run, std::span<const Expectation> asked) {
    Json& interfaces = run.document["interfaces"];
    if (!lacks(interfaces, asked))
        return;
    const Json summaries = summaries_of(run, asked);
    const auto add_absent = [](Json& points, const Json& more, const char* key) {
        for (const Json& point : more)
            if (std::none_of(points.begin(), points.end(),
                             [&](const Json& each) { return each[key] == point[key]; }))
                points.push_back(point);
        std::sort(points.begin(), points.end(),
                  [&](const Json& a, const Json& b) { return a[key] < b[key]; });
    };
    for (Json& interface : interfaces)
        for (const Json& summary : summaries)
            if (summary["host"] == interface["host"] && summary["interface"] == interface["interface"] &&
                summary["direction"] == interface["direction"]) {
                add_absent(interface["burstiness"], summary["burstiness"], "tau_seconds");
                add_absent(interface["backlog"], summary["backlog"], "rate_bits_per_second");
            }
}

/// Only who reads it to the end sees that a trace was cut.
void note_cut(Json& document) {
    for (const Json& summary : document["interfaces"])
        if (summary["whole"] == false) {
            document["status"] = "interrupted";
            document["warnings"].push_back(
                "TRACE IS NOT WHOLE: its files do not hold all samples that were recorded");
            return;
        }
}

Json on_section(const ReportRun& run) {
    Json on;
    on["hosts"] = Json::array();
    for (const Json& host : copied(run.document, "/context/hosts", Json::array())) {
        Json entry;
        entry["host"] = copied(host, "/host", "");
        entry["kernel"] = section_in(host, "/kernel");
        entry["cpus"] = section_in(host, "/cpus_online");
        entry["ranks"] = Json::array();
        entry["interfaces"] = Json::array();
        for (const Json& rank : copied(host, "/ranks", Json::array())) {
            entry["ranks"].push_back(copied(rank, "/rank", 0));
            const Json name = section_in(rank, "/interface");
            Json& names = entry["interfaces"];
            if (name.is_string() && std::find(names.begin(), names.end(), name) == names.end())
                names.push_back(name);
        }
        on["hosts"].push_back(std::move(entry));
    }
    if (run.input->kind == ReportInput::Kind::trace) {
        const collectors::TraceInfo& info = run.input->traces.front().info;
        on["hosts"].push_back({{"host", info.host},
                               {"kernel", nullptr},
                               {"cpus", nullptr},
                               {"ranks", Json::array()},
                               {"interfaces", {info.interface}}});
    }
    for (const char* const key : {"line_rate_bits_per_second", "line_rate_origin", "congestion_control",
                                  "transport", "build_type", "mpi_library", "byte_scale"})
        on[key] = section_in(run.document, std::string("/context/") + key);
    return on;
}

void add_once(Json& warnings, const std::string& warning) {
    if (std::find(warnings.begin(), warnings.end(), warning) == warnings.end())
        warnings.push_back(warning);
}

/// All that may keep a reader from a number: of the run, of each interface, of what could not be read. What
/// holds for both directions of an interface is said once.
Json warnings_section(const ReportRun& run) {
    Json warnings = copied(run.document, "/warnings", Json::array());
    for (const char* const path : {"/interfaces", "/switch_ports"})
        for (const Json& interface : copied(run.document, path, Json::array()))
            for (const Json& warning : copied(interface, "/warnings", Json::array()))
                add_once(warnings, fmt::format("{} {}: {}", copied(interface, "/host", "").get<std::string>(),
                                               copied(interface, "/interface", "").get<std::string>(),
                                               warning.get<std::string>()));
    for (const std::string& warning : run.input->warnings)
        add_once(warnings, warning);
    return warnings;
}

Json iterations_section(const ReportRun& run) {
    if (run.input->kind == ReportInput::Kind::trace)
        return nullptr;
    Json section;
    for (const char* const key : {"count", "warmup", "measured", "seconds", "predicted_seconds"})
        section[key] = section_in(run.document, std::string("/iterations/") + key);
    section["values"] = run.timeline.iteration_seconds;
    return section;
}

Json buckets_section(const ReportRun& run) {
    Json section = Json::array();
    for (const BucketNumbers& bucket : run.timeline.buckets)
        section.push_back({{"bucket", bucket.bucket},
                           {"bytes", bucket.bytes},
                           {"seconds", distribution_section(bucket.seconds)}});
    return section;
}

std::uint64_t gated_iterations(const Json& document, int rank) {
    for (const Json& each : copied(document, "/gating/ranks", Json::array()))
        if (number_in(each, "/rank") == rank)
            return each.value("iterations", std::uint64_t{0});
    return 0;
}

Json skew_section(const ReportRun& run) {
    Json section = Json::array();
    for (const RankNumbers& rank : run.timeline.ranks)
        section.push_back({{"rank", rank.rank},
                           {"start_skew_seconds", distribution_section(rank.start_skew_seconds)},
                           {"goodput_bytes_per_second", or_null(rank.goodput_bytes_per_second)},
                           {"gated_iterations", gated_iterations(run.document, rank.rank)}});
    return section;
}

std::string title_of(const ReportRun& run) {
    if (run.input->kind == ReportInput::Kind::run)
        return copied(run.document, "/profile/name", run.input->name).get<std::string>();
    const collectors::TraceInfo& info = run.input->traces.front().info;
    return info.host.empty() ? run.input->path.filename().string() : info.host + "." + info.interface;
}

/// What the profile expects, and what was asked for here.
std::vector<Expectation> all_expectations(const ReportRun& run, std::span<const Expectation> asked) {
    std::vector<Expectation> all;
    for (const Json& text : copied(run.document, "/profile/expect", Json::array()))
        try {
            all.push_back(generator::parse_expectation(text.get<std::string>()));
        } catch (const std::invalid_argument& error) {
            throw generator::UserError(fmt::format("{}: /profile/expect: {}",
                                                   (run.input->path / "run.json").string(), error.what()));
        }
    all.insert(all.end(), asked.begin(), asked.end());
    return all;
}

} // namespace

ReportRun make_report_run(const ReportInput& input, std::span<const Expectation> asked) {
    ReportRun run;
    run.input = &input;
    run.document = input.kind == ReportInput::Kind::run ? input.run : trace_document(input.traces.front());
    const auto iterations = [&](const char* key) {
        return static_cast<std::uint32_t>(
            number_in(run.document, std::string("/iterations/") + key).value_or(0));
    };
    run.timeline = timeline_numbers(input.timeline, iterations("warmup"), iterations("count"));
    if (copied(run.document, "/interfaces", Json::array()).empty())
        run.document["interfaces"] = summaries_of(run, asked);
    else
        add_asked_points(run, asked);
    sort_by_rank(run.document);
    if (input.kind == ReportInput::Kind::trace)
        note_cut(run.document);
    return run;
}

Json run_section(const ReportRun& run, std::span<const Expectation> expectations, bool is_baseline) {
    const Json& document = run.document;
    Json section;
    section["name"] = run.input->name;
    section["path"] = std::filesystem::absolute(run.input->path).string();
    section["kind"] = run.input->kind == ReportInput::Kind::run ? "run" : "trace";
    section["role"] = is_baseline ? "baseline" : "run";
    section["title"] = title_of(run);
    section["description"] = section_in(document, "/profile/description");
    for (const char* const key : {"status", "error", "started_at", "command", "seed"})
        section[key] = section_in(document, std::string("/") + key);
    section["ran"] = ran_text(run);
    section["program_version"] = section_in(document, "/version");
    section["on"] = on_section(run);
    section["headline"] = headline_section(run);
    section["warnings"] = warnings_section(run);
    section["iterations"] = iterations_section(run);
    section["bucket_seconds"] = buckets_section(run);
    section["lateness_seconds"] = section_in(document, "/bucket_start_lateness_seconds");
    section["skew"] = skew_section(run);
    for (const char* const key : {"bytes", "bandwidth", "collectives", "gating", "tcp", "background"})
        section[key] = section_in(document, std::string("/") + key);
    section["cpu"] = copied(document, "/cpu_share_of_a_core", Json::array());
    for (const char* const key : {"slow_lane", "switch_ports", "interfaces"})
        section[key] = copied(document, std::string("/") + key, Json::array());
    section["informative"] = informative_section(run);
    section["verdict"] = generator::verdict_json(
        is_baseline ? generator::Verdict{} : generator::judge(all_expectations(run, expectations), document));
    return section;
}

} // namespace tools
