#include "collectors/tc_attachment.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include <bpf/bpf.h>

namespace collectors {

namespace {

// Younger than the headers of Debian 12.
constexpr auto tcx_ingress = static_cast<bpf_attach_type>(46);
constexpr auto tcx_egress = static_cast<bpf_attach_type>(47);
constexpr unsigned before_all = 1U << 3; // BPF_F_BEFORE

FileDescriptor link(int program, unsigned index, bpf_attach_type hook) noexcept {
    bpf_link_create_opts options{};
    options.sz = sizeof options;
    options.flags = before_all;
    return FileDescriptor(bpf_link_create(program, static_cast<int>(index), hook, &options));
}

class TcxLinks final : public TcAttachment {
public:
    explicit TcxLinks(const EbpfPrograms& programs) : programs_(programs) {}

    int attach(unsigned index) noexcept override {
        rx_ = FileDescriptor();
        tx_ = FileDescriptor();
        rx_ = link(programs_.program(Direction::rx), index, tcx_ingress);
        if (!rx_.is_open())
            return errno;
        tx_ = link(programs_.program(Direction::tx), index, tcx_egress);
        return tx_.is_open() ? 0 : errno;
    }
    std::string name() const override { return "TCX"; }

private:
    const EbpfPrograms& programs_;
    FileDescriptor rx_;
    FileDescriptor tx_;
};

} // namespace

std::unique_ptr<TcAttachment> attach_tcx_links(const EbpfPrograms& programs, unsigned index) {
    auto links = std::make_unique<TcxLinks>(programs);
    const int error = links->attach(index);
    if (error == EINVAL) // an unknown kind of link
        return nullptr;
    if (error != 0)
        throw std::system_error(error, std::generic_category(), "attach eBPF programs by TCX");
    return links;
}

} // namespace collectors
