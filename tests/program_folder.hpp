#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>

/// What tests of whole programs share.
namespace tests {

struct Outcome {
    int exit_code = -1; ///< minus the signal that ended it
    std::string output;
    std::string errors;
};

inline std::string text_of(const std::filesystem::path& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

/// A folder of its own for each run of a program; gone afterwards.
class ProgramFolder {
public:
    ProgramFolder() {
        std::string name = (std::filesystem::temp_directory_path() / "gradburst_test.XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::system_error(errno, std::generic_category(), "mkdtemp " + name);
        folder_ = name;
    }
    ~ProgramFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    ProgramFolder(const ProgramFolder&) = delete;
    ProgramFolder& operator=(const ProgramFolder&) = delete;

    std::string folder() const { return folder_.string(); }

protected:
    std::filesystem::path folder_;
};

} // namespace tests
