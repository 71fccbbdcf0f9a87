#include "generator/control_plane.hpp"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fmt/format.h>
#include <limits>
#include <thread>
#include <unistd.h>

namespace generator {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

enum Tag { ping_tag = 1, decision_tag, stop_tag, result_size_tag, result_tag, exit_tag };

constexpr int clock_round_trips_each = 16;
constexpr auto poll_interval = 1ms; // instead of waiting inside MPI, which spins

int checked_length(std::size_t bytes) {
    if (bytes > static_cast<std::size_t>(std::numeric_limits<int>::max()))
        throw std::runtime_error(fmt::format("a control message of {} bytes is too long", bytes));
    return static_cast<int>(bytes);
}

std::int64_t now_ns() {
    return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
}

/// Polls until the request is complete; false when patience ends.
bool complete(MPI_Request& request, const ControlPlane::Patience& patience) {
    for (;;) {
        int done = 0;
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (done != 0)
            return true;
        if (!patience())
            return false;
        std::this_thread::sleep_for(poll_interval);
    }
}

} // namespace

MpiSession::MpiSession(int& argument_count, char**& arguments) {
    int provided = 0;
    MPI_Init_thread(&argument_count, &arguments, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &world_size_);
}

MpiSession::~MpiSession() {
    MPI_Finalize();
}

std::string MpiSession::library_version() {
    std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
    int length = 0;
    MPI_Get_library_version(text.data(), &length);
    const std::string version(text.data());
    return version.substr(0, version.find(','));
}

void MpiSession::abandon(int exit_code) {
    std::fflush(nullptr);
    ::_exit(exit_code);
}

struct ControlPlane::Communicator {
    MPI_Comm handle = MPI_COMM_NULL; ///< never freed: that is collective, and a rank may be gone
};

ControlPlane::ControlPlane(const MpiSession& session, StopRequest& stop)
    : stop_(&stop), communicator_(std::make_unique<Communicator>(Communicator{MPI_COMM_WORLD})),
      rank_(session.rank()), world_size_(session.world_size()) {}

ControlPlane::ControlPlane(StopRequest& stop) : stop_(&stop) {}

ControlPlane::ControlPlane(ControlPlane&&) noexcept = default;
ControlPlane::~ControlPlane() = default;

ControlPlane ControlPlane::part(int number, int place) const {
    ControlPlane part(*stop_);
    part.communicator_ = std::make_unique<Communicator>();
    MPI_Comm_split(communicator_->handle, number, place, &part.communicator_->handle);
    MPI_Comm_rank(part.communicator_->handle, &part.rank_);
    MPI_Comm_size(part.communicator_->handle, &part.world_size_);
    return part;
}

std::string ControlPlane::broadcast(const std::string& from_rank_0) {
    std::string text = rank() == 0 ? from_rank_0 : std::string();
    auto length = static_cast<std::uint64_t>(text.size());
    MPI_Bcast(&length, 1, MPI_UINT64_T, 0, communicator_->handle);
    text.resize(length);
    MPI_Bcast(text.data(), checked_length(length), MPI_CHAR, 0, communicator_->handle);
    return text;
}

std::vector<std::string> ControlPlane::all_gather(const std::string& from_this_rank) {
    const auto ranks = static_cast<std::size_t>(world_size());
    const int length = checked_length(from_this_rank.size());
    std::vector<int> lengths(ranks);
    MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, communicator_->handle);
    std::vector<int> offsets(ranks);
    std::size_t total = 0;
    for (std::size_t i = 0; i < ranks; ++i) {
        offsets[i] = checked_length(total);
        total += static_cast<std::size_t>(lengths[i]);
    }
    std::string all(total, '\0');
    MPI_Allgatherv(from_this_rank.data(), length, MPI_CHAR, all.data(), lengths.data(), offsets.data(),
                   MPI_CHAR, communicator_->handle);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < ranks; ++i)
        texts.push_back(
            all.substr(static_cast<std::size_t>(offsets[i]), static_cast<std::size_t>(lengths[i])));
    return texts;
}

void ControlPlane::throw_if_any_failed(std::string own_failure) {
    wait_for_all();
    if (own_failure.empty() && stop_->signal() != 0)
        own_failure = describe(Stopped(stop_->signal()));
    int exit_code = success;
    std::vector<std::string> messages;
    for (const std::string& failure : all_gather(own_failure)) {
        if (failure.empty())
            continue;
        const std::size_t space = failure.find(' ');
        const int code = std::atoi(failure.c_str());
        if (exit_code == success || code == interrupted)
            exit_code = code;
        const std::string message = failure.substr(space + 1);
        if (std::find(messages.begin(), messages.end(), message) == messages.end())
            messages.push_back(message);
    }
    if (!messages.empty())
        throw JointFailure(exit_code, fmt::format("{}", fmt::join(messages, "\n")));
}

std::vector<ClockRoundTrip> ControlPlane::clock_round_trips(int peer) {
    std::vector<ClockRoundTrip> trips;
    for (int i = 0; i < clock_round_trips_each && (rank() == 0 || rank() == peer); ++i) {
        ClockRoundTrip trip;
        if (rank() == 0) {
            trip.sent_ns = now_ns();
            MPI_Send(nullptr, 0, MPI_INT64_T, peer, ping_tag, communicator_->handle);
            MPI_Recv(&trip.remote_ns, 1, MPI_INT64_T, peer, ping_tag, communicator_->handle,
                     MPI_STATUS_IGNORE);
            trip.received_ns = now_ns();
            trips.push_back(trip);
        } else {
            MPI_Recv(nullptr, 0, MPI_INT64_T, 0, ping_tag, communicator_->handle, MPI_STATUS_IGNORE);
            trip.remote_ns = now_ns();
            MPI_Send(&trip.remote_ns, 1, MPI_INT64_T, 0, ping_tag, communicator_->handle);
        }
    }
    return trips;
}

