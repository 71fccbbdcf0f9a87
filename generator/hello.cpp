#include "generator/hello.hpp"

#include <algorithm>
#include <cerrno>
#include <sys/random.h>
#include <system_error>

namespace generator {
namespace {

constexpr std::array<char, 8> magic{'g', 'b', 'u', 'r', 's', 't', '/', '1'};
constexpr std::size_t token_at = magic.size();
constexpr std::size_t rank_at = token_at + std::tuple_size_v<JobToken>;

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
    for (std::size_t i = 0; i < 4; ++i)
        bytes[rank_at + i] = static_cast<std::byte>(hello.rank >> (8 * i));
    return bytes;
}

std::optional<Hello> decode(const HelloBytes& bytes) {
    for (std::size_t i = 0; i < magic.size(); ++i)
        if (bytes[i] != static_cast<std::byte>(magic[i]))
            return std::nullopt;
    Hello hello;
    std::copy_n(bytes.begin() + token_at, hello.token.size(), hello.token.begin());
    for (std::size_t i = 0; i < 4; ++i)
        hello.rank |= std::to_integer<std::uint32_t>(bytes[rank_at + i]) << (8 * i);
    return hello;
}

} // namespace generator
