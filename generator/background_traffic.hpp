#pragma once

#include "generator/background_flows.hpp"
#include "generator/background_report.hpp"
#include "generator/transport.hpp"

#include <asio/awaitable.hpp>
#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <optional>
#include <thread>

namespace generator {

/// Connections of background flows have lanes from here on, beyond all of the collectives'.
constexpr std::uint32_t first_background_lane = 0x8000'0000;

/// Adds the connections that the flows of `rank` need.
void add_background_peers(Peers& peers, const std::vector<BackgroundFlow>& flows, int rank);

/// By lane.
std::map<std::uint32_t, SocketSettings> background_sockets(const std::vector<BackgroundEntry>& background,
                                                           const std::vector<BackgroundFlow>& flows);

/// The background flows of one rank, moved by a thread of their own: the collectives neither wait for them
/// nor fail with them. Each flow sends its messages one after another, each as soon as it is due and the one
/// before is sent (an open loop: what falls behind stays due, nothing is left out). A flow whose connection
/// is lost says so on standard error and in the report, and the others go on.
class BackgroundTraffic {
public:
    using Clock = std::chrono::steady_clock;

    /// `connections` are those of the flows alone; `endpoints` must outlive this object.
    BackgroundTraffic(const Profile& profile, int rank, Connections connections,
                      const std::vector<Endpoint>& endpoints);
    ~BackgroundTraffic();

    /// Returns at once; the first message is due at `start` or later.
    void start(Clock::time_point start);

    /// No flow sends any more; a message under way is cut. Returns at once.
    void stop_sending();

    /// After it, if need be: peers have time to read what was sent, and to end themselves, for at most
    /// `patience`, and as long as `go_on`, which is asked every few milliseconds.
    BackgroundReport end(std::chrono::nanoseconds patience, const std::function<bool()>& go_on);

private:
    struct Flow {
        BackgroundFlow of;
        FlowMessages messages;
        asio::ip::tcp::socket socket;
        asio::steady_timer timer;
        int peer;
        FlowEnd end;
    };

    void open(const BackgroundFlow& flow, Connections& connections);
    asio::awaitable<void> send(Flow& flow);
    asio::awaitable<void> receive(Flow& flow);
    asio::awaitable<bool> send_message(Flow& flow, std::uint64_t bytes);
    void lose(Flow& flow, std::string_view what);
    void note(Flow& flow, Clock::time_point moment) const;

    const Profile& profile_;
    int rank_;
    const std::vector<Endpoint>& endpoints_;
    std::size_t most_times_ = 0; ///< of each flow
    asio::io_context context_{1};
    std::list<Flow> outgoing_;
    std::list<Flow> incoming_;
    std::vector<std::byte> buffer_;
    Clock::time_point start_;
    std::optional<Clock::time_point> ended_; ///< when it stopped sending
    bool ending_ = false;                    ///< for the thread alone
    std::atomic<bool> idle_{false};
    std::jthread thread_;
};

} // namespace generator
