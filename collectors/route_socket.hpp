#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <linux/netlink.h>

namespace collectors {

/// A socket to the kernel's tables of interfaces and queues (rtnetlink). It stays in the network namespace in
/// which it was opened, whatever its thread does later. The kernel answers under the RTNL lock, which others
/// may hold for hundreds of milliseconds: nothing that must be on time may wait for it.
class RouteSocket {
public:
    /// Throws std::system_error.
    RouteSocket();
    ~RouteSocket();
    RouteSocket(const RouteSocket&) = delete;
    RouteSocket& operator=(const RouteSocket&) = delete;

    /// Sends the request, whose sequence number it sets, and calls `take(const nlmsghdr&)` for each message
    /// of the answer. Returns 0, or an errno: EAGAIN when no answer came in time. Answers to older requests
    /// are dropped. Does not allocate.
    template <typename Take>
    int ask(nlmsghdr& request, Take take) noexcept {
        if (const int error = send(request); error != 0)
            return error;
        while (true) {
            std::size_t length = 0;
            if (const int error = receive(length); error != 0)
                return error;
            auto left = static_cast<std::uint32_t>(length);
            for (auto* message = reinterpret_cast<const nlmsghdr*>(answer_.data()); NLMSG_OK(message, left);
                 message = next(message, left)) {
                if (message->nlmsg_seq != request.nlmsg_seq)
                    continue;
                if (message->nlmsg_type == NLMSG_DONE)
                    return 0;
                if (message->nlmsg_type == NLMSG_ERROR)
                    return error_of(*message);
                take(*message);
                if ((message->nlmsg_flags & NLM_F_MULTI) == 0)
                    return 0;
            }
        }
    }

private:
    int send(nlmsghdr& request) noexcept;
    int receive(std::size_t& length) noexcept;
    static int error_of(const nlmsghdr& message) noexcept;
    static const nlmsghdr* next(const nlmsghdr* message, std::uint32_t& left) noexcept;

    int descriptor_ = -1;
    std::uint32_t sequence_ = 0;
    alignas(nlmsghdr) std::array<std::byte, 32768> answer_; ///< the kernel never sends more at once
};

} // namespace collectors
