#pragma once

#include "generator/profile.hpp"

#include <array>
#include <string_view>

namespace generator {

class ObjectReader;
struct Origin;

// Names of the choices, in the order of their enumerators.
constexpr std::array<std::string_view, 3> element_type_names{"fp32", "fp16", "bf16"};
constexpr std::array<std::string_view, 4> ready_curve_names{"arithmetic", "fp32", "tensor", "uniform"};
constexpr std::array<std::string_view, 6> bucketing_names{"single",   "ddp",     "per_tensor",
                                                          "explicit", "horovod", "partitioned"};
constexpr std::array<std::string_view, 3> sharding_names{"none", "zero1", "fsdp"};
constexpr std::array<std::string_view, 6> collective_names{"all_reduce", "reduce_scatter", "all_gather",
                                                           "broadcast",  "all_to_all",     "send"};
constexpr std::array<std::string_view, 6> algorithm_names{
    "ring", "server", "sharded_server", "halving_doubling", "double_binary_tree", "hierarchical"};
constexpr std::array<std::string_view, 2> service_names{"sequenced", "incast"};

constexpr std::array<std::string_view, 3> background_pattern_names{"constant", "poisson", "incast"};

template <typename Choice, std::size_t size>
constexpr std::string_view choice_name(const std::array<std::string_view, size>& names, Choice choice) {
    return names[static_cast<std::size_t>(choice)];
}

/// Each reads one section of a profile, checks what concerns that section alone and fills its part of
/// `profile`.
void read_compute(ObjectReader section, Profile& profile);
void read_variation(ObjectReader& compute, Profile& profile); ///< jitter, input stalls, stragglers
std::vector<Group> read_groups(ObjectReader section);
GradientSettings read_gradients(ObjectReader section, const std::vector<Group>& groups);
/// A group's buckets are carried one after another, in list order, so no rank may launch one before that in
/// front of it; the receiver of a send launches it where it needs it.
void check_launch_order(const Profile& profile, const Origin& origin);
CollectiveSettings read_collective(ObjectReader section);
NetworkSettings read_network(ObjectReader section);
SocketSettings read_sockets(ObjectReader& section); ///< of the job's connections or of background flows
std::vector<BackgroundEntry> read_background(std::vector<ObjectReader> sections, const ProfileSource& source);
ScaleSettings read_scale(ObjectReader section);
RunSettings read_run(ObjectReader section);
SamplingSettings read_sampling(ObjectReader section);

} // namespace generator
