#pragma once

#include "tests/catch.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/text.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/wait.h>

/// What tests of whole programs share.
namespace tests {

struct Outcome {
    int exit_code = -1; ///< minus the signal that ended it
    std::string output;
    std::string errors;
};

/// Runs one program through the shell, in a folder of its own.
class ShellProgram {
public:
    /// `command`: the program's path, quoted for the shell, with what stands before it (LC_ALL=C).
    explicit ShellProgram(std::string command) : command_(std::move(command)) {}

    std::filesystem::path file(const std::string& name) const { return folder_ / name; }
    std::string folder() const { return folder_.path().string(); }

    /// Writes a file into the folder; returns its path, quoted for the shell.
    std::string write(const std::string& name, const std::string& text) const {
        write_text(file(name), text);
        return "'" + file(name).string() + "'";
    }

    Outcome run(const std::string& arguments) const {
        const std::string command = command_ + " " + arguments + " >'" + file("stdout").string() + "' 2>'" +
                                    file("stderr").string() + "'";
        const int status = std::system(command.c_str());
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text_of(file("stdout")),
                text_of(file("stderr"))};
    }

    /// What it says on standard error to a mistake of the user; fails if it does not take it for one.
    std::string complaint(const std::string& arguments) const {
        const Outcome outcome = run(arguments);
        INFO(arguments << ": " << outcome.errors);
        CHECK(outcome.exit_code == 2);
        CHECK(outcome.output.empty());
        CHECK_FALSE(outcome.errors.empty());
        return outcome.errors;
    }

    void check_help_and_version(const std::string& name) const {
        const Outcome help = run("--help");
        CHECK(help.exit_code == 0);
        CHECK(contains(help.output, "Examples:"));
        CHECK(contains(run("--version").output, name + " "));
    }

private:
    TemporaryFolder folder_;
    std::string command_;
};

} // namespace tests
