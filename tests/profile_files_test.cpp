#include "generator/profile.hpp"
#include "tests/catch.hpp"
#include "tests/profiles.hpp"
#include "tests/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

using namespace generator;
using namespace std::chrono_literals;
namespace fs = std::filesystem;
using tests::message_of;
using tests::shipped_profile;
using tests::shipped_profiles;
using tests::TemporaryFolder;
using tests::text_of;
using tests::write_text;

namespace {

std::string load_error(const std::string& name, const std::vector<fs::path>& folders = {}) {
    return message_of<ProfileError>([&] { load_profile(name, folders); });
}

/// Writes a file; returns its path.
std::string written(const fs::path& path, const std::string& text) {
    write_text(path, text);
    return path.string();
}

/// The keys that the parser knows at `path`, as its message about an unknown key lists them.
std::set<std::string> parser_keys(const nlohmann::json::json_pointer& path) {
    nlohmann::json profile = nlohmann::json::object();
    profile[path / "zzzzzzzzzzzzzzzzzzzz"] = 1;
    std::set<std::string> keys;
    try {
        parse_profile({"test.json", profile.dump(), ""});
    } catch (const ProfileError& error) {
        const std::string message = error.what();
        const std::string marker = "known keys: ";
        for (std::size_t at = message.find(marker) + marker.size(); at < message.size();) {
            const std::size_t end = std::min(message.find(", ", at), message.size());
            keys.insert(message.substr(at, end - at));
            at = end + 2;
        }
    }
    return keys;
}

/// Compares an object of the schema, and all objects inside it, with the parser; the README must name each
/// key.
void compare_keys(const nlohmann::json& schema, const nlohmann::json::json_pointer& path) {
    const std::string readme = text_of(shipped_profiles / "README.md");
    INFO(path.to_string());
    REQUIRE(schema.at("additionalProperties") == false);
    std::set<std::string> keys;
    for (const auto& [key, field] : schema.at("properties").items()) {
        keys.insert(key);
        CHECK(field.contains("description"));
        const auto in_readme = [&readme](const std::string& text) {
            return readme.find(text) != std::string::npos;
        };
        INFO(key);
        CHECK((in_readme(key + "`") || in_readme("`" + key + ".") || in_readme("." + key + ".") ||
               in_readme("### " + key + "\n")));
        if (field.contains("properties")) {
            compare_keys(field, path / key);
        }
        if (field.contains("items") && field.at("items").contains("properties")) {
            compare_keys(field.at("items"), path / key / 0);
        }
    }
    CHECK(keys == parser_keys(path));
}

} // namespace

TEST_CASE("every shipped profile parses", "[profile]") {
    const std::vector<ProfileListing> listings = list_profiles({shipped_profiles});
    REQUIRE(listings.size() >= 3);
    for (const ProfileListing& listing : listings) {
        const Profile profile = shipped_profile(listing.name);
        CHECK(profile.name == listing.name);
        CHECK(profile.description == listing.description);
        CHECK_FALSE(profile.description.empty());
    }
}

