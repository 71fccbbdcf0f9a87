#pragma once

#include "collectors/summary.hpp"

#include <nlohmann/json_fwd.hpp>

namespace collectors {

/// One entry of `interfaces` in run.json and in `gradburst-collect report --json`. What is not known, or must
/// not be shown because it is not resolved, is null; never NaN.
nlohmann::ordered_json summary_json(const InterfaceSummary& summary, PredictedRatios predicted = {});

} // namespace collectors
