#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include <linux/netlink.h>

namespace collectors {

constexpr std::size_t attribute_header_bytes = sizeof(nlattr);
constexpr std::size_t attribute_alignment = 4;

/// Walks the attributes of an rtnetlink message: `take(type, content)` for each that is whole.
template <typename Take>
void each_attribute(std::span<const std::byte> attributes, Take take) {
    while (attributes.size() >= attribute_header_bytes) {
        nlattr header{};
        std::memcpy(&header, attributes.data(), sizeof header);
        if (header.nla_len < attribute_header_bytes || header.nla_len > attributes.size())
            return;
        take(header.nla_type & NLA_TYPE_MASK,
             attributes.subspan(attribute_header_bytes, header.nla_len - attribute_header_bytes));
        const std::size_t step =
            (header.nla_len + attribute_alignment - 1) / attribute_alignment * attribute_alignment;
        attributes = attributes.subspan(std::min(step, attributes.size()));
    }
}

/// What follows the fixed part `Header` of a message; empty if the message is too short for it.
template <typename Header>
std::span<const std::byte> attributes_of(const nlmsghdr& message) {
    constexpr std::size_t offset = NLMSG_HDRLEN + NLMSG_ALIGN(sizeof(Header));
    if (message.nlmsg_len < offset)
        return {};
    return {reinterpret_cast<const std::byte*>(&message) + offset, message.nlmsg_len - offset};
}

/// The structs of the kernel grow: what this kernel sent of it, the rest 0.
template <typename Struct>
Struct read_struct(std::span<const std::byte> content) {
    Struct value{};
    std::memcpy(&value, content.data(), std::min(sizeof value, content.size()));
    return value;
}

} // namespace collectors
