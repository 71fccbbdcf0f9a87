#include "generator/profile.hpp"
#include "tests/catch.hpp"

#include <fstream>
#include <set>
#include <sstream>
#include <string>

using namespace generator;
namespace fs = std::filesystem;

namespace {

const fs::path folder = GRADBURST_SOURCE_DIR "/tests/data/bad_profiles";

std::string error_of(const fs::path& path) {
    try {
        parse_profile(load_profile(path.string(), {}));
    } catch (const ProfileError& error) {
        return error.what();
    }
    return "no error";
}

/// Of messages.tsv: the file, whether the schema refuses it too, and what the user should see behind its
/// name.
struct Row {
    std::string file;
    std::string schema;
    std::string message;
};

std::vector<Row> rows() {
    std::ifstream file(folder / "messages.tsv");
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
        const fs::path path = folder / row.file;
        CHECK(error_of(path) == path.string() + ": " + row.message);
    }
}

TEST_CASE("every bad profile has its message", "[profile]") {
    std::set<std::string> known;
    for (const Row& row : rows())
        known.insert(row.file);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (entry.path().extension() == ".json")
            CHECK(known.erase(entry.path().filename().string()) == 1);
    CHECK(known.empty());
}
