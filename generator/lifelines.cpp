#include "generator/lifelines.hpp"

#include "collectors/signals_blocked.hpp"

#include <asio/read.hpp>

#include <algorithm>
#include <array>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace generator {
namespace {

using namespace std::chrono_literals;

constexpr auto silence_after_end = 60s;     // for ranks whose peers are done
constexpr auto silence_after_failure = 10s; // for ranks that have yet to notice
constexpr auto look_around = 50ms;          // for a stop of this process

/// A host that vanishes closes nothing: noticed after half a minute.
void keep_alive(int descriptor) {
    for (const auto& [level, option, value] : {std::array{SOL_SOCKET, SO_KEEPALIVE, 1},
                                               {IPPROTO_TCP, TCP_KEEPIDLE, 10},
                                               {IPPROTO_TCP, TCP_KEEPINTVL, 5},
                                               {IPPROTO_TCP, TCP_KEEPCNT, 4}})
        ::setsockopt(descriptor, level, option, &value, sizeof value);
}

} // namespace

Peers Lifelines::peers(int rank, int world_size) {
    Peers peers;
    if (rank != 0)
        peers.outgoing.insert({0, 0});
    else
        for (int other = 1; other < world_size; ++other)
            peers.incoming.insert({other, 0});
    return peers;
}

Lifelines::~Lifelines() {
    context_.stop();
}

void Lifelines::start(Connections connections) {
    for (auto* sockets : {&connections.incoming, &connections.outgoing})
        for (auto& [place, socket] : *sockets)
            lines_.push_back({place.peer, std::move(socket)});
    for (Line& line : lines_) {
        keep_alive(line.socket.native_handle());
        read(line);
    }
    const collectors::SignalsBlocked blocked; // they are for the thread that brings the run to its end
    thread_ = std::jthread([this] { context_.run(); });
}

void Lifelines::read(Line& line) {
    asio::async_read(line.socket, asio::buffer(line.message),
                     [this, &line](std::error_code error, std::size_t) {
                         if (!error) {
                             hear(line);
                             read(line);
                             return;
                         }
                         const std::lock_guard lock(mutex_);
                         gone_.insert(line.peer);
                         changed_.notify_all();
                     });
}

void Lifelines::hear(const Line& line) {
    const auto word = static_cast<Word>(line.message[0]);
    if (word == Word::stop) {
        stop_.request(line.message[1]);
        spread_stop();
        return;
    }
    const std::lock_guard lock(mutex_);
    if (word == Word::over)
        over_ = true;
    else
        ends_[line.peer] = {word == Word::ended, Clock::now()};
    changed_.notify_all();
}

/// Whoever is gone does not hear it.
void Lifelines::send(Line& line, Word word, int value) {
    const Message message{static_cast<unsigned char>(word), static_cast<unsigned char>(value)};
    [[maybe_unused]] const ssize_t sent = ::send(line.socket.native_handle(), message.data(), message.size(),
                                                 MSG_DONTWAIT | MSG_NOSIGNAL); // 2 bytes: never blocks
}

void Lifelines::send_to_all(Word word, int value) {
    for (Line& line : lines_)
        send(line, word, value);
}

void Lifelines::spread_stop() {
    const std::lock_guard lock(mutex_);
    if (stop_.signal() == 0 || told_stop_)
        return;
    told_stop_ = true;
    send_to_all(Word::stop, stop_.signal());
}

bool Lifelines::all_ended(const std::vector<std::vector<int>>& jobs) const {
    const auto now = Clock::now();
    return std::all_of(jobs.begin(), jobs.end(), [&](const std::vector<int>& members) {
        auto give_up = Clock::time_point::max();
        bool missing = false;
        for (const int rank : members) {
            const auto end = ends_.find(rank);
            if (end != ends_.end())
                give_up = std::min(give_up, end->second.at + (end->second.complete ? silence_after_end
                                                                                   : silence_after_failure));
            else
                missing = missing || !gone_.contains(rank);
        }
        return !missing || now >= give_up;
    });
}

std::set<int> Lifelines::wait_for_all(bool complete, const std::vector<std::vector<int>>& jobs,
                                      std::chrono::nanoseconds stop_limit) {
    spread_stop();
    std::unique_lock lock(mutex_);
    ends_[rank_] = {complete, Clock::now()};
    if (rank_ != 0)
        send_to_all(complete ? Word::ended : Word::failed, 0);
    while (!(rank_ == 0 ? all_ended(jobs) : over_ || gone_.contains(0)) && !stop_.requested_for(stop_limit)) {
        changed_.wait_for(lock, look_around);
        lock.unlock();
        spread_stop();
        lock.lock();
    }
    if (rank_ == 0)
        send_to_all(Word::over, 0);
    std::set<int> silent = gone_;
    for (const std::vector<int>& members : jobs)
        for (const int rank : members)
            if (!ends_.contains(rank))
                silent.insert(rank);
    ends_.clear(); // whoever goes on does so after all have agreed on it
    over_ = false;
    return silent;
}

} // namespace generator
