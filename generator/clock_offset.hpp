#pragma once

#include "generator/timeline.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

/// How the CLOCK_MONOTONIC of each host stands to that of rank 0's host. Pure.
namespace generator {

/// A question of rank 0 and a host's answer, with what the clocks showed.
struct ClockRoundTrip {
    std::int64_t sent_ns = 0;     ///< rank 0's clock
    std::int64_t remote_ns = 0;   ///< the host's clock, somewhere between the two others
    std::int64_t received_ns = 0; ///< rank 0's clock
};

/// What is to be added to a host's clock to get rank 0's; known to within `error` either way, for certain.
struct ClockOffset {
    std::int64_t at_ns = 0; ///< when, on the host's clock
    std::chrono::nanoseconds offset{0};
    std::chrono::nanoseconds error{0};

    bool operator==(const ClockOffset&) const = default;
};

/// From the quickest of the round trips: the host read its clock in the middle, give or take half of the
/// time that it took. nullopt for none.
std::optional<ClockOffset> clock_offset(std::span<const ClockRoundTrip> round_trips);

enum class ClockMethod {
    same_host,    ///< as rank 0's: offset 0, by construction
    data_network, ///< round trips between the addresses that carry the traffic
    mpi_network,  ///< round trips of MPI messages, where the data network leads no way from host to host
};

/// For run.json.
std::string_view method_text(ClockMethod method);

/// Parts per million by which the offset rises, hence rank 0's clock is faster.
struct ClockDrift {
    double ppm = 0;
    double error_ppm = 0;
};

/// One host's clock during a run.
struct ClockAlignment {
    ClockMethod method = ClockMethod::same_host;
    std::optional<ClockOffset> start; ///< before the traffic; empty: not measured
    std::optional<ClockOffset> end;   ///< after it

    /// At a moment of the host's clock: on the line through both, or what the one says that is there; 0 if
    /// there is none.
    std::chrono::nanoseconds offset_at(std::int64_t host_ns) const;
    /// nullopt unless both ends were measured.
    std::optional<ClockDrift> drift() const;

    bool operator==(const ClockAlignment&) const = default;
};

/// The timeline in nanoseconds after `origin_ns`, all of rank 0's clock.
Timeline aligned(Timeline timeline, const ClockAlignment& clock, std::int64_t origin_ns);

} // namespace generator
