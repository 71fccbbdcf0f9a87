#include "collectors/binary_record.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace collectors {

static_assert(std::endian::native == std::endian::little, "records are written as they lie in memory");

namespace {

void append(const BinaryRecord& record, std::vector<char>& bytes) {
    const std::size_t size = bytes.size();
    bytes.resize(size + sizeof record);
    std::memcpy(bytes.data() + size, &record, sizeof record);
}

} // namespace

void BinaryEncoder::add(const Sample& sample, std::vector<char>& bytes) {
    const BinaryRecord record{sample.t_ns, sample.rx_width_ns, sample.tx_width_ns, sample.rx_bytes,
                              sample.tx_bytes};
    if (record.is_marker()) {
        pending_flags_ |= sample.flags | SampleFlag::failed_reads;
        return;
    }
    const std::uint32_t flags = std::exchange(pending_flags_, 0) | sample.flags;
    if (flags != 0)
        append({sample.t_ns, BinaryRecord::marker_width, BinaryRecord::marker_width, flags, 0}, bytes);
    append(record, bytes);
}

std::optional<Sample> BinaryDecoder::add(const BinaryRecord& record) {
    if (record.is_marker()) {
        flags_ |= static_cast<std::uint32_t>(record.rx_bytes);
        return std::nullopt;
    }
    return Sample{record.t_ns,     record.rx_width_ns, record.tx_width_ns,
                  record.rx_bytes, record.tx_bytes,    std::exchange(flags_, 0)};
}

} // namespace collectors
