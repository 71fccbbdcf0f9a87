#include "generator/collective_text.hpp"

#include "generator/profile_sections.hpp"

#include <fmt/format.h>

namespace generator {
namespace {

std::string algorithm_text(const CollectiveSettings& collective) {
    if (collective.algorithm != Algorithm::server)
        return std::string(choice_name(algorithm_names, collective.algorithm));
    return fmt::format("server on rank {}, {}", collective.server_rank,
                       collective.service == Service::incast ? "all workers at once (incast)"
                                                             : "one worker after another");
}

/// What there is more than one of.
std::string parallel_text(const CollectiveSettings& collective) {
    std::string text;
    if (collective.channels > 1)
        text += fmt::format(", {} channels", collective.channels);
    if (collective.sockets_per_channel > 1)
        text += fmt::format(", {} sockets each", collective.sockets_per_channel);
    if (collective.in_flight > 1)
        text += fmt::format(", {} of a group in flight", collective.in_flight);
    return text;
}

} // namespace

std::string collective_text(const CollectiveSettings& collective) {
    return fmt::format("{}, segments of at most {}{}", algorithm_text(collective),
                       collectors::format_bytes(static_cast<double>(collective.segment_bytes)),
                       parallel_text(collective));
}

} // namespace generator
