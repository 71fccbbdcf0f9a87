#include "tools/report_figure.hpp"
#include "tools/superpose_report.hpp"

#include "collectors/units.hpp"
#include "collectors/wrapped_text.hpp"
#include "generator/failure.hpp"

#include <array>
#include <cmath>
#include <functional>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tools {
namespace {

using collectors::format_bit_rate;
using collectors::format_bytes;
using Json = nlohmann::ordered_json;

constexpr std::size_t name_width = 15;

std::string named(const std::string& name, const std::string& text) {
    return collectors::labelled(name, text, name_width, 100);
}

std::string seconds_text(const Json& seconds) {
    return collectors::format_duration(std::chrono::nanoseconds(std::llround(1e9 * seconds.get<double>())));
}

std::string percent(double share) {
    return fmt::format("{:.2f} %", 100 * share);
}

std::string probability_text(const Json& probability, std::size_t draws) {
    if (probability.is_null())
        return "not known";
    if (draws == 1)
        return probability["share"].get<double>() > 0 ? "yes" : "no";
    return fmt::format("{} ({} to {})", percent(probability["share"]), percent(probability["lower"]),
                       percent(probability["upper"]));
}

std::string jobs_text(const Json& input) {
    const std::size_t jobs = input["jobs"].size();
    return fmt::format("{} job{}", jobs, jobs == 1 ? "" : "s");
}

std::string input_text(const Json& input, const std::string& direction) {
    const std::string source = input["period_source"];
    return named(jobs_text(input),
                 fmt::format("{}: {}.{} {}{}, {} period{} of {} ({}); mean {}, sends at {}, {} of the time",
                             input["name"].get<std::string>(), input["host"].get<std::string>(),
                             input["interface"].get<std::string>(), direction,
                             input["interfaces"] == 1
                                 ? ""
                                 : fmt::format(" (one of its {} interfaces; a file in nic/ names another)",
                                               input["interfaces"].get<std::size_t>()),
                             input["periods"].get<std::size_t>(), input["periods"] == 1 ? "" : "s",
                             seconds_text(input["period_seconds"]), source,
                             format_bit_rate(input["mean_bits_per_second"]),
                             format_bit_rate(input["sending_bits_per_second"]),
                             percent(input["share_of_time_in_bursts"])));
}

constexpr std::array<const char*, 5> shown_quantiles{"p5", "p50", "p95", "p99", "max"};

std::string row(const std::string& name, const Json& distribution,
                const std::function<std::string(double)>& text) {
    std::string cells = fmt::format("  {:<{}}", name, name_width - 2);
    for (const char* const quantile : shown_quantiles)
        cells += fmt::format("{:>12}", text(distribution[quantile]));
    return cells;
}

std::string heading(const std::string& title, const std::string& last = "") {
    std::string cells = fmt::format("{:<{}}", title, name_width);
    for (const char* const quantile : shown_quantiles)
        cells += fmt::format("{:>12}", quantile);
    return cells + (last.empty() ? "" : fmt::format("{:>14}", last)) + "\n";
}

/// Most bytes in a window and PtM, over the draws; none may pass the bound.
std::string curve_text(const Json& burstiness, const char* key, const char* bound, const std::string& title,
                       const std::function<std::string(double)>& text) {
    std::string rows;
    for (const Json& point : burstiness) {
        const std::string tau = seconds_text(point["tau_seconds"]);
        rows += point[key].is_null()
                    ? fmt::format("  {:<{}}{:>12}\n", tau, name_width - 2, "not resolved")
                    : row(tau, point[key], text) + fmt::format("{:>14}\n", text(point[bound]));
    }
    return heading(title, "at most") + rows;
}

std::string buffer_name(const Json& buffer) {
    return fmt::format("P(queue > {})", format_bytes(buffer["buffer_bytes"]));
}

std::string queue_text(const Json& document) {
    if (document["link"].is_null())
        return "";
    std::string text = named("link", fmt::format("{}, of which the jobs offer {} together: load {}",
                                                 format_bit_rate(document["link"]["rate_bits_per_second"]),
                                                 format_bit_rate(document["mean_bits_per_second"]),
                                                 percent(document["link"]["load"])));
    if (!document["backlog"].is_null())
        text += heading("queue") + row("largest", document["backlog"]["bytes"], format_bytes) + "\n";
    for (const Json& buffer : document["buffers"])
        text += fmt::format("{}: {}\n", buffer_name(buffer),
                            probability_text(buffer["probability"], document["draws"]));
    return text;
}

std::string share_cell(const Json& share) {
    return fmt::format("{:.2f} +-{:.2f} %", 100 * share["share"].get<double>(),
                       50 * (share["upper"].get<double>() - share["lower"].get<double>()));
}

std::string convergence_text(const Json& document) {
    const Json& convergence = document["convergence"];
    if (convergence.is_null())
        return "";
    std::string text = fmt::format("\n{:<{}}{:>20}", "draws", name_width, "P(overlap)");
    const bool has_queue = !document["backlog"].is_null();
    if (has_queue) {
        for (const Json& buffer : document["buffers"])
            text += fmt::format("{:>22}", buffer_name(buffer));
        text += fmt::format("{:>14}  {}", "queue p99", "(95 %)");
    }
    text += "\n";
    for (const Json& step : convergence["steps"]) {
        text += fmt::format("{:<{}}{:>20}", step["draws"].get<std::size_t>(), name_width,
                            share_cell(step["overlap"]));
        for (const Json& share : step["buffers"])
            text += fmt::format("{:>22}", share_cell(share));
        if (has_queue) {
            const Json& p99 = step["backlog_p99"];
            text += fmt::format("{:>14}  ({})", format_bytes(p99["bytes"]),
                                p99["lower"].is_null() ? "too few draws"
                                                       : fmt::format("{} to {}", format_bytes(p99["lower"]),
                                                                     format_bytes(p99["upper"])));
        }
        text += "\n";
    }
    if (convergence["converged"].get<bool>())
        return text + named("converged", "yes: shares to +-1 %, the 99th percentile of the queue to +-5 %");
    return text + named("converged",
                        fmt::format("NO: {}; more --phases",
                                    fmt::join(convergence["reasons"].get<std::vector<std::string>>(), "; ")));
}

std::string title_text(const Json& document) {
    const auto jobs = document["jobs"].get<std::size_t>();
    std::string draws;
    if (document["offsets_seconds"].is_null()) {
        draws = fmt::format("{} draws of random phases (seed {})", document["draws"].get<std::size_t>(),
                            document["seed"].get<std::uint64_t>());
    } else {
        std::vector<std::string> offsets;
        for (const Json& offset : document["offsets_seconds"])
            offsets.push_back(seconds_text(offset));
        const auto periods = document["draws"].get<std::size_t>();
        draws = fmt::format("{} period{} with offsets {}", periods, periods == 1 ? "" : "s",
                            fmt::join(offsets, ", "));
    }
    return named(
        "superposition",
        fmt::format("{} job{}, {}; each covers {} in cells of {}. OFFERED LOAD: nobody slows down for "
                    "the others, as TCP would",
                    jobs, jobs == 1 ? "" : "s", draws, seconds_text(document["covered_seconds"]),
                    seconds_text(document["cell_seconds"])));
}

} // namespace

