#include "tools/profile_text.hpp"

#include "generator/collective_text.hpp"

#include "collectors/units.hpp"
#include "collectors/wrapped_text.hpp"
#include "generator/variation.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace tools {
namespace {

using namespace generator;

std::string size_text(std::uint64_t bytes) {
    return collectors::format_bytes(static_cast<double>(bytes));
}

std::string plural(std::size_t count, const std::string& noun) {
    return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Lines of `width` columns, each behind `indent` blanks.
std::string paragraph(const std::string& text, std::size_t width, std::size_t indent) {
    std::string result;
    std::istringstream lines(collectors::wrapped(text, width - std::min(width, indent)));
    for (std::string line; std::getline(lines, line);)
        result += std::string(indent, ' ') + line + "\n";
    return result;
}

/// "rank 1 x 2, ranks 4-7 x 1.5 in half of the iterations", as far as words can be short.
std::string stragglers_text(const Profile& profile) {
    std::vector<std::string> texts;
    for (const Straggler& each : profile.stragglers)
        texts.push_back(fmt::format(
            "{} {} x {:g}{}", each.ranks.size() == 1 ? "rank" : "ranks", fmt::join(each.ranks, ", "),
            each.factor, each.probability < 1 ? fmt::format(" (probability {:g})", each.probability) : ""));
    return fmt::format("{}; --rank shows another rank\n", fmt::join(texts, "; "));
}

std::string model_text(const Profile& profile) {
    if (profile.model.tensors.empty())
        return "none: the profile gives its buckets\n";
    const ElementType type = profile.element_type;
    return fmt::format("{}, {} parameters in {}, {} on the wire\n", profile.model.name,
                       profile.model.elements(), plural(profile.model.tensors.size(), "tensor"),
                       type == ElementType::fp32   ? "fp32"
                       : type == ElementType::fp16 ? "fp16"
                                                   : "bf16");
}

std::string scale_text(const Profile& profile) {
    const ScaleSettings& scale = profile.scale;
    const auto rate = [](BitRate value) {
        return collectors::format_bit_rate(static_cast<double>(value.bits_per_second));
    };
    const double factor = byte_scale(scale, profile.network.line_rate);
    if (!scale.reference_rate)
        return fmt::format("bytes x {:g} on every link, times x {:g}\n", factor, scale.time);
    if (!profile.network.line_rate)
        return fmt::format("bytes x {:g} as on a link of {}, times x {:g}\n", factor,
                           rate(*scale.reference_rate), scale.time);
    return fmt::format("bytes x {:g} (link of {}, written for {}), times x {:g}\n", factor,
                       rate(*profile.network.line_rate), rate(*scale.reference_rate), scale.time);
}

} // namespace

ProfileSummary summarize(const ProfileListing& listing) {
    ProfileSummary summary{.listing = listing};
    try {
        Profile profile = without_variation(parse_profile(load_profile(listing.path.string(), {})));
        profile.network.line_rate.reset();
        const IterationView view = view_iteration(profile, 0, 1);
        summary.model = profile.model.name;
        summary.buckets = view.buckets.size();
        summary.bytes = view.bytes();
        summary.compute = view.compute;
    } catch (const ProfileError& error) {
        summary.error = error.what();
    }
    return summary;
}

std::string list_text(const std::vector<ProfileSummary>& profiles, std::size_t width) {
    if (profiles.empty())
        return "no profiles found; set GRADBURST_PROFILES to their folder\n";
    std::size_t longest = 4;
    for (const ProfileSummary& profile : profiles)
        longest = std::max(longest, profile.listing.name.size());
    std::string text = fmt::format("{:<{}}  {:<12} {:>9} {:>9}  {}\n", "NAME", longest, "MODEL", "BYTES",
                                   "COMPUTE", "BUCKETS PER ITERATION");
    for (const ProfileSummary& profile : profiles) {
        if (profile.error.empty())
            text += fmt::format("{:<{}}  {:<12} {:>9} {:>9}  {}\n", profile.listing.name, longest,
                                profile.model.empty() ? "-" : profile.model, size_text(profile.bytes),
                                collectors::format_duration(profile.compute), profile.buckets);
        else
            text += fmt::format("{:<{}}  not usable:\n{}", profile.listing.name, longest,
                                paragraph(profile.error, width, 4));
        if (profile.error.empty())
            text += paragraph(profile.listing.description, width, 4);
    }
    return text;
}

std::string show_text(const Profile& profile, const Moment& moment, const PictureSettings& settings) {
    const IterationView view = view_iteration(profile, moment.rank, moment.iteration);
    std::string text = paragraph(profile.name + ": " +
                                     (profile.description.empty() ? "no description" : profile.description),
                                 settings.width, 0);
    text += "\nmodel      " + model_text(profile);
    text += "collective " + generator::collective_text(profile.collective) + "\n";
    text += "scale      " + scale_text(profile);
    if (!profile.stragglers.empty())
        text += "stragglers " + stragglers_text(profile);
    text += fmt::format("iteration  {} of rank {}: computes for {}, {} of {}\n\n", moment.iteration,
                        moment.rank, collectors::format_duration(view.compute),
                        plural(view.buckets.size(), "bucket"), size_text(view.bytes()));
    text += draw(view, settings);
    text += paragraph("Times count the rank's own computing, in ms; how long it waits for the network says "
                      "gradburst-plan.",
                      settings.width, 0);
    return text;
}

} // namespace tools
