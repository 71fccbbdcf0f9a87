#include "collectors/printable.hpp"
#include "generator/job.hpp"

#include <cstdlib>
#include <fmt/format.h>
#include <unistd.h>

namespace {

using namespace generator;

/// Before MPI is up, the launcher's environment tells which of the ranks may speak.
bool speaks() {
    for (const char* variable : {"OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID"})
        if (const char* const rank = std::getenv(variable))
            return std::atoi(rank) == 0;
    return true;
}

std::string profile_list() {
    std::string text;
    for (const ProfileListing& each : list_profiles(profile_folders()))
        text += fmt::format("{:<16} {}\n{:<16} {}\n", each.name, each.description, "", each.path.string());
    return text.empty() ? "no profiles found; set GRADBURST_PROFILES to their folder\n" : text;
}

int run(int argument_count, char** arguments) {
    const CommandLine command = parse_command_line(argument_count, arguments);
    if (command.action != CommandLine::Action::run) {
        if (speaks())
            collectors::print_safely(
                "{}", command.action == CommandLine::Action::list_profiles ? profile_list() : command.text);
        return success;
    }
    StopRequest stop;
    MpiSession session(argument_count, arguments);
    stop.hold();
    try {
        return run_job(command, session, stop);
    } catch (const JointFailure& failure) {
        if (session.rank() == 0 && speaks()) // alone, each of several ranks takes itself for rank 0
            collectors::print_safely(stderr, "gradburst: {}\n", failure.what());
        if (failure.exit_code() == interrupted)
            session.abandon(
                interrupted); // mpirun is busy with stopping us, and MPI_Finalize would wait for it
        return failure.exit_code();
    } catch (const std::exception& failure) { // on this rank alone: the others cannot know
        collectors::print_safely(stderr, "gradburst: rank {}: {}\n", session.rank(), failure.what());
        session.abandon(our_failure);
    }
}

} // namespace

int main(int argument_count, char** arguments) {
    try {
        return run(argument_count, arguments);
    } catch (const std::exception& failure) {
        if (speaks())
            collectors::print_safely(stderr, "gradburst: {}\n", failure.what());
        return dynamic_cast<const UserError*>(&failure) != nullptr ? user_mistake : our_failure;
    }
}
