#include "tools/report_sections.hpp"

#include "tools/bootstrap.hpp"

#include "generator/measured_values.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;
using generator::MeasuredValue;

constexpr std::string_view method = "difference = run - baseline; 95 % percentile interval of a circular "
                                    "block bootstrap (10,000 resamples, fixed seed, "
                                    "blocks of the cube root of the number of iterations). It holds for what "
                                    "varied within these two runs: what differs "
                                    "from run to run (placement, time of day) needs more runs. Each interval "
                                    "stands alone: of 20 rows without any "
                                    "difference one may show one";

/// What a row is made of: a statistic of values of each run, or one value of each.
struct Row {
    std::string id;
    std::string label;
    std::string unit;
    Statistic statistic;
    std::vector<double> baseline;
    std::vector<double> run;
    std::string note;    ///< for the reason, where there is no interval
    std::string problem; ///< why a value must not be compared; empty: none
};

Json row_json(const Row& row) {
    Json json{{"id", row.id}, {"label", row.label}, {"unit", row.unit}};
    const bool both = !row.baseline.empty() && !row.run.empty();
    const auto value = [&](const std::vector<double>& values) {
        return values.empty() ? Json() : Json(row.statistic.of(values));
    };
    json["baseline"] = value(row.baseline);
    json["run"] = value(row.run);
    const double scale = both ? json["baseline"].get<double>() : 0;
    const double difference = both ? without_noise(json["run"].get<double>() - scale, scale) : 0;
    json["difference"] = both ? Json(difference) : Json();
    json["relative"] =
        both && json["baseline"] != 0 ? Json(difference / json["baseline"].get<double>()) : Json();
    const std::size_t values = std::min(row.baseline.size(), row.run.size());
    auto interval = !both || !row.problem.empty() ? std::nullopt
                                                  : difference_interval(row.baseline, row.run, row.statistic);
    if (!interval) {
        json["interval"] = nullptr;
        json["conclusion"] = "not measured";
        json["reason"] = !row.problem.empty() ? row.problem
                         : !both              ? "not measured in both runs"
                         : values == 1        ? "one value per run tells nothing of what varies"
                                              : fmt::format("{} values; an interval needs {}", values,
                                                            row.statistic.least_values());
        if (!row.note.empty())
            json["reason"] = json["reason"].get<std::string>() + "; " + row.note;
        return json;
    }
    interval = Interval{without_noise(interval->lower, scale), without_noise(interval->upper, scale)};
    json["interval"] = {{"lower", interval->lower}, {"upper", interval->upper}, {"level", 0.95}};
    json["conclusion"] = interval->lower > 0   ? "larger"
                         : interval->upper < 0 ? "smaller"
                                               : "no difference seen";
    json["reason"] = fmt::format("{} and {} values", row.baseline.size(), row.run.size());
    return json;
}

constexpr Statistic mean{Statistic::Kind::mean, 0};

Statistic quantile(double share) {
    return {Statistic::Kind::quantile, share};
}

/// Why nothing of the two must be compared; empty: both ended as planned.
std::string unfinished(const ReportRun& baseline, const ReportRun& run) {
    for (const ReportRun* const each : {&baseline, &run})
        if (const std::string reason = generator::unfinished(each->document); !reason.empty())
            return fmt::format("{}: {}", each->input->name, reason);
    return "";
}

void add_timeline_rows(std::vector<Row>& rows, const ReportRun& baseline, const ReportRun& run) {
    const std::string reason = unfinished(baseline, run);
    const TimelineNumbers& before = baseline.timeline;
    const TimelineNumbers& after = run.timeline;
    const auto add_iterations = [&](const std::string& id, const std::string& label, Statistic statistic) {
        rows.push_back(
            {id, label, "s", statistic, before.iteration_seconds, after.iteration_seconds, "", reason});
    };
    add_iterations("iteration_mean", "iteration time, mean", mean);
    add_iterations("iteration_p50", "iteration time, median", quantile(0.5));
    add_iterations("iteration_p95", "iteration time, p95", quantile(0.95));
    rows.push_back({"worst_lateness_p50", "latest start of an iteration, median", "s", quantile(0.5),
                    before.worst_lateness_seconds, after.worst_lateness_seconds, "", reason});
    constexpr std::size_t most_buckets = 16;
    for (const BucketNumbers& bucket : after.buckets) {
        const auto same =
            std::find_if(before.buckets.begin(), before.buckets.end(),
                         [&](const BucketNumbers& each) { return each.bucket == bucket.bucket; });
        if (same == before.buckets.end() || bucket.bucket >= most_buckets)
            continue;
        const std::string note =
            same->bytes == bucket.bytes ? "" : fmt::format("of {} and {} bytes", same->bytes, bucket.bytes);
        rows.push_back(
            {fmt::format("bucket_{}_p50", bucket.bucket),
             fmt::format("bucket {}, median time{}{}", bucket.bucket, note.empty() ? "" : ", ", note), "s",
             quantile(0.5), same->seconds, bucket.seconds, "", reason});
    }
}

