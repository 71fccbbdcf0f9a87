#include "collectors/ebpf_programs.hpp"

#include <array>
#include <cerrno>
#include <system_error>

#include <bpf/bpf.h>
#include <linux/bpf.h>
#include <sys/mman.h>

namespace collectors {

namespace {

/// For tc: whoever comes next decides about the packet (TC_ACT_UNSPEC, TCX_NEXT).
constexpr std::int32_t go_on = -1;

FileDescriptor opened(int result, const char* attempt) {
    if (result < 0)
        throw std::system_error(errno, std::generic_category(), attempt);
    return FileDescriptor(result);
}

/// One element: only of such a map can a program know the address.
FileDescriptor create_map(std::uint32_t value_bytes) {
    bpf_map_create_opts options{};
    options.sz = sizeof options;
    options.map_flags = BPF_F_MMAPABLE;
    return opened(bpf_map_create(BPF_MAP_TYPE_ARRAY, "gradburst_bytes", sizeof(std::uint32_t), value_bytes, 1,
                                 &options),
                  "create an eBPF map");
}

} // namespace

EbpfPrograms::EbpfPrograms(std::int32_t uncounted_bytes)
    : map_(create_map(sizeof(Counters))), rx_(load("gradburst_rx", offsetof(Counters, rx), uncounted_bytes)),
      tx_(load("gradburst_tx", offsetof(Counters, tx), uncounted_bytes)) {
    void* const memory = ::mmap(nullptr, sizeof(Counters), PROT_READ, MAP_SHARED, map_.number(), 0);
    if (memory == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "map an eBPF map into memory");
    counters_ = static_cast<const Counters*>(memory);
}

EbpfPrograms::~EbpfPrograms() {
    ::munmap(const_cast<Counters*>(counters_), sizeof(Counters));
}

/// Seven instructions need no compiler for eBPF. CPUs add at the same time, so the addition is atomic.
FileDescriptor EbpfPrograms::load(const char* name, std::size_t counter, std::int32_t uncounted_bytes) const {
    const auto offset = static_cast<std::int32_t>(counter);
    const std::array<bpf_insn, 7> program{{
        // r0 = skb->len - uncounted_bytes
        {BPF_LDX | BPF_MEM | BPF_W, BPF_REG_0, BPF_REG_1, offsetof(__sk_buff, len), 0},
        {BPF_ALU64 | BPF_SUB | BPF_K, BPF_REG_0, 0, 0, uncounted_bytes},
        // r2 = address of the counter; takes two
        {BPF_LD | BPF_IMM | BPF_DW, BPF_REG_2, BPF_PSEUDO_MAP_VALUE, 0, map_.number()},
        {0, 0, 0, 0, offset},
        // *r2 += r0
        {BPF_STX | BPF_ATOMIC | BPF_DW, BPF_REG_2, BPF_REG_0, 0, BPF_ADD},
        // return go_on
        {BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, go_on},
        {BPF_JMP | BPF_EXIT, 0, 0, 0, 0},
    }};
    return opened(
        bpf_prog_load(BPF_PROG_TYPE_SCHED_CLS, name, "Apache-2.0", program.data(), program.size(), nullptr),
        "load an eBPF program");
}

} // namespace collectors
