#include "collectors/route_socket.hpp"
#include "collectors/tc_attachment.hpp"

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <system_error>
#include <utility>

#include <bpf/libbpf.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace collectors {

namespace {

constexpr std::uint32_t preference = 1;       // the first to see a packet
constexpr std::uint32_t most_collectors = 16; // at one interface

// A handle: whose it is, which collector, and whether a collector made the qdisc, for those who come after
// it.
constexpr std::uint32_t our_handles = 0x67620000;
constexpr std::uint32_t made_qdisc = 0x100;

constexpr auto both = static_cast<bpf_tc_attach_point>(BPF_TC_INGRESS | BPF_TC_EGRESS);

bpf_tc_hook hook_of(unsigned index, bpf_tc_attach_point point) {
    bpf_tc_hook hook{};
    hook.sz = sizeof hook;
    hook.ifindex = static_cast<int>(index);
    hook.attach_point = point;
    return hook;
}

bpf_tc_opts filter_of(std::uint32_t handle) {
    bpf_tc_opts filter{};
    filter.sz = sizeof filter;
    filter.handle = handle;
    filter.priority = preference;
    return filter;
}

/// Filters of an interface's clsact qdisc.
struct Filters {
    unsigned count = 0;
    bool made_qdisc = false; ///< by a collector, running or killed
};

int count_filters(RouteSocket& socket, unsigned index, std::uint32_t parent, Filters& filters) noexcept {
    struct {
        nlmsghdr header;
        tcmsg filter;
    } request{};
    request.header.nlmsg_len = sizeof request;
    request.header.nlmsg_type = RTM_GETTFILTER;
    request.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    request.filter.tcm_family = AF_UNSPEC;
    request.filter.tcm_ifindex = static_cast<int>(index);
    request.filter.tcm_parent = TC_H_MAKE(TC_H_CLSACT, parent);
    return socket.ask(request.header, [&](const nlmsghdr& message) {
        if (message.nlmsg_type != RTM_NEWTFILTER || message.nlmsg_len < NLMSG_LENGTH(sizeof(tcmsg)))
            return;
        const auto* filter = static_cast<const tcmsg*>(NLMSG_DATA(&message));
        if (filter->tcm_handle != 0) // 0: the preference that holds the filters
            ++filters.count;
        if ((filter->tcm_handle & ~(most_collectors - 1)) == (our_handles | made_qdisc))
            filters.made_qdisc = true;
    });
}

/// When nobody knows, there are some.
Filters count_filters(RouteSocket& socket, unsigned index) noexcept {
    Filters filters;
    if (count_filters(socket, index, TC_H_MIN_INGRESS, filters) != 0 ||
        count_filters(socket, index, TC_H_MIN_EGRESS, filters) != 0)
        return {1, false};
    return filters;
}

/// An abstract name, known in this network namespace until its owner ends, in whatever way. Not open if
/// somebody has it.
FileDescriptor claim(unsigned index, std::uint32_t number) noexcept {
    sockaddr_un name{};
    name.sun_family = AF_UNIX;
    const int length = std::snprintf(name.sun_path + 1, sizeof name.sun_path - 1,
                                     "gradburst-collect ebpf %u %u", index, number);
    const auto size =
        static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + static_cast<unsigned>(length));
    FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    return ::bind(socket.number(), reinterpret_cast<const sockaddr*>(&name), size) == 0 ? std::move(socket)
                                                                                        : FileDescriptor();
}

class TcFilters final : public TcAttachment {
public:
    explicit TcFilters(const EbpfPrograms& programs) : programs_(programs) {}
    ~TcFilters() override { detach(); }
    TcFilters(const TcFilters&) = delete;
    TcFilters& operator=(const TcFilters&) = delete;

    int attach(unsigned index) noexcept override {
        detach();
        std::uint32_t number = 0;
        for (claim_ = claim(index, number); !claim_.is_open(); claim_ = claim(index, number))
            if (++number == most_collectors)
                return EBUSY;
        const bool made_before = count_filters(socket_, index).made_qdisc;
        bpf_tc_hook hook = hook_of(index, both);
        const int created = bpf_tc_hook_create(&hook);
        if (created != 0 && created != -EEXIST)
            return -created;
        index_ = index;
        handle_ = our_handles | number;
        remove_filters(); // of one who was killed
        if (created == 0 || made_before)
            handle_ |= made_qdisc;
        int error = add(Direction::rx, BPF_TC_INGRESS);
        if (error == 0)
            error = add(Direction::tx, BPF_TC_EGRESS);
        if (error != 0)
            detach();
        return error;
    }
    std::string name() const override { return "filters of clsact"; }

private:
    int add(Direction direction, bpf_tc_attach_point point) noexcept {
        const bpf_tc_hook hook = hook_of(index_, point);
        bpf_tc_opts filter = filter_of(handle_);
        filter.prog_fd = programs_.program(direction);
        return -bpf_tc_attach(&hook, &filter);
    }

    void remove_filters() noexcept {
        for (const bpf_tc_attach_point point : {BPF_TC_INGRESS, BPF_TC_EGRESS})
            for (const std::uint32_t handle : {handle_ & ~made_qdisc, handle_ | made_qdisc}) {
                const bpf_tc_hook hook = hook_of(index_, point);
                const bpf_tc_opts filter = filter_of(handle);
                bpf_tc_detach(&hook, &filter);
            }
    }

    void detach() noexcept {
        if (index_ == 0)
            return;
        remove_filters();
        bpf_tc_hook hook = hook_of(index_, both);
        if ((handle_ & made_qdisc) != 0 && count_filters(socket_, index_).count == 0)
            bpf_tc_hook_destroy(&hook);
        index_ = 0;
        claim_ = FileDescriptor();
    }

    const EbpfPrograms& programs_;
    RouteSocket socket_;
    FileDescriptor claim_; ///< of the number in handle_
    std::uint32_t handle_ = 0;
    unsigned index_ = 0; ///< 0: not attached
};

} // namespace

std::unique_ptr<TcAttachment> attach_tc_filters(const EbpfPrograms& programs, unsigned index) {
    libbpf_set_print(nullptr); // it would print that there is a clsact qdisc already
    auto filters = std::make_unique<TcFilters>(programs);
    if (const int error = filters->attach(index); error != 0)
        throw std::system_error(error, std::generic_category(), "attach eBPF programs as tc filters");
    return filters;
}

} // namespace collectors
