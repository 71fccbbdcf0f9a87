#include "collectors/route_socket.hpp"

#include "collectors/queue_lane.hpp"
#include "collectors/queue_statistics.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include <linux/gen_stats.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "catch.hpp"
#include "temporary_folder.hpp"

using namespace collectors;
using namespace std::chrono_literals;

namespace {

constexpr unsigned our_index = 7;

/// The kernel's end of a socket: answers each request as the function says, on a thread of its own.
class FakeKernel {
public:
    using Answer = std::function<void(const FakeKernel&, std::uint32_t sequence, int request)>;

    explicit FakeKernel(Answer answer) : answer_(std::move(answer)) {
        REQUIRE(::socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends_.data()) == 0);
        thread_ = std::jthread([this](const std::stop_token& stop) { serve(stop); });
    }
    ~FakeKernel() {
        thread_.request_stop();
        thread_.join();
        ::close(ends_[0]);
    }

    /// Whoever asks owns it.
    int other_end() const { return ends_[1]; }
    int requests() const { return requests_; }

    void say(std::uint32_t sequence, std::uint16_t type, std::uint16_t flags, std::uint32_t drops = 0) const {
        struct {
            nlmsghdr header;
            tcmsg queue;
            nlattr statistics;
            nlattr inner;
            gnet_stats_queue counts;
        } message{};
        message.header.nlmsg_len = type == NLMSG_DONE ? NLMSG_LENGTH(4) : sizeof message;
        message.header.nlmsg_type = type;
        message.header.nlmsg_flags = flags;
        message.header.nlmsg_seq = sequence;
        message.queue.tcm_ifindex = our_index;
        message.queue.tcm_parent = TC_H_ROOT;
        message.inner = {sizeof message.inner + sizeof message.counts, TCA_STATS_QUEUE};
        message.statistics = {static_cast<std::uint16_t>(sizeof message.statistics + message.inner.nla_len),
                              TCA_STATS2};
        message.counts.drops = drops;
        ::send(ends_[0], &message, message.header.nlmsg_len, MSG_NOSIGNAL);
    }
    /// A whole answer to a dump of queues.
    void tell(std::uint32_t sequence, std::uint32_t drops) const {
        say(sequence, RTM_NEWQDISC, NLM_F_MULTI, drops);
        say(sequence, NLMSG_DONE, NLM_F_MULTI);
    }

private:
    void serve(const std::stop_token& stop) {
        while (!stop.stop_requested()) {
            pollfd ready{ends_[0], POLLIN, 0};
            if (::poll(&ready, 1, 10) <= 0)
                continue;
            alignas(nlmsghdr) std::array<std::byte, 1024> request{};
            if (::recv(ends_[0], request.data(), request.size(), 0) <= 0)
                return;
            answer_(*this, reinterpret_cast<const nlmsghdr*>(request.data())->nlmsg_seq, ++requests_);
        }
    }

    Answer answer_;
    std::array<int, 2> ends_{};
    std::atomic<int> requests_{0};
    std::jthread thread_;
};

struct Read {
    int error = 0;
    std::optional<QueueStatistics> queue;
    int requests = 0;
    std::chrono::nanoseconds took{0};
};

Read read_queue(FakeKernel::Answer answer) {
    const FakeKernel kernel(std::move(answer));
    QueueReader reader({"none7"}, {our_index}, kernel.other_end(), 100ms);
    std::array<std::optional<QueueStatistics>, 1> queues;
    const auto begin = std::chrono::steady_clock::now();
    Read read;
    read.error = reader.read(queues);
    read.took = std::chrono::steady_clock::now() - begin;
    read.queue = queues[0];
    read.requests = kernel.requests();
    return read;
}

} // namespace

