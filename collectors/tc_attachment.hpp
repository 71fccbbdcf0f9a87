#pragma once

#include "collectors/ebpf_programs.hpp"

#include <memory>
#include <string>

namespace collectors {

/// Programs at the two hooks of traffic control: ingress, after the driver, and egress, before the queue.
/// They come before all other programs there, which go on as before. All of it happens in the network
/// namespace of the calling thread.
class TcAttachment {
public:
    virtual ~TcAttachment() = default;
    /// To interface `index`, and away from the one before. 0, or an errno.
    virtual int attach(unsigned index) noexcept = 0;
    /// For the sidecar: what it is called.
    virtual std::string name() const = 0;
};

/// By TCX links (Linux 6.6), which the kernel removes when the process ends, in whatever way; nullptr if this
/// kernel has none. Throws std::system_error if the interface cannot have them.
std::unique_ptr<TcAttachment> attach_tcx_links(const EbpfPrograms& programs, unsigned index);

/// By filters of a clsact qdisc, which is created if there is none and removed if nobody else uses it. If the
/// process is killed they stay, without a harm, until the next one replaces them. Each process has filters of
/// its own. Throws std::system_error if that is not possible: EEXIST or EINVAL if somebody has an ingress
/// qdisc, or another kind of filter of our preference.
std::unique_ptr<TcAttachment> attach_tc_filters(const EbpfPrograms& programs, unsigned index);

} // namespace collectors
