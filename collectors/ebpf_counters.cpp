#include "collectors/ebpf_counters.hpp"

#include "collectors/device_counters.hpp"
#include "collectors/ebpf_programs.hpp"
#include "collectors/interface_ioctl.hpp"
#include "collectors/interface_watch.hpp"
#include "collectors/monotonic_clock.hpp"
#include "collectors/queue_statistics.hpp"
#include "collectors/tc_attachment.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <linux/capability.h>
#include <linux/if_ether.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace collectors {

namespace {

/// Counters in memory do not fail when their interface is gone, so it is asked for.
constexpr std::int64_t look_every_ns = 10'000'000;

/// Of those that it takes. CAP_SYS_ADMIN stands in for both.
std::vector<std::string_view> missing_capabilities() {
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    std::array<__user_cap_data_struct, _LINUX_CAPABILITY_U32S_3> sets{};
    if (::syscall(SYS_capget, &header, sets.data()) != 0)
        return {};
    const auto has = [&](unsigned capability) {
        return (sets[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability)) != 0;
    };
    std::vector<std::string_view> missing;
    if (!has(CAP_BPF) && !has(CAP_SYS_ADMIN))
        missing.push_back("CAP_BPF");
    if (!has(CAP_NET_ADMIN))
        missing.push_back("CAP_NET_ADMIN");
    return missing;
}

/// What to do about an error.
std::string advice(int error) {
    if (error == EPERM || error == EACCES) {
        const std::vector<std::string_view> missing = missing_capabilities();
        if (!missing.empty())
            return fmt::format(
                "; it takes CAP_BPF and CAP_NET_ADMIN, {} missing: run as root, or give them to "
                "this program with setcap cap_bpf,cap_net_admin+ep",
                missing.size() == 2 ? "both are" : std::string(missing.front()) + " is");
        return "; CAP_BPF and CAP_NET_ADMIN are there, but in a user namespace (a container without root, "
               "unshare -r) or under a security policy that does not let them count: run as the host's root";
    }
    if (error == EEXIST || error == EINVAL)
        return "; an ingress qdisc, or a filter of another kind with preference 1, is in the way: see "
               "`tc qdisc show` and `tc filter show dev NAME ingress` (and egress)";
    if (error == ENOSYS)
        return "; this kernel has no eBPF";
    return "";
}

/// TCX where there is one; GRADBURST_EBPF_HOOK=clsact is for those who want to see the programs in `tc
/// filter`.
std::unique_ptr<TcAttachment> attach(const EbpfPrograms& programs, unsigned index) {
    const char* const asked = std::getenv("GRADBURST_EBPF_HOOK");
    const std::string_view hook = asked != nullptr ? asked : "";
    if (!hook.empty() && hook != "clsact")
        throw std::invalid_argument(
            fmt::format("GRADBURST_EBPF_HOOK: '{}' is not clsact; unset it, and the kernel decides", hook));
    std::unique_ptr<TcAttachment> attachment;
    if (hook.empty())
        attachment = attach_tcx_links(programs, index);
    return attachment ? std::move(attachment) : attach_tc_filters(programs, index);
}

class EbpfCounters final : public DeviceCounters {
public:
    explicit EbpfCounters(std::string interface)
        : interface_(std::move(interface)), watch_(interface_),
          is_loopback_(ask_about(interface_).driver == "loopback"), programs_(is_loopback_ ? ETH_HLEN : 0),
          attachment_(attach(programs_, watched_index())) {}

    std::string name() const override { return "ebpf"; }
    std::string interface_name() const override { return watch_.name().data(); }

    std::string byte_unit() const override {
        return fmt::format(
            "{}; a super-packet of GSO or GRO counts one header, also where the device splits it "
            "and counts more",
            is_loopback_ ? "skb->len less 14: device bytes without a link layer header"
                         : "skb->len: bytes with the Ethernet header, without FCS and without a "
                           "VLAN tag that the device adds (about 4.4 % below the wire at MTU 1500)");
    }

    std::string side() const override {
        return fmt::format(
            "tx_bytes: what entered this interface's queue ({}), before it and a shaper there, "
            "with what the queue then drops; rx_bytes: what the driver handed up, after the "
            "queues of the sender and of switches; counted at tc by {}; neither sees what XDP, or "
            "a packet socket that bypasses the queue, takes or sends",
            queue_kind(interface_), attachment_->name());
    }

protected:
    int open() noexcept override {
        return watch_.follow(interface_) ? attachment_->attach(watch_.index()) : ENODEV;
    }
    int read_rx(std::uint64_t& bytes) noexcept override {
        bytes = programs_.bytes(Direction::rx);
        return 0;
    }
    int read_tx(std::uint64_t& bytes) noexcept override {
        bytes = programs_.bytes(Direction::tx);
        const std::int64_t now = clock_ns();
        if (now < next_look_ns_)
            return 0;
        next_look_ns_ = now + look_every_ns;
        return watch_.name().front() != '\0' ? 0 : ENODEV;
    }

private:
    unsigned watched_index() const {
        if (watch_.index() == 0)
            throw std::system_error(ENODEV, std::generic_category(), "find interface " + interface_);
        return watch_.index();
    }

    std::string interface_;
    InterfaceWatch watch_;
    bool is_loopback_;
    EbpfPrograms programs_;
    std::unique_ptr<TcAttachment> attachment_; ///< of programs_
    std::int64_t next_look_ns_ = 0;
};

} // namespace

std::unique_ptr<CounterSource> open_ebpf_counters(const std::string& interface) {
    try {
        return std::make_unique<EbpfCounters>(interface);
    } catch (const std::system_error& error) {
        throw std::runtime_error(error.what() + advice(error.code().value()));
    }
}

} // namespace collectors
