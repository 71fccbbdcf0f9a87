#include "generator/wire.hpp"

#include <asio/post.hpp>

#include <algorithm>
#include <cerrno>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/socket.h>
#include <system_error>

namespace generator {
namespace {

/// SO_RCVLOWAT: the kernel wakes the receiver once per so many bytes instead of once per packet, which halves
/// the CPU per byte; never more than what is left until the next hand-over, or the reader would sleep for
/// ever. Where nobody waits for a hand-over, 1 MiB costs a fifth less than 256 KiB.
constexpr std::uint64_t largest_low_water_mark = 1024 * 1024;
/// A stream whose socket never makes it wait lets the others move after so many system calls.
constexpr int moves_in_a_row = 4;

} // namespace

WirePlan::WirePlan(RankPlan rank_plan, std::uint64_t segment_bytes)
    : plan(std::move(rank_plan)), followed(plan.operations.size(), false) {
    for (std::uint32_t i = 0; i < plan.operations.size(); ++i) {
        const Operation& operation = plan.operations[i];
        (operation.is_send() ? sends : receives)[{operation.peer, operation.lane}].push_back(i);
        segments.push_back(segment_size(operation.range.bytes, segment_bytes));
        for (const std::uint32_t receive : operation.behind)
            followed[receive] = true;
    }
}

Wire::Wire(asio::io_context& context, Connections& connections, std::uint32_t first_lane, std::uint32_t lanes,
           Payload& payload, const std::vector<Endpoint>& endpoints)
    : context_(context), payload_(payload), endpoints_(endpoints) {
    const auto take = [&](std::map<PeerLane, asio::ip::tcp::socket>& from, std::vector<Stream>& to) {
        for (auto& [place, socket] : from) {
            if (place.lane < first_lane || place.lane >= first_lane + lanes)
                continue;
            socket.non_blocking(true);
            to.push_back(
                {.place = {place.peer, place.lane - first_lane}, .socket = &socket, .operations = {}});
        }
    };
    take(connections.outgoing, outgoing_);
    take(connections.incoming, incoming_);
    for (Stream& stream : incoming_) // a run before this one may have left another
        set_low_water_mark(stream, stream.low_water_mark);
}

bool Wire::start(const WirePlan& plan, std::uint32_t bucket, std::function<void()> done) {
    plan_ = &plan;
    bucket_ = bucket;
    done_ = std::move(done);
    progress_.assign(plan.plan.operations.size(), 0);
    open_operations_ = plan.plan.operations.size();
    const auto assign = [](std::vector<Stream>& streams, const auto& by_place) {
        for (Stream& stream : streams) {
            const auto found = by_place.find(stream.place);
            stream.operations = found == by_place.end() ? std::vector<std::uint32_t>{} : found->second;
            stream.next = 0;
        }
    };
    assign(outgoing_, plan.sends);
    assign(incoming_, plan.receives);
    for (Stream& stream : incoming_)
        if (stream.next < stream.operations.size() && released(stream.operations[0]) > 0)
            wait(stream, false);
    continue_all();
    if (open_operations_ > 0)
        return false;
    plan_ = nullptr;
    return true;
}

/// A socket or a turn that a stream waited for has come.
void Wire::resume() {
    continue_all();
    if (plan_ == nullptr || open_operations_ > 0)
        return;
    plan_ = nullptr;
    const std::function<void()> done = std::move(done_);
    done();
}

/// Moves every stream that does not wait for its socket, until none can: what one moves may release others,
/// also ones that had their turn before it.
void Wire::continue_all() {
    std::uint64_t before = 0;
    do {
        before = sent_bytes_ + received_bytes_;
        for (Stream& stream : outgoing_)
            pump(stream, true);
        for (Stream& stream : incoming_)
            pump(stream, false);
    } while (sent_bytes_ + received_bytes_ != before);
}

const Endpoint& Wire::peer(const Stream& stream) const {
    return endpoints_.at(static_cast<std::size_t>(stream.place.peer));
}

void Wire::pump(Stream& stream, bool sending) {
    if (stream.waiting)
        return;
    for (int moves = 0; stream.next < stream.operations.size(); ++moves) {
        if (moves == moves_in_a_row) {
            stream.waiting = true;
            asio::post(context_, [this, &stream] {
                stream.waiting = false;
                resume();
            });
            return;
        }
        if (!move_bytes(stream, sending))
            return;
    }
}

/// Bytes of an operation that may move now: all of it, or as much as the receives that it follows have handed
/// over.
std::uint64_t Wire::released(std::uint32_t operation) const {
    const Operation& waiting = plan_->plan.operations[operation];
    for (const std::uint32_t before : waiting.after)
        if (progress_[before] < plan_->plan.operations[before].range.bytes)
            return 0;
    std::uint64_t bytes = waiting.range.bytes;
    for (const std::uint32_t receive : waiting.behind) {
        const std::uint64_t done = progress_[receive];
        const std::uint64_t segment = plan_->segments[receive];
        const bool whole = done == plan_->plan.operations[receive].range.bytes;
        bytes = std::min(bytes, whole ? done : done / segment * segment);
    }
    return bytes;
}

/// One system call on the operation in progress. False when the stream has to wait: for the socket (then it
/// is armed) or for another operation (then that one's progress will pump it).
bool Wire::move_bytes(Stream& stream, bool sending) {
    const std::uint32_t index = stream.operations[stream.next];
    const Operation& operation = plan_->plan.operations[index];
    const std::uint64_t done = progress_[index];
    const std::uint64_t most = released(index) - done;
    if (most == 0)
        return false;
    const int descriptor = stream.socket->native_handle();
    std::uint64_t asked = most;
    std::ptrdiff_t moved = 0;
    if (sending) {
        const std::span<const std::byte> bytes = payload_.outgoing(bucket_, operation, done, most);
        asked = bytes.size();
        moved = ::send(descriptor, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    } else {
        moved = payload_.receive(descriptor, bucket_, operation, done, most);
    }
    if (moved < 0 && errno != EAGAIN && errno != EINTR) {
        const std::system_error failure(errno, std::generic_category(),
                                        fmt::format("{} {}, {} of {} bytes done",
                                                    sending ? "send to" : "receive from", peer(stream).text(),
                                                    done, operation.range.bytes));
        if (sending)
            hear(stream); // why the peer closed the connection
        if (failure.code() == std::errc::connection_reset || failure.code() == std::errc::broken_pipe)
            throw PeerLeft(stream.place.peer, failure.what());
        throw failure;
    }
    if (moved == 0)
        throw PeerLeft(stream.place.peer, fmt::format("{} closed the connection after {} of {} bytes",
                                                      peer(stream).text(), done, operation.range.bytes));
    if (moved > 0)
        advance(stream, sending, static_cast<std::uint64_t>(moved));
    // A short receive has emptied the socket, a short send has filled it.
    if (moved < 0 || static_cast<std::uint64_t>(moved) < asked) {
        if (stream.next < stream.operations.size())
            wait(stream, sending);
        return false;
    }
    return true;
}

void Wire::advance(Stream& stream, bool sending, std::uint64_t bytes) {
    const std::uint32_t index = stream.operations[stream.next];
    (sending ? sent_bytes_ : received_bytes_) += bytes;
    progress_[index] += bytes;
    if (progress_[index] == plan_->plan.operations[index].range.bytes) {
        ++stream.next;
        --open_operations_;
    }
}

void Wire::wait(Stream& stream, bool sending) {
    if (stream.waiting)
        return;
    stream.waiting = true;
    if (!sending)
        choose_low_water_mark(stream);
    const auto ready = [this, &stream, sending](std::error_code error) {
        stream.waiting = false;
        if (error)
            throw std::system_error(error, "wait for " + peer(stream).text());
        pump(stream, sending); // first: what came may release the others
        resume();
    };
    stream.socket->async_wait(sending ? asio::ip::tcp::socket::wait_write : asio::ip::tcp::socket::wait_read,
                              ready);
}

void Wire::choose_low_water_mark(Stream& stream) {
    const std::uint32_t index = stream.operations[stream.next];
    const std::uint64_t left = plan_->plan.operations[index].range.bytes - progress_[index];
    const std::uint64_t segment = plan_->segments[index];
    const std::uint64_t useful =
        plan_->followed[index] ? std::min(left, segment - progress_[index] % segment) : left;
    const auto mark = static_cast<int>(std::min(useful, largest_low_water_mark));
    if (mark != stream.low_water_mark)
        set_low_water_mark(stream, mark);
}

void Wire::set_low_water_mark(Stream& stream, int mark) {
    if (setsockopt(stream.socket->native_handle(), SOL_SOCKET, SO_RCVLOWAT, &mark, sizeof mark) != 0)
        throw std::system_error(errno, std::generic_category(), "set SO_RCVLOWAT");
    stream.low_water_mark = mark;
}

std::string Wire::unfinished() const {
    std::string text;
    if (plan_ == nullptr)
        return text;
    for (const auto* streams : {&outgoing_, &incoming_})
        for (const Stream& stream : *streams) {
            if (stream.next >= stream.operations.size())
                continue;
            const std::uint32_t index = stream.operations[stream.next];
            text += fmt::format("{}{} {}: {} of {} bytes of transfer {} of {}", text.empty() ? "" : "; ",
                                streams == &outgoing_ ? "to" : "from", peer(stream).text(), progress_[index],
                                plan_->plan.operations[index].range.bytes, stream.next + 1,
                                stream.operations.size());
        }
    return text;
}

void Wire::listen() {
    for (const Stream& stream : outgoing_)
        listen(stream);
}

void Wire::listen(const Stream& stream) {
    stream.socket->async_wait(asio::ip::tcp::socket::wait_read, [this, &stream](std::error_code error) {
        if (error)
            return;
        hear(stream);
        listen(stream);
    });
}

void Wire::hear() {
    for (const Stream& stream : outgoing_)
        hear(stream);
}

void Wire::hear(const Stream& stream) {
    unsigned char signal = 0;
    const ssize_t received = ::recv(stream.socket->native_handle(), &signal, 1, MSG_DONTWAIT);
    if (received == 1)
        throw Stopped(signal);
    if (received == 0 || (errno != EAGAIN && errno != EINTR))
        throw PeerLeft(stream.place.peer, peer(stream).text() + " closed the connection");
}

void Wire::pass_on(const Stopped& stopped) {
    const auto signal = static_cast<unsigned char>(stopped.signal());
    for (const Stream& stream : incoming_)
        ::send(stream.socket->native_handle(), &signal, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
}

} // namespace generator