std::string superpose_text(const Json& document) {
    std::string text = title_text(document);
    for (const Json& input : document["inputs"])
        text += input_text(input, document["direction"]);
    for (const Json& warning : document["warnings"])
        text += named("WARNING", warning);
    text += "\n" + curve_text(document["burstiness"], "e_bytes", "e_bound_bytes", "E(tau)", format_bytes);
    text += "\n" + curve_text(document["burstiness"], "ptm", "ptm_bound", "PtM(tau)",
                              [](double value) { return fmt::format("{:.2f}", value); });
    text += "\n" + queue_text(document);
    text += fmt::format("P(overlap): {}: bursts of two jobs at one instant\n",
                        probability_text(document["overlap"], document["draws"]));
    return text + convergence_text(document);
}

std::string superpose_figure(const std::filesystem::path& path, const Json& document) {
    if (document["backlog"].is_null())
        throw generator::UserError(fmt::format(
            "--figure {}: there is no queue without --rate, or with a load above it", path.string()));
    std::string script = "$data << EOD\n0 1\n";
    for (const Json& point : document["backlog"]["curve"])
        script += fmt::format("{:.9g} {:.6g}\n", point["bytes"].get<double>() / 1e6,
                              point["share_above"].get<double>());
    script +=
        fmt::format("EOD\nset terminal {}\nset grid\nset key outside below noenhanced\n"
                    "set xlabel 'largest queue of a draw [MB]'\nset ylabel 'share of draws with a longer "
                    "one'\nset xrange [0:{:.9g}]\nset yrange [0:1]\n",
                    figure_terminal(path),
                    std::max(1e-6, 1.05 * document["backlog"]["bytes"]["max"].get<double>() / 1e6));
    for (const Json& buffer : document["buffers"])
        script += fmt::format("set arrow from first {0:.9g}, graph 0 to first {0:.9g}, graph 1 nohead dt 2\n",
                              buffer["buffer_bytes"].get<double>() / 1e6);
    return script + fmt::format("plot $data using 1:2 with steps lw 2 title '{} jobs, {} draws, {}'\n",
                                document["jobs"].get<std::size_t>(), document["draws"].get<std::size_t>(),
                                format_bit_rate(document["link"]["rate_bits_per_second"]));
}

} // namespace tools
