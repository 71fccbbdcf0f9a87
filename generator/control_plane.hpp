#pragma once

#include "generator/clock_offset.hpp"
#include "generator/failure.hpp"
#include "generator/stop_request.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace generator {

/// MPI, from MPI_Init to MPI_Finalize. The only place that knows mpi.h is control_plane.cpp.
class MpiSession {
public:
    MpiSession(int& argument_count, char**& arguments);
    /// MPI_Finalize, unless `abandon` was called.
    ~MpiSession();
    MpiSession(const MpiSession&) = delete;
    MpiSession& operator=(const MpiSession&) = delete;

    int rank() const { return rank_; }
    int world_size() const { return world_size_; }
    static std::string library_version(); ///< "Open MPI v4.1.4"

    /// Ends this process now with `exit_code`, without MPI_Finalize, which would wait for ranks that are
    /// gone.
    [[noreturn]] void abandon(int exit_code);

private:
    int rank_ = 0;
    int world_size_ = 1;
};

/// A step that some rank could not take; the same on all ranks.
class JointFailure : public std::runtime_error {
public:
    JointFailure(int exit_code, const std::string& message)
        : std::runtime_error(message), exit_code_(exit_code) {}
    int exit_code() const { return exit_code_; }

private:
    int exit_code_;
};

/// What the ranks say to each other beside the payload: agreement before the traffic, results after it.
/// Silent in between, but for one message per iteration when the run is limited by time.
class ControlPlane {
public:
    /// Of all ranks.
    ControlPlane(const MpiSession& session, StopRequest& stop);
    ControlPlane(ControlPlane&&) noexcept;
    ~ControlPlane();

    /// Of the ranks that give the same number, ordered by `place`: a job of several. All call it.
    ControlPlane part(int number, int place) const;

    int rank() const { return rank_; }
    int world_size() const { return world_size_; }

    std::string broadcast(const std::string& from_rank_0);
    std::vector<std::string> all_gather(const std::string& from_this_rank);

    /// Runs `step` on every rank and returns its result; if it throws on any, throws JointFailure on all,
    /// with the message of each rank that failed. Thus no rank waits for one that gave up. A rank that was
    /// asked to stop has failed, too.
    template <class Step>
    auto together(Step step);

    /// Rank 0 asks rank `peer` for its clock, some times. To be called by all; others than these two do
    /// nothing, and only rank 0 gets an answer.
    std::vector<ClockRoundTrip> clock_round_trips(int peer);

    /// A moment that is the same on all hosts, on this host's clock: what rank 0 gives on its own, or `delay`
    /// from now. Rank 0 knows the clock of each rank.
    std::chrono::steady_clock::time_point
    agree_on_start(const std::vector<ClockAlignment>& clocks,
                   std::optional<std::chrono::steady_clock::time_point> of_rank_0,
                   std::chrono::nanoseconds delay);

    /// Rank 0 decides during iteration i whether there will be an iteration i+1 and says so to all; they hear
    /// it before they start it. Call on every rank, before each iteration, with rank 0's wish; returns the
    /// decision.
    bool decide_iteration(std::uint32_t iteration, bool go_on_after);

    /// Before the traffic, whose connections pass a stop on: a rank that was asked to stop tells rank 0,
    /// which tells all; whoever hears it is asked to stop as well. To be called every now and then; does not
    /// wait.
    void spread_stop();

    /// Asked while waiting for others; false: they will not come any more.
    using Patience = std::function<bool()>;

    /// Results to rank 0 (which gets one per rank, empty for a rank that did not answer) without spinning. It
    /// does not wait for those that it knows to be gone.
    std::vector<std::optional<std::string>> collect(const std::string& from_this_rank,
                                                    const Patience& patience, const std::set<int>& gone = {});

    /// Rank 0 tells the exit code when it has reported; the others wait for it, without spinning. nullopt: no
    /// answer.
    std::optional<int> agree_on_exit(int exit_code_of_rank_0, const Patience& patience);

private:
    struct Communicator; // of MPI

    explicit ControlPlane(StopRequest& stop);
    void throw_if_any_failed(std::string own_failure);
    void wait_for_all();

    StopRequest* stop_;
    std::unique_ptr<Communicator> communicator_;
    int rank_ = 0;
    int world_size_ = 1;
    int told_stop_ = 0; ///< the signal of which the others were told
    bool go_on_ = true; ///< rank 0's decision about the iteration after the running one
};

/// "2 no interface eth9 on ..." : exit code and message.
std::string describe(const std::exception& failure);

template <class Step>
auto ControlPlane::together(Step step) {
    std::string failure;
    if constexpr (std::is_void_v<decltype(step())>) {
        try {
            step();
        } catch (const std::exception& error) {
            failure = describe(error);
        }
        throw_if_any_failed(failure);
    } else {
        std::optional<decltype(step())> result;
        try {
            result.emplace(step());
        } catch (const std::exception& error) {
            failure = describe(error);
        }
        throw_if_any_failed(failure);
        return std::move(*result);
    }
}

} // namespace generator
