#pragma once

#include "generator/profile.hpp"
#include "tools/iteration_view.hpp"

#include <string>
#include <vector>

namespace tools {

/// A field of the effective profile in which two profiles differ; values as text with their unit, "-" where a
/// profile does not have the field.
struct FieldDifference {
    std::string pointer; ///< without the unit that the key may carry: "/compute/backward"
    std::string left;
    std::string right;

    bool operator==(const FieldDifference&) const = default;
};

/// In the order of the pointers.
std::vector<FieldDifference> field_differences(const generator::Profile& left,
                                               const generator::Profile& right);

/// Both profiles side by side: the fields that differ, then number, bytes and times of the buckets of
/// iteration 1 of rank 0 without jitter.
std::string difference_text(const generator::Profile& left, const generator::Profile& right);

} // namespace tools
