#include "tools/iteration_picture.hpp"

#include "collectors/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <span>

#include <fmt/format.h>

namespace tools {
namespace {

/// How things look. Each is one column wide.
struct Glyphs {
    std::array<std::string_view, 3> phases; ///< by Phase::Kind
    std::string_view ready;
    std::string_view between;
    std::string_view needed;
};

constexpr Glyphs ascii_glyphs{{"f", "b", "o"}, "*", "-", "|"};
constexpr Glyphs unicode_glyphs{{"░", "▒", "█"}, "●", "─", "┤"};

constexpr std::size_t least_strip = 12;
constexpr std::size_t label_spacing = 7; // columns from one number of the scale to the next, at least

/// Milliseconds, with four significant digits at most.
std::string milliseconds(nanoseconds time) {
    const double value = std::chrono::duration<double, std::milli>(time).count();
    return fmt::format("{:.4g}", value >= 1000 ? std::round(value) : value);
}

std::string range(const std::string& first, const std::string& last) {
    return first == last ? first : first + "-" + last;
}

/// The cells of a line of the table, left of the strip.
using Cells = std::array<std::string, 6>;
constexpr std::array<bool, 6> right_aligned{false, false, false, true, true, true};

Cells cells_of(const BucketLine& line, bool with_group) {
    const std::string count = line.buckets.size() == 1 ? "" : fmt::format("{}x ", line.buckets.size());
    return {range(std::to_string(line.buckets.front().number), std::to_string(line.buckets.back().number)),
            count + std::string(generator::collective_name(line.buckets.front().collective)),
            with_group ? line.buckets.front().group : "",
            collectors::format_bytes(static_cast<double>(line.bytes())),
            range(milliseconds(line.first_ready()), milliseconds(line.last_ready())),
            range(milliseconds(line.first_needed()), milliseconds(line.last_needed()))};
}

/// Time to columns.
struct Strip {
    std::size_t width = 0;
    nanoseconds end{1};

