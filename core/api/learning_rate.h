// Learning-rate schedules (docs/models.md#schedules).
#pragma once

#include <cstdint>

#include "core/api/options.h"

namespace xlm {

/// The learning rate of `step`, counted from 1, in a run of `steps`. Warm-up multiplies it by min(1, step / W).
double learning_rate(const OptimizerOptions& options, std::int64_t step, std::int64_t steps);

}  // namespace xlm
