#include "generator/publication.hpp"

#include "collectors/printable.hpp"
#include "collectors/trace_file.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace generator {
namespace {

std::string tcp_csv_of(const std::vector<std::optional<RankReport>>& reports) {
    std::vector<std::string_view> lines;
    for (const std::optional<RankReport>& report : reports)
        if (report)
            lines.push_back(report->tcp_lines);
    return tcp_csv(lines);
}

/// A file that cannot be written is said on standard error, once, and becomes one of the `unwritten`.
void write(RunDirectory& directory, const std::string& name, std::string_view content,
           std::vector<std::string>& unwritten) {
    try {
        directory.write(name, content);
    } catch (const std::exception& error) {
        if (std::find(unwritten.begin(), unwritten.end(), name) != unwritten.end())
            return;
        unwritten.push_back(name);
        collectors::print_safely(stderr, "gradburst: {}\n", error.what());
    }
}

/// What lacks a file is not complete, whatever the traffic was.
RunRecord as_written(RunRecord record, const std::vector<std::string>& unwritten) {
    if (!unwritten.empty() && record.status == RunStatus::complete) {
        record.status = RunStatus::failed;
        record.error =
            fmt::format("the run went to its end, but could not write {}", fmt::join(unwritten, ", "));
    }
    return record;
}

/// "kept in run: run.json, timeline.csv, nic/", and what is not as it should be there.
std::string kept_text(const RunDirectory& directory, const std::vector<std::string>& unwritten) {
    std::vector<std::string> whole = directory.kept();
    const bool stale_record =
        std::erase_if(whole, [&](const std::string& name) {
            return std::find(unwritten.begin(), unwritten.end(), name) != unwritten.end();
        }) > 0;
    std::string text =
        whole.empty() ? fmt::format("NOTHING IS KEPT in {}\n", directory.path().string())
                      : fmt::format("kept in {}: {}\n", directory.path().string(), fmt::join(whole, ", "));
    if (!unwritten.empty())
        text += fmt::format("NOT WRITTEN: {}{}\n", fmt::join(unwritten, ", "),
                            stale_record ? "; the run.json that is there is from before the metrics" : "");
    return text;
}

} // namespace

std::vector<std::string> keep_remote_traces(const std::vector<std::optional<RankReport>>& reports,
                                            RunDirectory& directory) {
    std::vector<std::string> unwritten;
    for (const std::optional<RankReport>& report : reports)
        if (report)
            for (const RecordedTrace& trace : report->traces)
                if (!trace.csv.empty()) {
                    write(directory, trace.file, trace.csv, unwritten);
                    write(directory, collectors::sidecar_path(trace.file).string(), trace.sidecar, unwritten);
                }
    return unwritten;
}

std::vector<std::string> keep(const JobResult& job, RunDirectory& directory) {
    const RunRecord& record = job.record;
    std::vector<std::string> unwritten;
    write(directory, "run.json",
          run_json(without_metrics(record, "rank 0 was killed, or could not write (disk full?),")),
          unwritten);
    write(directory, "timeline.csv", timeline_csv(timelines_of(job.reports)), unwritten);
    if (record.profile.sampling.tcp_info)
        write(directory, "tcp.csv", tcp_csv_of(job.reports), unwritten);
    if (!record.profile.background.empty())
        write(directory, "background.csv", background_csv(job.background, record.profile.background),
              unwritten);
    return unwritten;
}

Published publish(RunRecord record, RunDirectory& directory, std::vector<std::string> unwritten, bool quiet) {
    // A full disk must not take the text from the terminal.
    record = as_written(std::move(record), unwritten);
    write(directory, "metrics.prom", prometheus_text(record), unwritten);
    record = as_written(std::move(record), unwritten);
    record.verdict = verdict_on(record);
    const std::string json = run_json(record);
    write(directory, "run.json", json, unwritten);
    if (!record.profile.run.json && !quiet)
        collectors::print_safely("{}", in_front(record.job, result_text(record, directory.path().string()) +
                                                                kept_text(directory, unwritten)));
    else if (record.job.empty())
        collectors::print_safely("{}", json);
    std::fflush(stdout);
    if (!record.error.empty())
        collectors::print_safely(stderr, "gradburst: {}{}\n", record.job.empty() ? "" : record.job + ": ",
                                 record.error);
    const bool as_expected = record.verdict.result == Result::none || record.verdict.result == Result::pass;
    const int exit_code = !unwritten.empty()                     ? our_failure
                          : record.status == RunStatus::complete ? (as_expected ? success : not_as_expected)
                          : record.status == RunStatus::interrupted ? interrupted
                                                                    : our_failure;
    return {std::move(record), exit_code};
}

} // namespace generator
