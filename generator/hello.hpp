#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace generator {

/// Random per job; whoever does not know it is no rank of this job. Never printed, never in a file.
using JobToken = std::array<std::byte, 16>;

/// A fresh token from the kernel (getrandom). Throws std::system_error.
JobToken random_token();

/// The first bytes on every data connection, sent by the rank that will send the payload.
struct Hello {
    JobToken token{};
    std::uint32_t rank = 0;
    std::uint32_t lane = 0; ///< which of the job's parallel connections between the two ranks, see `job_lane`

    bool operator==(const Hello&) const = default;
};

/// Wire form: magic "gburst/2" (8 bytes), token (16), rank (4, little endian), lane (4, little endian).
using HelloBytes = std::array<std::byte, 32>;

HelloBytes encode(const Hello& hello);
/// nullopt when the magic is wrong: not one of ours.
std::optional<Hello> decode(const HelloBytes& bytes);

/// The listener answers a good hello with this byte; only then does the payload begin.
constexpr std::byte hello_accepted{0x06};

} // namespace generator
