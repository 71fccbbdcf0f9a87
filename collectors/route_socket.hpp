#pragma once

#include "collectors/monotonic_clock.hpp"

#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <linux/netlink.h>

namespace collectors {

/// A socket to the kernel's tables of interfaces and queues (rtnetlink). It stays in the network namespace in
/// which it was opened, whatever its thread does later. The kernel answers under the RTNL lock, which others
/// may hold for hundreds of milliseconds, and takes it within send(2), where no time limit helps: nothing
/// that must be on time may ask.
class RouteSocket {
public:
    /// How long the kernel may take for an answer.
    static constexpr std::chrono::milliseconds longest_wait{500};

    /// Throws std::system_error.
    RouteSocket();
    /// Through a socket that is there, which it owns from now on: a test's, to its other end.
    explicit RouteSocket(int descriptor, std::chrono::milliseconds wait = longest_wait);
    ~RouteSocket();
    RouteSocket(const RouteSocket&) = delete;
    RouteSocket& operator=(const RouteSocket&) = delete;

    /// Sends the request, whose sequence number it sets, and calls `take(const nlmsghdr&)` for each message
    /// of the answer. Returns 0, or an errno: EAGAIN when it was not complete in time, ENOBUFS when a part of
    /// it was lost. Answers to older requests are dropped, however many. Does not allocate.
    template <typename Take>
    int ask(nlmsghdr& request, Take take) noexcept {
        if (const int error = send(request); error != 0)
            return error;
        const std::int64_t deadline = clock_ns() + wait_ns_;
        while (true) {
            std::size_t length = 0;
            if (const int error = receive(length); error != 0)
                return error;
            if (clock_ns() > deadline)
                return EAGAIN; // it speaks, but of something else
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

    /// `ask_once()`, which asks through this socket, and once more if that answer came too late or was lost:
    /// what is left of it is thrown away first.
    template <typename AskOnce>
    int twice(AskOnce ask_once) noexcept {
        const int error = ask_once();
        if (error != EAGAIN && error != ENOBUFS)
            return error;
        drain();
        return ask_once();
    }

private:
    void set_up(std::chrono::milliseconds wait);
    void drain() noexcept;
    int send(nlmsghdr& request) noexcept;
    int receive(std::size_t& length) noexcept;
    static int error_of(const nlmsghdr& message) noexcept;
    static const nlmsghdr* next(const nlmsghdr* message, std::uint32_t& left) noexcept;

    int descriptor_ = -1;
    std::int64_t wait_ns_ = 0;
    std::uint32_t sequence_ = 0;
    alignas(nlmsghdr) std::array<std::byte, 32768> answer_; ///< the kernel never sends more at once
};

} // namespace collectors
