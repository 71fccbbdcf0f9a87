#pragma once

#include "generator/stop_request.hpp"
#include "generator/transport.hpp"

#include <asio/io_context.hpp>

#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

namespace generator {

/// A connection between rank 0 of a launch and each other rank while several jobs run: what cannot wait for
/// the end of them all. MPI is silent then, and does not tell whether a rank is alive. Idle but for a byte or
/// two when a job ends or a stop is passed on, which is done by a thread that sleeps otherwise.
class Lifelines {
public:
    /// Which connections `rank` of `world_size` needs.
    static Peers peers(int rank, int world_size);

    /// Takes what connect_peers opened on `context()`.
    Lifelines(int rank, StopRequest& stop) : rank_(rank), stop_(stop) {}
    ~Lifelines();
    asio::io_context& context() { return context_; }
    void start(Connections connections);

    /// Passes the stop on that this rank was asked for, if any.
    void spread_stop();

    /// This rank's job has ended, `complete` or not. Returns when that of every rank has: on rank 0 with the
    /// ranks that are gone or said nothing, on the others as soon as rank 0 says so, or is gone itself. A
    /// rank that says nothing is waited for as long as the others of its job run, and a while longer; after a
    /// stop only until `stop_limit` has passed since. `jobs`: the ranks of each.
    std::set<int> wait_for_all(bool complete, const std::vector<std::vector<int>>& jobs,
                               std::chrono::nanoseconds stop_limit);

private:
    using Clock = std::chrono::steady_clock;
    enum class Word : unsigned char { ended, failed, stop, over };
    using Message = std::array<unsigned char, 2>; ///< a word, and the signal of a stop

    struct Line {
        int peer;
        asio::ip::tcp::socket socket;
        Message message{};
    };
    struct End {
        bool complete = false;
        Clock::time_point at;
    };

    void read(Line& line);
    void hear(const Line& line);
    static void send(Line& line, Word word, int value = 0);
    void send_to_all(Word word, int value);
    bool all_ended(const std::vector<std::vector<int>>& jobs) const;

    int rank_;
    StopRequest& stop_;
    asio::io_context context_{1};
    std::list<Line> lines_; ///< on rank 0 of all others, else the one to rank 0
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    std::map<int, End> ends_;
    std::set<int> gone_;
    bool over_ = false;
    bool told_stop_ = false;
    std::jthread thread_;
};

} // namespace generator