TEST_CASE("a queue's answer is what the kernel says to this request", "[route]") {
    const Read read = read_queue([](const FakeKernel& kernel, std::uint32_t sequence, int) {
        kernel.tell(sequence - 1, 4); // of an older request
        kernel.tell(sequence, 5);
        kernel.tell(sequence, 6); // nobody waits for it
    });
    CHECK(read.error == 0);
    REQUIRE(read.queue);
    CHECK(read.queue->drops == 5);
    CHECK(read.requests == 1);
}

TEST_CASE("without an answer it asks once more, and then it is an error", "[route]") {
    const Read silent = read_queue([](const FakeKernel&, std::uint32_t, int) {});
    CHECK(silent.error == EAGAIN);
    CHECK_FALSE(silent.queue);
    CHECK(silent.requests == 2);
    CHECK(silent.took >= 190ms);
    CHECK(silent.took < 5s);

    const Read late = read_queue([](const FakeKernel& kernel, std::uint32_t sequence, int request) {
        if (request == 2) {
            kernel.tell(sequence - 1, 1); // the first, at last
            kernel.tell(sequence, 2);
        }
    });
    CHECK(late.error == 0);
    REQUIRE(late.queue);
    CHECK(late.queue->drops == 2);

    const Read half = read_queue([](const FakeKernel& kernel, std::uint32_t sequence, int) {
        kernel.say(sequence, RTM_NEWQDISC, NLM_F_MULTI); // and never its end
    });
    CHECK(half.error == EAGAIN);
    CHECK(half.requests == 2);
}

TEST_CASE("a socket that speaks of something else all the time does not hold the reader", "[route]") {
    const Read chatter = read_queue([](const FakeKernel& kernel, std::uint32_t sequence, int request) {
        if (request == 1)
            for (int i = 0; i < 80; ++i, std::this_thread::sleep_for(5ms))
                kernel.say(sequence + 1000, RTM_NEWQDISC, 0);
        else
            kernel.tell(sequence, 3);
    });
    CHECK(chatter.took < 5s);
    CHECK((chatter.error == 0 || chatter.error == EAGAIN)); // the second request waits in the same row
    CHECK(chatter.requests >= 1);
}

TEST_CASE("after ENOBUFS what is left is thrown away, and it asks once more", "[route]") {
    RouteSocket real;
    CHECK(real.twice([] { return 0; }) == 0);
    int asked = 0;
    CHECK(real.twice([&] { return ++asked == 1 ? ENOBUFS : 0; }) == 0);
    CHECK(asked == 2);
    CHECK(real.twice([&] { return ++asked == 3 ? ENOBUFS : EAGAIN; }) == EAGAIN); // never a third time
    CHECK(asked == 4);
    CHECK(real.twice([&] { return ++asked, ENODEV; }) == ENODEV); // an answer
    CHECK(asked == 5);
}

TEST_CASE("a lane without answers is given up, and its files say so", "[route]") {
    const tests::TemporaryFolder folder;
    const FakeKernel kernel([](const FakeKernel& self, std::uint32_t sequence, int request) {
        if (request <= 2) // the start of the lane, and its first reading
            self.tell(sequence, 1);
    });
    const std::unique_ptr<Lane> lane = start_queue_lane(
        std::make_unique<QueueReader>(std::vector<std::string>{"none7"}, std::vector<unsigned>{our_index},
                                      kernel.other_end(), 20ms),
        {folder / "trace.queue.csv"}, 1ms, false);
    // Three readings, each asked twice.
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (kernel.requests() < 8 && std::chrono::steady_clock::now() < deadline)
        std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(100ms); // time for a ninth
    const LaneFileReport report = lane->stop().files.at(0);
    CHECK(kernel.requests() == 8);
    CHECK(report.samples == 1);
    CHECK(report.failed == 3);
    CHECK_THAT(report.gave_up, Catch::StartsWith("no answer to 3 readings in a row"));
    const LaneNotes notes = read_lane_notes(folder / "trace.queue.csv");
    CHECK(notes.gave_up == report.gave_up);
    CHECK(notes.failed == 3);
}
