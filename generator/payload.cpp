#include "generator/payload.hpp"

#include <algorithm>
#include <sys/socket.h>
#include <vector>

namespace generator {
namespace {

constexpr std::size_t largest_receive = 4 * 1024 * 1024;

class DiscardedPayload : public Payload {
public:
    void prepare(std::uint32_t, const IterationSchedule&) override {}

    std::span<const std::byte> outgoing(std::uint32_t, const Operation&, std::uint64_t,
                                        std::uint64_t most) override {
        return std::span(buffer_).first(
            static_cast<std::size_t>(std::min<std::uint64_t>(most, buffer_.size())));
    }

    std::ptrdiff_t receive(int descriptor, std::uint32_t, const Operation&, std::uint64_t,
                           std::uint64_t most) override {
        return discard_bytes(descriptor, most);
    }

    std::uint64_t check(std::uint32_t) override { return 0; }

private:
    std::vector<std::byte> buffer_ = std::vector<std::byte>(hot_buffer_bytes, std::byte{0x55});
};

} // namespace

std::ptrdiff_t discard_bytes(int descriptor, std::uint64_t most) {
    const auto length = static_cast<std::size_t>(std::min<std::uint64_t>(most, largest_receive));
    return ::recv(descriptor, nullptr, length, MSG_TRUNC | MSG_DONTWAIT);
}

std::unique_ptr<Payload> discarded_payload() {
    return std::make_unique<DiscardedPayload>();
}

} // namespace generator
