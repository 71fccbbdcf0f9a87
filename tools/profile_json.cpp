#include "tools/profile_text.hpp"

#include "collectors/units.hpp"

#include <nlohmann/json.hpp>

namespace tools {
namespace {

using Json = nlohmann::ordered_json;

std::string printed(const Json& document) {
    return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

} // namespace

std::string list_json(const std::vector<ProfileSummary>& profiles) {
    Json list = Json::array();
    for (const ProfileSummary& profile : profiles) {
        Json entry{{"name", profile.listing.name},
                   {"description", profile.listing.description},
                   {"path", profile.listing.path.string()}};
        if (profile.error.empty()) {
            entry["model"] = profile.model.empty() ? Json(nullptr) : Json(profile.model);
            entry["buckets"] = profile.buckets;
            entry["bytes"] = profile.bytes;
            entry["compute_seconds"] = collectors::in_seconds(profile.compute);
        } else {
            entry["error"] = profile.error;
        }
        list.push_back(std::move(entry));
    }
    return printed({{"format", "gradburst-profile/1"}, {"profiles", std::move(list)}});
}

std::string show_json(const generator::Profile& profile, const Moment& moment) {
    const IterationView view = view_iteration(profile, moment.rank, moment.iteration);
    Json phases = Json::array();
    for (const Phase& phase : view.phases)
        phases.push_back({{"phase", phase_name(phase.kind)},
                          {"begin_seconds", collectors::in_seconds(phase.begin)},
                          {"end_seconds", collectors::in_seconds(phase.end)}});
    Json buckets = Json::array();
    for (const BucketView& bucket : view.buckets)
        buckets.push_back({{"bucket", bucket.number},
                           {"collective", std::string(generator::collective_name(bucket.collective))},
                           {"group", bucket.group},
                           {"bytes", bucket.bytes},
                           {"tensors", bucket.tensors},
                           {"ready_after_seconds", collectors::in_seconds(bucket.ready_after)},
                           {"needed_at_seconds", collectors::in_seconds(bucket.needed_at)}});
    return printed({{"format", "gradburst-profile/1"},
                    {"version", GRADBURST_VERSION},
                    {"profile", Json::parse(generator::effective_profile_json(profile))},
                    {"profile_hash", generator::profile_hash(profile)},
                    {"byte_scale", generator::byte_scale(profile.scale, profile.network.line_rate)},
                    {"rank", moment.rank},
                    {"iteration", moment.iteration},
                    {"compute_seconds", collectors::in_seconds(view.compute)},
                    {"bytes", view.bytes()},
                    {"phases", std::move(phases)},
                    {"buckets", std::move(buckets)}});
}

} // namespace tools
