#pragma once

#include "generator/plan.hpp"
#include "generator/profile.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace generator {

/// One bucket of the workload, before any iteration is timed.
struct WorkloadBucket {
    Collective collective = Collective::all_reduce;
    std::uint64_t bytes = 0;
    std::size_t tensors = 0;     ///< how many gradients are fused in it; 0 for buffers and explicit buckets
    double ready_fraction = 1;   ///< of backward, when its last gradient is ready
    bool before_forward = false; ///< batch-norm buffers: due when the iteration starts
    nanoseconds ready_after{0};  ///< explicit buckets: from the start of the iteration
};

/// What a profile moves in each iteration.
struct Workload {
    std::vector<WorkloadBucket> first_iteration;
    std::vector<WorkloadBucket> later_iterations;
    std::uint64_t element_bytes = 4; ///< collectives split buckets between elements
    Algorithm algorithm = Algorithm::ring;
    Service service = Service::sequenced;

    CollectiveCall call(Collective collective, std::uint64_t bytes) const {
        return {collective, bytes, element_bytes, algorithm, service};
    }
    const std::vector<WorkloadBucket>& buckets(std::uint32_t iteration) const {
        return iteration == 0 ? first_iteration : later_iterations;
    }
};

/// Tensors to buckets, by the profile's policy:
///   single      one bucket with everything
///   per_tensor  one bucket per gradient, in gradient-ready order
///   ddp         PyTorch DistributedDataParallel (reducer source): walk the gradients in ready order, close a
///   bucket
///               when its size reaches the cap, first cap 1 MiB, then 25 MiB; the first iteration sends the
///               whole model
///   explicit    as given
/// `byte_scale` multiplies all sizes; a scaled bucket keeps at least one element and whole elements.
Workload make_workload(const Profile& profile, double byte_scale);

/// Bytes multiplied by `scale`, rounded to whole elements, at least one element unless `bytes` is 0.
std::uint64_t scale_bytes(std::uint64_t bytes, double scale, std::uint64_t element_bytes);

/// scale.bytes x line rate / scale.reference_rate. 1 for the second factor when either rate is not known.
double byte_scale(const ScaleSettings& scale, std::optional<BitRate> line_rate);

} // namespace generator
