#pragma once

#include "generator/profile.hpp"
#include "tools/iteration_picture.hpp"

#include <string>
#include <vector>

namespace tools {

/// What `gradburst-profile list` tells of a profile.
struct ProfileSummary {
    generator::ProfileListing listing;
    std::string error; ///< why it cannot be used; the rest is empty then
    std::string model; ///< empty when buckets are given explicitly
    std::size_t buckets = 0;
    std::uint64_t bytes = 0; ///< of the buckets of iteration 1, at the size that the profile says
    nanoseconds compute{0};
};

/// Does not throw for a profile that cannot be used.
ProfileSummary summarize(const generator::ProfileListing& listing);

std::string list_text(const std::vector<ProfileSummary>& profiles, std::size_t width);
std::string list_json(const std::vector<ProfileSummary>& profiles);

/// Which iteration of which rank is shown.
struct Moment {
    int rank = 0;
    std::uint32_t iteration = 1;
};

std::string show_text(const generator::Profile& profile, const Moment& moment,
                      const PictureSettings& settings);
/// Format "gradburst-profile/1": effective profile, phases and buckets.
std::string show_json(const generator::Profile& profile, const Moment& moment);

} // namespace tools
