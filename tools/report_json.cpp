#include "tools/report_json.hpp"

#include "tools/input_failure.hpp"
#include "tools/report_run.hpp"
#include "tools/report_sections.hpp"

#include "generator/verdict.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

/// The worst of all runs; their reasons, with the run's name where there are several.
Json whole_verdict(const Json& runs) {
    constexpr std::array order{"none", "pass", "not_measured", "fail"};
    const auto rank = [&](const Json& result) {
        return std::find(order.begin(), order.end(), result.get<std::string>()) - order.begin();
    };
    Json verdict{{"result", "none"}, {"reasons", Json::array()}};
    for (const Json& run : runs) {
        if (rank(run["verdict"]["result"]) > rank(verdict["result"]))
            verdict["result"] = run["verdict"]["result"];
        for (const Json& reason : run["verdict"]["reasons"])
            verdict["reasons"].push_back(
                runs.size() == 1
                    ? reason.get<std::string>()
                    : fmt::format("{}: {}", run["name"].get<std::string>(), reason.get<std::string>()));
    }
    return verdict;
}

/// Its steps have results of their own, in their folders.
Json sweep_report(const Json& sweep, const ReportSettings& settings) {
    Json report{{"format", "gradburst-report/1"},
                {"version", GRADBURST_VERSION},
                {"created_at", settings.created_at}};
    report["runs"] = Json::array();
    report["comparison"] = nullptr;
    report["verdict"] = whole_verdict(report["runs"]);
    report["sweep"] = sweep;
    report["glossary"] = glossary_section();
    return report;
}

} // namespace

Json report_json(std::span<const ReportInput> inputs, const ReportSettings& settings) {
    if (inputs.size() == 1 && inputs[0].kind == ReportInput::Kind::sweep)
        return sweep_report(inputs[0].run, settings);
    std::vector<ReportRun> runs;
    for (const ReportInput& input : inputs)
        runs.push_back(using_input(
            input, [&](const ReportInput& used) { return make_report_run(used, settings.expectations); }));
    Json report{{"format", "gradburst-report/1"},
                {"version", GRADBURST_VERSION},
                {"created_at", settings.created_at}};
    report["runs"] = Json::array();
    for (const ReportRun& run : runs)
        report["runs"].push_back(using_input(*run.input, [&](const ReportInput&) {
            return run_section(run, settings.expectations,
                               settings.first_is_baseline && report["runs"].empty());
        }));
    report["comparison"] = settings.first_is_baseline ? comparison_section(runs.at(0), runs.at(1)) : Json();
    report["verdict"] = whole_verdict(report["runs"]);
    report["glossary"] = glossary_section();
    return report;
}

} // namespace tools