Clock::time_point ControlPlane::agree_on_start(const std::vector<ClockAlignment>& clocks,
                                               std::optional<Clock::time_point> of_rank_0,
                                               std::chrono::nanoseconds delay) {
    MPI_Barrier(communicator_->handle);
    const std::int64_t start = of_rank_0 ? std::chrono::nanoseconds(of_rank_0->time_since_epoch()).count()
                                         : now_ns() + delay.count();
    std::vector<std::int64_t> starts; // on each rank's clock
    if (rank() == 0)
        for (const ClockAlignment& clock : clocks)
            starts.push_back(start - (clock.start ? clock.start->offset.count() : 0));
    std::int64_t own = 0;
    MPI_Scatter(starts.data(), 1, MPI_INT64_T, &own, 1, MPI_INT64_T, 0, communicator_->handle);
    return Clock::time_point(std::chrono::nanoseconds(own));
}

bool ControlPlane::decide_iteration(std::uint32_t iteration, bool go_on_after) {
    if (rank() == 0) {
        const bool decision = go_on_ || iteration == 0;
        go_on_ = go_on_after;
        int message = go_on_ ? 1 : 0;
        if (decision)
            for (int peer = 1; peer < world_size(); ++peer)
                MPI_Send(&message, 1, MPI_INT, peer, decision_tag,
                         communicator_->handle); // 4 bytes: never blocks
        return decision;
    }
    if (iteration == 0)
        return true; // rank 0 starts it without asking
    int message = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&message, 1, MPI_INT, 0, decision_tag, communicator_->handle, &request);
    complete(request, [] { return true; }); // it was sent an iteration ago
    return message == 1;
}

/// Without spinning, and with an ear for a stop: some rank may take its time.
void ControlPlane::wait_for_all() {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(communicator_->handle, &request);
    complete(request, [this] {
        spread_stop();
        return true;
    });
}

void ControlPlane::spread_stop() {
    int waiting = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, stop_tag, communicator_->handle, &waiting, &status);
    if (waiting != 0) {
        int signal = 0;
        MPI_Recv(&signal, 1, MPI_INT, status.MPI_SOURCE, stop_tag, communicator_->handle, MPI_STATUS_IGNORE);
        stop_->request(signal);
    }
    if (stop_->signal() == 0 || told_stop_ != 0)
        return;
    told_stop_ = stop_->signal();
    const int first = rank() == 0 ? 1 : 0;
    const int last = rank() == 0 ? world_size() - 1 : 0;
    for (int peer = first; peer <= last; ++peer) {
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Isend(&told_stop_, 1, MPI_INT, peer, stop_tag, communicator_->handle, &request);
        MPI_Request_free(&request); // told_stop_ stays as it is
    }
}

std::vector<std::optional<std::string>> ControlPlane::collect(const std::string& from_this_rank,
                                                              const Patience& patience,
                                                              const std::set<int>& gone) {
    if (rank() != 0) {
        auto length = static_cast<std::uint64_t>(from_this_rank.size());
        std::array<MPI_Request, 2> requests{};
        MPI_Isend(&length, 1, MPI_UINT64_T, 0, result_size_tag, communicator_->handle, &requests[0]);
        MPI_Isend(from_this_rank.data(), checked_length(from_this_rank.size()), MPI_CHAR, 0, result_tag,
                  communicator_->handle, &requests[1]);
        for (MPI_Request& request : requests)
            complete(request, patience);
        return {};
    }
    std::vector<std::optional<std::string>> results(static_cast<std::size_t>(world_size()));
    results[0] = from_this_rank;
    std::size_t missing = results.size() - 1 - gone.size();
    while (missing > 0 && patience()) {
        int waiting = 0;
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, result_size_tag, communicator_->handle, &waiting, &status);
        if (waiting == 0) {
            std::this_thread::sleep_for(poll_interval);
            continue;
        }
        const int peer = status.MPI_SOURCE;
        std::uint64_t length = 0;
        MPI_Recv(&length, 1, MPI_UINT64_T, peer, result_size_tag, communicator_->handle, MPI_STATUS_IGNORE);
        std::string text(length, '\0');
        MPI_Request request = MPI_REQUEST_NULL;
        MPI_Irecv(text.data(), checked_length(length), MPI_CHAR, peer, result_tag, communicator_->handle,
                  &request);
        if (!complete(request, patience)) {
            MPI_Cancel(&request);
            break;
        }
        results[static_cast<std::size_t>(peer)] = std::move(text);
        missing -= gone.contains(peer) ? 0u : 1u; // not gone after all
    }
    return results;
}

std::optional<int> ControlPlane::agree_on_exit(int exit_code_of_rank_0, const Patience& patience) {
    if (rank() == 0) {
        for (int peer = 1; peer < world_size(); ++peer)
            MPI_Send(&exit_code_of_rank_0, 1, MPI_INT, peer, exit_tag, communicator_->handle);
        return exit_code_of_rank_0;
    }
    int exit_code = success;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Irecv(&exit_code, 1, MPI_INT, 0, exit_tag, communicator_->handle, &request);
    if (complete(request, patience))
        return exit_code;
    return std::nullopt;
}

std::string describe(const std::exception& failure) {
    const int exit_code = dynamic_cast<const UserError*>(&failure) != nullptr ? user_mistake
                          : dynamic_cast<const Stopped*>(&failure) != nullptr ? interrupted
                                                                              : our_failure;
    return fmt::format("{} {}", exit_code, failure.what());
}

} // namespace generator
