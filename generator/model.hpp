#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace generator {

enum class ElementType { fp32, fp16, bf16 }; ///< of one gradient element on the wire

std::uint64_t element_bytes(ElementType type);

/// A parameter's gradient.
struct Tensor {
    std::string name;
    std::uint64_t elements = 0;
    std::uint32_t ready_order = 0; ///< 0: the first gradient that backward produces
    /// Fraction of the backward pass elapsed when the gradient is ready, by what limits the device.
    double ready_arithmetic = 1;
    double ready_fp32 = 1;
    double ready_tensor = 1;

    bool operator==(const Tensor&) const = default;
};

/// A part of the model that sharded training wraps as one: a decoder layer, say. It owns the next `tensors`
/// tensors in registration order.
struct ModelUnit {
    std::string name;
    std::size_t tensors = 0;

    bool operator==(const ModelUnit&) const = default;
};

/// A model's parameters in registration order, and its batch-norm buffers.
struct Model {
    std::string name;
    std::vector<Tensor> tensors;
    std::vector<ModelUnit> units; ///< all tensors, in order; empty when the file names none
    std::uint64_t buffer_fp32_elements = 0;
    std::uint64_t buffer_int64_elements = 0;

    std::uint64_t elements() const;
    bool operator==(const Model&) const = default;
};

/// Parses a tensor list (format "gradburst-model/1", see profiles/README.md). Throws std::invalid_argument
/// with the JSON path and the reason, also when the totals or the units in the file do not match the tensors.
Model parse_model(std::string_view json_text);

} // namespace generator