struct Values {
    std::vector<double> values;
    double lower = 0;
    double upper = 0;
    std::string problem; ///< of the first that must not be judged
};

Values values_of(const Json& document, const std::string& quantity) {
    Values found{.problem = generator::unfinished(document)};
    if (!found.problem.empty())
        return found;
    for (const MeasuredValue& value :
         generator::measured_values(generator::parse_quantity(quantity), document)) {
        if (found.problem.empty() && !value.problem.empty())
            found.problem =
                fmt::format("{}{}{}", value.where, value.where.empty() ? "" : ": ", value.problem);
        if (!value.estimate)
            continue;
        found.values.push_back(*value.estimate);
        found.lower = std::max(found.lower, value.lower.value_or(0));
        found.upper = std::max(found.upper, value.upper.value_or(0));
    }
    return found;
}

/// Why the values must not be compared, and of which run that is said.
std::string worst(const ReportRun& baseline, const Values& before, const ReportRun& run,
                  const Values& after) {
    if (!before.problem.empty())
        return fmt::format("{}: {}", baseline.input->name, before.problem);
    return after.problem.empty() ? "" : fmt::format("{}: {}", run.input->name, after.problem);
}

std::string distinct_bounds(const Values& before, const Values& after) {
    return fmt::format("{:.6g} to {:.6g} and {:.6g} to {:.6g}", before.lower, before.upper, after.lower,
                       after.upper);
}

/// Of enough hosts the mean; of fewer the largest. Its certified bounds tell which of the two runs had the
/// larger peak, not whether it would again: two runs of the same kind differ too.
void add_ratio_rows(std::vector<Row>& rows, const ReportRun& baseline, const ReportRun& run) {
    for (const std::string window : {"1ms", "5ms", "10ms", "100ms"}) {
        const std::string quantity = fmt::format("ptm({}, tx)", window);
        Values before = values_of(baseline.document, quantity);
        Values after = values_of(run.document, quantity);
        Row row{"ptm_" + window,
                fmt::format("PtM({}), sent, mean of hosts", window),
                "1",
                mean,
                std::move(before.values),
                std::move(after.values),
                "",
                worst(baseline, before, run, after)};
        if (!row.baseline.empty() && !row.run.empty() &&
            std::min(row.baseline.size(), row.run.size()) < mean.least_values()) {
            row.label = fmt::format("PtM({}), sent, largest of hosts", window);
            row.baseline = {*std::max_element(row.baseline.begin(), row.baseline.end())};
            row.run = {*std::max_element(row.run.begin(), row.run.end())};
            row.note = "certified bounds " + distinct_bounds(before, after);
        }
        rows.push_back(std::move(row));
    }
}

void add_single_rows(std::vector<Row>& rows, const ReportRun& baseline, const ReportRun& run) {
    const auto add = [&](const std::string& id, const std::string& label, const std::string& unit,
                         const std::string& quantity) {
        const Values before = values_of(baseline.document, quantity);
        const Values after = values_of(run.document, quantity);
        rows.push_back(
            {id, label, unit, mean, before.values, after.values, "", worst(baseline, before, run, after)});
    };
    add("bus_bandwidth", "bus bandwidth", "bytes/s", "bus_bandwidth");
    add("mean_rate", "mean rate, sent, mean of hosts", "bytes/s", "mean_rate(tx)");
    add("retransmits", "retransmitted segments", "1", "retransmits");
    add("drops", "dropped packets", "1", "drops");
}

/// What beside the network may explain a difference: "world_size: 4 and 8".
Json settings_that_differ(const ReportRun& baseline, const ReportRun& run) {
    Json differing = Json::array();
    for (const std::string path :
         {"/profile/name", "/profile_hash", "/world_size", "/context/line_rate_bits_per_second",
          "/context/byte_scale", "/context/congestion_control", "/context/build_type", "/version"}) {
        const Json before = section_in(baseline.document, path);
        const Json after = section_in(run.document, path);
        const auto text = [](const Json& value) {
            return value.is_string() ? value.get<std::string>() : value.dump();
        };
        if (before != after)
            differing.push_back(
                fmt::format("{}: {} and {}", path.substr(path.rfind('/') + 1), text(before), text(after)));
    }
    return differing;
}

} // namespace

Json comparison_section(const ReportRun& baseline, const ReportRun& run) {
    std::vector<Row> rows;
    add_timeline_rows(rows, baseline, run);
    add_ratio_rows(rows, baseline, run);
    add_single_rows(rows, baseline, run);
    Json section{{"baseline", baseline.input->name},
                 {"run", run.input->name},
                 {"method", method},
                 {"settings_that_differ", settings_that_differ(baseline, run)}};
    section["rows"] = Json::array();
    for (const Row& row : rows)
        section["rows"].push_back(row_json(row));
    return section;
}

} // namespace tools
