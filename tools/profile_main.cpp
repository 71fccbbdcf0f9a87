#include "collectors/printable.hpp"
#include "generator/field_options.hpp"
#include "generator/profile_ranks.hpp"
#include "tools/profile_check.hpp"
#include "tools/profile_diff.hpp"
#include "tools/profile_text.hpp"
#include "tools/run_program.hpp"

#include <clocale>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <langinfo.h>
#include <string>
#include <sys/ioctl.h>
#include <unistd.h>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace {

using namespace generator;

constexpr const char* description =
    "gradburst-profile - list, show, check and compare profiles\n\n"
    "A profile says what traffic is emulated. This program needs no network, no MPI and no privileges.";

constexpr const char* examples =
    "Examples:\n"
    "  gradburst-profile list\n"
    "  gradburst-profile show resnet50-ddp\n"
    "  gradburst-profile show resnet50-ddp --iteration 0 --set /network/line_rate=1Gbit\n"
    "  gradburst-profile show mine.json --json > mine.effective.json\n"
    "  gradburst-profile check mine.json\n"
    "  gradburst-profile diff resnet50 mine.json\n\n"
    "Exit codes: 0 done (check: no mistakes; diff: also when they differ); 1 something failed; 2 a mistake "
    "in a\n"
    "profile or the command line. The manual page is gradburst-profile(1), the fields are in "
    "profiles/README.md.";

struct Options {
    std::string profile;
    std::string other;
    std::vector<std::string> files;
    int ranks = 0;                   ///< check: 0: for no certain number
    std::vector<Override> overrides; ///< show
    tools::Moment moment;
    std::size_t width = 0; ///< 0: the terminal's
    bool ascii = false;
    bool all = false;
    bool json = false;
};

/// What a terminal tells; COLUMNS goes before, as in other programs. Without a terminal 80.
std::size_t terminal_width() {
    if (const char* const columns = std::getenv("COLUMNS"))
        if (const int given = std::atoi(columns); given > 0)
            return static_cast<std::size_t>(given);
    winsize size{};
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

bool locale_is_utf8() {
    return std::setlocale(LC_CTYPE, "") != nullptr && std::strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

std::size_t width_of(const Options& options) {
    const std::size_t width = options.width > 0 ? options.width : terminal_width();
    return std::max(width, tools::least_picture_width);
}

Profile parsed(const std::string& name, const std::vector<Override>& changes = {}) {
    return parse_profile(load_profile(name, profile_folders()), changes);
}

int list(const Options& options) {
    std::vector<tools::ProfileSummary> summaries;
    for (const ProfileListing& listing : list_profiles(profile_folders()))
        summaries.push_back(tools::summarize(listing));
    collectors::print_safely("{}", options.json ? tools::list_json(summaries)
                                                : tools::list_text(summaries, width_of(options)));
    return 0;
}

int show(const Options& options) {
    const Profile profile = parsed(options.profile, options.overrides);
    tools::PictureSettings settings;
    settings.width = width_of(options);
    settings.ascii = options.ascii || !locale_is_utf8();
    if (options.all)
        settings.most_lines = ~std::size_t{0};
    collectors::print_safely("{}", options.json ? tools::show_json(profile, options.moment)
                                                : tools::show_text(profile, options.moment, settings));
    return 0;
}

/// What is found goes to standard output: it is the result.
int check(const Options& options) {
    int exit_code = 0;
    for (const std::string& file : options.files) {
        std::vector<std::string> found;
        try {
            const ProfileSource source = load_profile(file, profile_folders());
            found = tools::mistakes(source);
            if (found.empty() && options.ranks > 0)
                check_for_ranks(parse_profile(source), options.ranks, {}, source.name);
        } catch (const ProfileError& error) {
            found.push_back(error.what());
        }
        for (const std::string& mistake : found)
            collectors::print_safely("{}\n", mistake);
        if (found.empty())
            collectors::print_safely("{}: good\n", file);
        else
            exit_code = 2;
    }
    return exit_code;
}

int diff(const Options& options) {
    collectors::print_safely("{}", tools::difference_text(parsed(options.profile), parsed(options.other)));
    return 0;
}

using Command = int (*)(const Options&);

/// The commands, in the order of --help.
std::vector<std::pair<CLI::App*, Command>> add_commands(CLI::App& app, Options& options) {
    CLI::App* const list_command =
        app.add_subcommand("list", "Names, descriptions, bytes and computing times");
    list_command->add_flag("--json", options.json, "JSON instead of text");
    CLI::App* const show_command = app.add_subcommand("show", "Draw one iteration of one rank");
    show_command->add_option("profile", options.profile, "Name of a profile, or path of a JSON file")
        ->required();
    show_command
        ->add_option("--iteration", options.moment.iteration,
                     "Which, from 0; iteration 0 may differ (DDP sends the model as one bucket)")
        ->capture_default_str();
    show_command
        ->add_option("--rank", options.moment.rank, "Whose; ranks differ by jitter, stragglers and groups")
        ->check(CLI::Range(0, 1'000'000))
        ->capture_default_str();
    show_command->add_option("--width", options.width, "Columns; the terminal's if not given, at least 60");
    show_command->add_flag("--all", options.all, "A line for every bucket, however many");
    show_command->add_flag("--ascii", options.ascii, "No other characters than ASCII");
    show_command->add_flag("--json", options.json, "Effective profile, phases and buckets as JSON");
    CLI::App* const check_command = app.add_subcommand("check", "Find every mistake in profiles");
    check_command->add_option("file", options.files, "Paths or names of profiles")->required();
    check_command
        ->add_option("--ranks", options.ranks,
                     "Also whether so many ranks, each on a host of its own, can run them")
        ->check(CLI::Range(1, 1'000'000));
    CLI::App* const diff_command = app.add_subcommand("diff", "Say in what two profiles differ");
    diff_command->add_option("a", options.profile, "Name or path")->required();
    diff_command->add_option("b", options.other, "Name or path")->required();
    return {{list_command, list}, {show_command, show}, {check_command, check}, {diff_command, diff}};
}

int run(int argument_count, char** arguments) {
    CLI::App app{description};
    app.name("gradburst-profile");
    app.footer(examples);
    app.set_version_flag("--version", "gradburst-profile " GRADBURST_VERSION " (" GRADBURST_BUILD_TYPE ")");
    app.require_subcommand(1);
    Options options;
    const auto commands = add_commands(app, options);
    FieldOptions fields(*app.get_subcommand("show"));
    fields.text("--line-rate RATE", "/network/line_rate", "Rate of the links, which scales the bytes");
    add_traffic_options(fields);
    if (const auto text = parse_or_show(app, argument_count, arguments)) {
        collectors::print_safely("{}", *text);
        return 0;
    }
    options.overrides = fields.overrides();
    for (const auto& [command, execute] : commands)
        if (command->parsed())
            return execute(options);
    return 0;
}

} // namespace

int main(int argument_count, char** arguments) {
    return tools::run_program("gradburst-profile", [&] { return run(argument_count, arguments); });
}
