// Learning-rate schedules (docs/models.md#schedules).
#pragma once

#include <cstdint>

#include "core/api/options.h"

namespace xlm {

/// The learning rate of `step`, counted from 1, in a run of `steps`. Warm-up multiplies it by min(1, step / W). If the
/// length of training is a budget, `steps` is no whole number (TrainingBudget::steps).
double learning_rate(const OptimizerOptions& options, std::int64_t step, double steps);

}  // namespace xlm
