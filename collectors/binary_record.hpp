#pragma once

#include "collectors/trace.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace collectors {

/// A binary trace is nothing but these records, little-endian, 32 bytes each: what is at the end of the file
/// beyond a whole record was cut off. An ordinary sample is one record. A sample with flags has a record
/// before it whose widths are both `marker_width`: t_ns is the sample's, rx_bytes holds the flags, tx_bytes
/// is 0.
struct BinaryRecord {
    std::int64_t t_ns = 0;
    std::uint32_t rx_width_ns = 0;
    std::uint32_t tx_width_ns = 0;
    std::uint64_t rx_bytes = 0;
    std::uint64_t tx_bytes = 0;

    static constexpr std::uint32_t marker_width = 0xffff'ffff;
    bool is_marker() const { return rx_width_ns == marker_width && tx_width_ns == marker_width; }
};
static_assert(sizeof(BinaryRecord) == 32);

/// Appends the one or two records of a sample to `bytes`. A sample whose reads both took 4.3 s, which no
/// record can tell from a marker, is left out as a failed read; its flags go to the next one.
class BinaryEncoder {
public:
    void add(const Sample& sample, std::vector<char>& bytes);

private:
    std::uint32_t pending_flags_ = 0;
};

/// The way back.
class BinaryDecoder {
public:
    /// The sample that the record completes; none after a marker.
    std::optional<Sample> add(const BinaryRecord& record);

private:
    std::uint32_t flags_ = 0;
};

} // namespace collectors
