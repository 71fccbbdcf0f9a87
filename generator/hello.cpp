#include "generator/hello.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/random.h>
#include <system_error>

namespace generator {
namespace {

constexpr std::array<char, 8> magic{'g', 'b', 'u', 'r', 's', 't', '/', '2'};
constexpr std::size_t token_at = magic.size();
constexpr std::size_t rank_at = token_at + std::tuple_size_v<JobToken>;
constexpr std::size_t lane_at = rank_at + 4;

void put(HelloBytes& bytes, std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; ++i)
        bytes[at + i] = static_cast<std::byte>(value >> (8 * i));
}

std::uint32_t take(const HelloBytes& bytes, std::size_t at) {
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < 4; ++i)
        value |= std::to_integer<std::uint32_t>(bytes[at + i]) << (8 * i);
    return value;
}

} // namespace

JobToken random_token() {
    JobToken token{};
    if (getrandom(token.data(), token.size(), 0) != static_cast<ssize_t>(token.size()))
        throw std::system_error(errno, std::generic_category(), "draw the job's random token (getrandom)");
    return token;
}

HelloBytes encode(const Hello& hello) {
    HelloBytes bytes{};
    std::transform(magic.begin(), magic.end(), bytes.begin(),
                   [](char c) { return static_cast<std::byte>(c); });
    std::copy(hello.token.begin(), hello.token.end(), bytes.begin() + token_at);
    put(bytes, rank_at, hello.rank);
    put(bytes, lane_at, hello.lane);
    return bytes;
}

std::optional<Hello> decode(const HelloBytes& bytes) {
    for (std::size_t i = 0; i < magic.size(); ++i)
        if (bytes[i] != static_cast<std::byte>(magic[i]))
            return std::nullopt;
    Hello hello;
    std::copy_n(bytes.begin() + token_at, hello.token.size(), hello.token.begin());
    hello.rank = take(bytes, rank_at);
    hello.lane = take(bytes, lane_at);
    return hello;
}

} // namespace generator
