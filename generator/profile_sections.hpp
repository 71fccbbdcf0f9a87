#pragma once

#include "generator/profile.hpp"

#include <array>
#include <string_view>

namespace generator {

class ObjectReader;

// Names of the choices, in the order of their enumerators.
constexpr std::array<std::string_view, 3> element_type_names{"fp32", "fp16", "bf16"};
constexpr std::array<std::string_view, 4> ready_curve_names{"arithmetic", "fp32", "tensor", "uniform"};
constexpr std::array<std::string_view, 4> bucketing_names{"single", "ddp", "per_tensor", "explicit"};
constexpr std::array<std::string_view, 2> algorithm_names{"ring", "server"};
constexpr std::array<std::string_view, 2> service_names{"sequenced", "incast"};

template <typename Choice, std::size_t size>
constexpr std::string_view choice_name(const std::array<std::string_view, size>& names, Choice choice) {
    return names[static_cast<std::size_t>(choice)];
}

/// Each reads one section of a profile, checks what concerns that section alone and fills its part of
/// `profile`.
void read_compute(ObjectReader section, Profile& profile);
GradientSettings read_gradients(ObjectReader section);
CollectiveSettings read_collective(ObjectReader section);
NetworkSettings read_network(ObjectReader section);
ScaleSettings read_scale(ObjectReader section);
RunSettings read_run(ObjectReader section);
SamplingSettings read_sampling(ObjectReader section);

} // namespace generator
