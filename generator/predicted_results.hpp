#pragma once

#include "generator/prediction.hpp"
#include "generator/run_record.hpp"

#include <cstdint>
#include <optional>

namespace generator {

/// What the fluid model expects of the job alone, as if nothing else used the network; nullopt when the line
/// rate is not known or there is nobody to send to. Throws UserError where the model has its limits.
std::optional<Prediction> predicted_alone(const RunRecord& record, const Workload& workload,
                                          std::uint32_t iterations);

/// Puts the fluid model beside each measured number that it explains: those of an interface that other jobs
/// share, or background traffic, it does not.
void add_prediction(RunRecord& record, const Workload& workload);

} // namespace generator
