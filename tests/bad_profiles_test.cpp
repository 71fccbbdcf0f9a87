#include "generator/profile.hpp"
#include "tests/catch.hpp"
#include "tests/text.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace generator;
namespace fs = std::filesystem;
using tests::message_of;

namespace {

const fs::path bad_profiles = GRADBURST_SOURCE_DIR "/tests/data/bad_profiles";

std::string file_error(const fs::path& path) {
    return message_of<ProfileError>([&] { parse_profile(load_profile(path.string(), {})); });
}

/// Of messages.tsv: the file, whether the schema refuses it too, and what the user should see behind its
/// name.
struct Row {
    std::string file;
    std::string schema;
    std::string message;
};

std::vector<Row> rows() {
    std::ifstream file(bad_profiles / "messages.tsv");
    std::vector<Row> rows;
    std::string line;
    std::getline(file, line); // names of the columns
    while (std::getline(file, line)) {
        std::istringstream fields(line);
        Row row;
        std::getline(fields, row.file, '\t');
        std::getline(fields, row.schema, '\t');
        std::getline(fields, row.message);
        rows.push_back(row);
    }
    return rows;
}

} // namespace

TEST_CASE("each bad profile is refused with the message that helps its user", "[profile]") {
    REQUIRE(rows().size() >= 60);
    for (const Row& row : rows()) {
        const fs::path path = bad_profiles / row.file;
        CHECK(file_error(path) == path.string() + ": " + row.message);
    }
}

TEST_CASE("every bad profile has its message", "[profile]") {
    std::set<std::string> known;
    for (const Row& row : rows())
        known.insert(row.file);
    for (const fs::directory_entry& entry : fs::directory_iterator(bad_profiles))
        if (entry.path().extension() == ".json")
            CHECK(known.erase(entry.path().filename().string()) == 1);
    CHECK(known.empty());
}