TEST_CASE("the shipped profiles say what their names promise", "[profile]") {
    const Profile resnet = shipped_profile("resnet50");
    CHECK(resnet.model.elements() == 25'557'032);
    CHECK(resnet.compute.total() == 1'035'598'706ns); // 96 / 92.7 s
    CHECK(resnet.gradients.bucketing == Bucketing::single);
    CHECK_FALSE(resnet.gradients.overlap);
    CHECK(resnet.scale.reference_rate == BitRate{100'000'000'000});
    const Profile ddp = shipped_profile("resnet50-ddp");
    CHECK(ddp.compute.total() == 348'773'842ns); // 128 / 367 s
    CHECK(ddp.gradients.bucket_cap_bytes == 25 * 1024 * 1024);
    CHECK(ddp.gradients.overlap);
    const Profile smoke = shipped_profile("smoke");
    CHECK(smoke.compute.total() * *smoke.run.iterations == 2s);
}

TEST_CASE("the schema and the parser know the same keys", "[profile]") {
    compare_keys(nlohmann::json::parse(text_of(shipped_profiles / "profile.schema.json")),
                 nlohmann::json::json_pointer());
}

TEST_CASE("the worked example in the README parses", "[profile]") {
    const std::string readme = text_of(shipped_profiles / "README.md");
    const std::size_t begin = readme.find("```json") + 7;
    const Profile profile =
        parse_profile({"mine.json", readme.substr(begin, readme.find("```", begin) - begin), ""});
    CHECK(profile.name == "mine");
    REQUIRE(profile.gradients.buckets.size() == 2);
    CHECK(profile.gradients.buckets[0].bytes + profile.gradients.buckets[1].bytes ==
          46'800'000); // 11.7 million x 4
}

TEST_CASE("an unknown name says where it was looked for and what there is", "[profile]") {
    CHECK(
        load_error("resnt50", {shipped_profiles}) ==
        "no profile \"resnt50\" in " + shipped_profiles.string() +
            "; did you mean \"resnet50\"? there are: bert-large, gpt2-medium, gpt2-small, llama2-7b, llm-3d, "
            "resnet101, resnet152, resnet18, resnet50, resnet50-ddp, resnet50-server, shared-network, smoke, vgg16");
    CHECK(load_error("resnt50") == "no profile \"resnt50\" in no folder; there are: none");
}

TEST_CASE("a file that is no profile is refused with the reason", "[profile]") {
    const TemporaryFolder folder;
    const std::string base = folder.path().string();
    CHECK(load_error(base + "/") == base + "/: is a directory; expected a file");
    CHECK(load_error(base + "/none.json") ==
          base + "/none.json: cannot be opened: No such file or directory");
    const std::string empty = written(folder / "empty.json", "");
    CHECK(load_error(empty) == empty + ": is empty; expected a JSON object");
    const std::string broken = written(folder / "broken.json", "{\n\"run\" 5}");
    CHECK_THAT(load_error(broken), Catch::Matchers::StartsWith(broken + ": line 2, column 7: "));
    const std::string lost = written(folder / "lost.json", R"({"model": {"tensors": "models/none.json"}})");
    CHECK(load_error(lost) ==
          lost + ": /model/tensors: models/none.json: cannot be opened: No such file or directory");
    CHECK_THAT(load_error("/dev/zero"), Catch::Matchers::Contains("larger than 64 MiB"));
}

TEST_CASE("the first folder that has a profile wins, and broken ones are listed as such", "[profile]") {
    const TemporaryFolder folder;
    write_text(folder / "smoke.json", R"({"description": "mine"})");
    write_text(folder / "broken.json", "{");
    write_text(folder / "some.schema.json", "{}");
    write_text(folder / "notes.txt", "");
    const std::vector<ProfileListing> listings =
        list_profiles({folder.path(), shipped_profiles, folder / "none"});
    CHECK(listings.size() == list_profiles({shipped_profiles}).size() + 1); // smoke is there once
    const auto description_of = [&listings](const std::string& name) {
        const auto found = std::find_if(listings.begin(), listings.end(),
                                        [&name](const auto& listing) { return listing.name == name; });
        return found == listings.end() ? "not listed" : found->description;
    };
    CHECK_THAT(description_of("broken"), Catch::Matchers::StartsWith("(not usable: line 1, column 2"));
    CHECK(description_of("smoke") == "mine");
    CHECK(description_of("some.schema") == "not listed");
    CHECK(load_profile("smoke", {folder.path(), shipped_profiles}).name == "smoke.json");
}

TEST_CASE("profiles are looked for in the environment's folders, then beside the program", "[profile]") {
    setenv("GRADBURST_PROFILES", "/one::/two", 1);
    const std::vector<fs::path> folders = profile_folders();
    unsetenv("GRADBURST_PROFILES");
    REQUIRE(folders.size() == 3);
    CHECK(folders[0] == "/one");
    CHECK(folders[1] == "/two");
    CHECK_THAT(folders[2].string(), Catch::Matchers::EndsWith("/share/gradburst/profiles"));
}
