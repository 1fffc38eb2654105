// Computes how long a run took for each step.
#include "experiments/sweeps/run_pace.h"

#include <algorithm>

#include "results/run_folder/run_cost.h"

namespace xlm {

double seconds_of_step(const Run& run) {
  return busy_seconds(run) / static_cast<double>(std::max<std::int64_t>(run.step, 1));
}

}  // namespace xlm
