// Computes how long a run took for each step.
#include "experiments/sweeps/run_pace.h"

#include <algorithm>

namespace xlm {
namespace {

/// The last sign of life of an attempt that started at `began`, before its next state at `until`.
double last_sign(const Run& run, double began, double until) {
  double last = began;
  const auto look_at = [&](double time) {
    if (time > last && time <= until) last = time;
  };
  for (const RunCheckpoint& checkpoint : run.checkpoints) look_at(checkpoint.time);
  for (const RunEvaluation& evaluation : run.evaluations) look_at(evaluation.time);
  return last;
}

}  // namespace

double seconds_of_step(const Run& run) {
  double seconds = 0;
  double began = 0;
  for (const RunState& state : run.history) {
    const bool running = state.state == name_of(RunStatus::kRunning);
    // The worker that resumes the run records how the lost attempt ended, perhaps hours later.
    const double end = running || !state.cause.empty() ? last_sign(run, began, state.time) : state.time;
    if (began > 0) seconds += std::max(end - began, 0.0);
    began = running ? state.time : 0;
  }
  return seconds / static_cast<double>(std::max<std::int64_t>(run.step, 1));
}

}  // namespace xlm
