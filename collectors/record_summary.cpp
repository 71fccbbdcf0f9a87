#include "collectors/record_summary.hpp"

#include "collectors/printable.hpp"
#include "collectors/queue_lane.hpp"
#include "collectors/summary.hpp"
#include "collectors/trace_file.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>

#include <fmt/format.h>

namespace collectors {

void print_trace_summary(const std::filesystem::path& trace_path, const SourceReport& report,
                         const std::string& reason) {
    const TraceInfo info = read_trace_info(trace_path);
    const auto summaries =
        summarize(info, blocks_of(trace_path), std::array{Direction::rx, Direction::tx}, {});
    const InterfaceSummary& rx = summaries[0];
    const InterfaceSummary& tx = summaries[1];
    print_safely("{}: {} samples in {} ({}); {} missed, {} failed, {} gaps\n", trace_path.string(),
                 report.samples, format_duration(rx.quality.span), reason, report.missed, report.failed,
                 rx.quality.gaps.count);
    for (const InterfaceSummary* summary : {&rx, &tx})
        print_safely("{}  {}, mean {}; resolved from {}\n", to_text(summary->direction),
                     format_bytes(static_cast<double>(summary->nic_bytes)),
                     format_bit_rate(summary->mean_bits_per_second),
                     format_duration(summary->curve.resolved_from));
    std::set<std::string> warnings(rx.warnings.begin(), rx.warnings.end());
    warnings.insert(tx.warnings.begin(), tx.warnings.end());
    for (const std::string& warning : warnings)
        print_safely(stderr, "WARNING: {}: {}\n", info.interface, warning);
    print_safely("next: gradburst-collect report {}\n", trace_path.string());
}

void print_queue_summary(const std::filesystem::path& trace_path, const LaneFileReport& report) {
    const QueueTrace trace = read_queue_trace(queue_path(trace_path));
    std::uint64_t most = 0;
    for (const QueueSample& sample : trace.samples)
        most = std::max(most, sample.backlog_bytes);
    print_safely("queue {} of {}: {} readings in {}, {} failed; largest backlog {}, {} drops\n", trace.kind,
                 trace.interface, report.samples, queue_path(trace_path).string(), report.failed,
                 format_bytes(static_cast<double>(most)),
                 trace.samples.empty() ? 0 : trace.samples.back().drops - trace.samples.front().drops);
}

} // namespace collectors
