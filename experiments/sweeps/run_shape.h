// What finished runs say of others that are like them: how long a step takes, and how much memory.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "experiments/runs/live_run.h"
#include "experiments/runs/run_plan.h"

namespace xlm {

/// Runs of the same shape need as much memory, and as long for a step, on the same kind of device: the same model over
/// as many symbols, the same batch and block, precision and number of processes.
std::string shape_of(const RunOptions& options, std::int64_t symbols);

struct FinishedRun {
  std::string id;
  std::string experiment;  // empty: none
  std::string shape;
  std::string model;   // model.type
  std::string device;  // "cpu" or "cuda"
  Precision precision = Precision::kFloat32;
  std::int64_t processes = 1;
  double steps = 0;
  double step_seconds = 0;  // with all that comes between steps
  double step_flops = 0;    // of a forward pass and a backward one; 0: not known
  double peak_memory = 0;   // bytes, on its device; 0: not known
};

/// Nothing where the run is not done, or its folder does not say what it was.
std::optional<FinishedRun> finished_run(const Run& run);

/// Seconds that a run was at work, over all its attempts, for each of its steps: with all that comes between them. Of
/// an attempt whose process was lost up to its last checkpoint or evaluation.
double seconds_of_step(const Run& run);

}  // namespace xlm
