#include "tools/report_sections.hpp"

#include "generator/distribution.hpp"

#include <cmath>
#include <string_view>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

Json entry(std::optional<double> value, std::string_view unit, std::string_view definition) {
    return {{"value", value ? Json(*value) : Json()}, {"unit", unit}, {"definition", definition}};
}

std::optional<double> ratio(const std::optional<double>& a, const std::optional<double>& b) {
    return a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt;
}

} // namespace

Json informative_section(const ReportRun& run) {
    if (run.input->kind == ReportInput::Kind::trace)
        return nullptr;
    const Json& document = run.document;
    std::vector<double> goodputs;
    for (const RankNumbers& rank : run.timeline.ranks)
        if (rank.goodput_bytes_per_second)
            goodputs.push_back(*rank.goodput_bytes_per_second);
    const auto cv = coefficient_of_variation(run.timeline.iteration_seconds);
    Json section;
    section["note"] =
        "informative: words of draft-calabria-bmwg-ai-fabric-terminology and -training-bench (IETF, BMWG, "
        "work in "
        "progress), as near as an emulation over kernel TCP comes to them; not a conforming benchmark";
    section["jct_ratio"] = entry(ratio(number_in(document, "/iterations/seconds/mean"),
                                       number_in(document, "/iterations/predicted_seconds")),
                                 "1",
                                 "mean iteration time / that of the fluid model, which has fair shares, no "
                                 "queue and no loss. The draft's "
                                 "roofline is computing time + serialization without overlap; the fluid "
                                 "model overlaps as the profile does");
    section["overlap_fraction"] = entry(run.timeline.overlap_fraction, "1",
                                        "time in which a rank had a bucket in flight before its last bucket "
                                        "was ready / all time with a bucket "
                                        "in flight, all ranks: communication hidden behind computing");
    section["bus_bandwidth"] = entry(number_in(document, "/bandwidth/bus_bytes_per_second"), "bytes/s",
                                     "bytes of the all-reduces / their time on the slowest rank x 2(N-1)/N");
    section["jfi"] =
        entry(fairness_index(goodputs), "1",
              "Jain's fairness index (sum x)^2 / (n sum x^2) of the ranks' goodput: payload sent / time "
              "with a bucket in flight (Jain, Chiu, Hawe: DEC-TR-301, 1984)");
    section["cv_iteration"] = entry(cv ? std::optional(without_noise(*cv, 1)) : std::nullopt, "1",
                                    "standard deviation / mean of the iteration times");
    return section;
}

double without_noise(double difference, double scale) {
    return std::abs(difference) < 1e-9 * std::abs(scale) ? 0 : difference;
}

Json distribution_section(std::vector<double> values) {
    const auto found = generator::distribution(std::move(values));
    if (!found)
        return nullptr;
    return {{"mean", found->mean},
            {"p50", found->p50},
            {"p95", found->p95},
            {"p99", found->p99},
            {"max", found->max}};
}

Json section_in(const Json& document, const std::string& path) {
    const Json::json_pointer pointer(path);
    return document.contains(pointer) ? document.at(pointer) : Json();
}

std::optional<double> number_in(const Json& document, const std::string& path) {
    const Json::json_pointer pointer(path);
    if (!document.contains(pointer) || !document.at(pointer).is_number())
        return std::nullopt;
    return document.at(pointer).get<double>();
}

} // namespace tools
