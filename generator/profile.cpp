#include "generator/profile.hpp"

#include "generator/expectation.hpp"
#include "generator/profile_overrides.hpp"
#include "generator/profile_reader.hpp"
#include "generator/profile_sections.hpp"
#include "generator/profile_syntax.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <stdexcept>

namespace generator {
namespace {

/// Parses the text and names the file if it is not JSON.
nlohmann::json parse_document(const ProfileSource& source) {
    try {
        return parse_json(source.text);
    } catch (const std::invalid_argument& error) {
        throw std::invalid_argument(source.name + ": " + error.what());
    }
}

void read_model(ObjectReader section, const ProfileSource& source, Profile& profile) {
    profile.model_file = section.text("tensors").value_or("");
    if (const auto type = section.choice("element_type", element_type_names)) {
        profile.element_type = static_cast<ElementType>(*type);
    }
    section.finish();
    if (profile.model_file.empty()) {
        return;
    }
    try {
        profile.model = parse_model(source.model_text);
    } catch (const std::invalid_argument& error) {
        section.fail("tensors", profile.model_file + ": " + error.what());
    }
}

[[noreturn]] void fail(const Origin& origin, const std::string& path, const std::string& rule) {
    throw std::invalid_argument(origin.name(path) + ": " + rule);
}

/// What is sharded is known from tensors.
void check_sharding(const Profile& profile, const Origin& origin) {
    const Bucketing bucketing = profile.gradients.bucketing;
    const std::string_view sharding = choice_name(sharding_names, profile.gradients.sharding);
    if (profile.gradients.sharding == Sharding::none) {
        return;
    }
    if (bucketing == Bucketing::explicit_list) {
        fail(origin, "/gradients/sharding",
             fmt::format("\"{}\" needs /model/tensors; with /gradients/bucketing \"explicit\" list its "
                         "reduce_scatter and all_gather as buckets",
                         sharding));
    }
    if (profile.gradients.sharding != Sharding::fsdp) {
        return;
    }
    if (bucketing != Bucketing::single) {
        fail(origin, "/gradients/bucketing",
             fmt::format(
                 "must be \"single\" with /gradients/sharding \"fsdp\", which sends the model's units, is "
                 "\"{}\"",
                 choice_name(bucketing_names, bucketing)));
    }
    if (profile.model.units.empty()) {
        fail(origin, "/gradients/sharding",
             "\"fsdp\" needs \"units\" in the tensor list, " + profile.model_file);
    }
}

/// Buckets come either from the profile or from tensors.
void check_buckets(const Profile& profile, const Origin& origin) {
    const std::string_view bucketing = choice_name(bucketing_names, profile.gradients.bucketing);
    const bool tensors = !profile.model_file.empty();
    if (profile.gradients.bucketing != Bucketing::explicit_list) {
        if (!tensors) {
            fail(origin, "/model/tensors",
                 fmt::format("required, because /gradients/bucketing is \"{}\"", bucketing));
        }
        if (!profile.gradients.buckets.empty()) {
            fail(origin, "/gradients/buckets",
                 fmt::format("only with \"bucketing\": \"explicit\", is \"{}\"", bucketing));
        }
        if (!profile.groups.empty()) {
            fail(origin, "/groups",
                 fmt::format("only with /gradients/bucketing \"explicit\", is \"{}\"", bucketing));
        }
        return;
    }
    if (tensors) {
        fail(origin, "/model/tensors", "must not be given, because /gradients/bucketing is \"explicit\"");
    }
    if (profile.gradients.buckets.empty()) {
        fail(origin, "/gradients/buckets", "required, because /gradients/bucketing is \"explicit\"");
    }
    if (profile.gradients.broadcast_buffers) {
        fail(origin, "/gradients/broadcast_buffers",
             "needs /model/tensors, which gives the size of the buffers");
    }
}

std::vector<std::string> read_expectations(ObjectReader& root) {
    std::vector<std::string> texts = root.texts("expect").value_or(std::vector<std::string>{});
    for (std::size_t i = 0; i < texts.size(); ++i) {
        try {
            parse_expectation(texts[i]);
        } catch (const std::invalid_argument& error) {
            root.fail_below("expect", fmt::format("/{}", i), error.what());
        }
    }
    return texts;
}

/// Rules between fields.
void check(const Profile& profile, const Origin& origin) {
    check_buckets(profile, origin);
    check_sharding(profile, origin);
    check_launch_order(profile, origin);
    const RunSettings& run = profile.run;
    if (run.iterations && run.warmup >= *run.iterations) {
        // Of the two, name the one that an option set.
        const bool iterations_set = origin.options.contains("/run/iterations");
        if (iterations_set && !origin.options.contains("/run/warmup")) {
            fail(origin, "/run/iterations",
                 fmt::format("must be more than /run/warmup, {}, is {}; --warmup 0 measures every iteration",
                             run.warmup, *run.iterations));
        }
        fail(origin, "/run/warmup",
             fmt::format("must be less than /run/iterations, {}, is {}", *run.iterations, run.warmup));
    }
    if (run.verify && profile.element_type != ElementType::fp32) {
        fail(origin, "/run/verify",
             fmt::format("needs /model/element_type \"fp32\", is \"{}\"",
                         choice_name(element_type_names, profile.element_type)));
    }
}

Profile parse(const ProfileSource& source, const std::vector<Override>& overrides) {
    nlohmann::json document = parse_document(source);
    Origin origin{source.name, {}};
    apply_overrides(document, overrides, origin);

    ObjectReader root(document, origin);
    Profile profile;
    root.text("$schema"); // for editors
    profile.name = root.text("name").value_or(std::filesystem::path(source.name).stem().string());
    profile.description = root.text("description").value_or("");
    read_model(root.section("model"), source, profile);
    read_compute(root.section("compute"), profile);
    profile.groups = read_groups(root.section("groups"));
    profile.gradients = read_gradients(root.section("gradients"), profile.groups);
    profile.collective = read_collective(root.section("collective"));
    profile.network = read_network(root.section("network"));
    profile.background = read_background(root.sections("background"), source);
    profile.scale = read_scale(root.section("scale"));
    profile.run = read_run(root.section("run"));
    profile.sampling = read_sampling(root.section("sampling"));
    profile.expect = read_expectations(root);
    root.finish();
    check(profile, origin);
    return profile;
}

} // namespace

Profile parse_profile(const ProfileSource& source, const std::vector<Override>& overrides) {
    try {
        return parse(source, overrides);
    } catch (const std::invalid_argument& error) {
        throw ProfileError(error.what());
    }
}

} // namespace generator