    std::size_t column(nanoseconds time) const {
        const double share = static_cast<double>(time.count()) / static_cast<double>(end.count());
        const double place = std::floor(share * static_cast<double>(width));
        return static_cast<std::size_t>(std::clamp(place, 0.0, static_cast<double>(width - 1)));
    }
    nanoseconds middle(std::size_t column) const {
        const double share = (static_cast<double>(column) + 0.5) / static_cast<double>(width);
        return nanoseconds(std::llround(share * static_cast<double>(end.count())));
    }
};

std::string joined(const std::vector<std::string_view>& strip) {
    std::string text;
    for (const std::string_view glyph : strip)
        text += glyph;
    return text.erase(text.find_last_not_of(' ') + 1);
}

/// `|0        |100      |200`: the bar stands where the time is. Steps are 1, 2 or 5 times a power of ten.
std::string scale_text(const Strip& strip) {
    const double end = std::chrono::duration<double, std::milli>(strip.end).count();
    const double least = end * label_spacing / static_cast<double>(strip.width);
    const double power = std::pow(10.0, std::floor(std::log10(least)));
    double step = 10 * power;
    for (const double digit : {5.0, 2.0, 1.0})
        if (digit * power >= least)
            step = digit * power;
    std::string text(strip.width, ' ');
    for (double time = 0; time < end; time += step) {
        const std::string label = "|" + fmt::format("{:.4g}", time);
        const std::size_t column = strip.column(nanoseconds(std::llround(time * 1e6)));
        if (column + label.size() <= strip.width)
            text.replace(column, label.size(), label);
    }
    return text.erase(text.find_last_not_of(' ') + 1);
}

std::string computing(const IterationView& view, const Strip& strip, const Glyphs& glyphs) {
    std::vector<std::string_view> cells(strip.width, " ");
    for (const Phase& phase : view.phases) {
        const std::string_view glyph = glyphs.phases[static_cast<std::size_t>(phase.kind)];
        for (std::size_t column = 0; column < strip.width; ++column)
            if (phase.begin <= strip.middle(column) && strip.middle(column) < phase.end)
                cells[column] = glyph;
        cells[strip.column(phase.begin)] = glyph; // also what is shorter than half a column
    }
    return joined(cells);
}

std::string way(const BucketLine& line, const Strip& strip, const Glyphs& glyphs) {
    std::vector<std::string_view> cells(strip.width, " ");
    const std::size_t last = strip.column(std::max(line.last_needed(), line.last_ready()));
    for (std::size_t column = strip.column(line.first_ready()); column <= last; ++column)
        cells[column] = glyphs.between;
    for (const BucketView& bucket : line.buckets)
        cells[strip.column(bucket.needed_at)] = glyphs.needed;
    for (const BucketView& bucket : line.buckets)
        cells[strip.column(bucket.ready_after)] = glyphs.ready;
    return joined(cells);
}

std::string table_line(const Cells& cells, std::span<const std::size_t> widths, const std::string& strip) {
    std::string text;
    for (std::size_t i = 0; i < cells.size(); ++i) {
        if (widths[i] == 0)
            continue;
        text += right_aligned[i] ? fmt::format("{:>{}} ", cells[i], widths[i])
                                 : fmt::format("{:<{}} ", cells[i], widths[i]);
    }
    text += strip;
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
}

std::string legend(const IterationView& view, const Glyphs& glyphs) {
    std::string text;
    for (const Phase::Kind kind : {Phase::Kind::forward, Phase::Kind::backward, Phase::Kind::optimizer}) {
        nanoseconds time{0};
        for (const Phase& phase : view.phases)
            time += phase.kind == kind ? phase.end - phase.begin : nanoseconds(0);
        if (time.count() > 0)
            text += fmt::format("{}{} {} {} ms", text.empty() ? "" : ", ",
                                glyphs.phases[static_cast<std::size_t>(kind)], phase_name(kind),
                                milliseconds(time));
    }
    return text.empty() ? "no computing\n" : text + "\n";
}

} // namespace

std::string draw(const IterationView& view, const PictureSettings& settings) {
    const Glyphs& glyphs = settings.ascii ? ascii_glyphs : unicode_glyphs;
    const std::vector<BucketLine> lines = bucket_lines(view, settings.most_lines);
    const bool with_group = std::ranges::any_of(view.buckets, [&view](const BucketView& bucket) {
        return bucket.group != view.buckets.front().group;
    });
    std::vector<Cells> table{{"#", "collective", with_group ? "group" : "", "size", "ready", "needed"}};
    for (const BucketLine& line : lines)
        table.push_back(cells_of(line, with_group));
    std::array<std::size_t, 6> widths{};
    std::size_t left = 0;
    for (std::size_t i = 0; i < widths.size(); ++i) {
        for (const Cells& cells : table)
            widths[i] = std::max(widths[i], cells[i].size());
        left += widths[i] == 0 ? 0 : widths[i] + 1;
    }
    Strip strip;
    strip.width = std::max(least_strip, settings.width > left ? settings.width - left : 0);
    strip.end = std::max(view.compute, nanoseconds(1));
    for (const BucketView& bucket :
         view.buckets) // an explicit bucket may be needed by the end of the iteration
        strip.end = std::max({strip.end, bucket.ready_after, bucket.needed_at});

    std::string text = table_line({"", "", "", "", "", "ms"}, widths, scale_text(strip));
    text += table_line(table.front(), widths, computing(view, strip, glyphs));
    for (std::size_t i = 0; i < lines.size(); ++i)
        text += table_line(table[i + 1], widths, way(lines[i], strip, glyphs));
    text += "\n" + legend(view, glyphs);
    if (!lines.empty())
        text += fmt::format("{} ready to be sent, {} computing waits here until it is complete\n",
                            glyphs.ready, glyphs.needed);
    return text;
}

} // namespace tools
