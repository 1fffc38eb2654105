// What the rest of a sweep costs, as far as that is known before it is done.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "experiments/configuration/run_arithmetic.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// Parameters and remaining work of a run.
struct CostEstimate {
  double params = 0;
  ExpectedSteps steps;            // of the whole run
  double flops = 0;               // of the remaining steps, forward and backward
  double evaluation_flops = 0;    // of the remaining evaluations, those that the sweep wants included
  double final_flops = 0;         // of those, the run's own ones after training
  std::optional<double> seconds;  // of the remaining steps; unset: no earlier run shows the speed
  std::optional<double> evaluation_seconds;
};

/// How fast earlier runs of a folder were on this machine.
class MachineSpeed {
 public:
  /// Reads the newest run folders of `runs` that were done on `host`.
  MachineSpeed(const fs::path& runs, const std::string& host);

  struct Speed {
    double training = 0;    // FLOPs per second; 0: not known
    double evaluation = 0;  // likewise
  };
  /// The median of runs of this model type; if there are none, of all types.
  Speed of(const std::string& model) const;

 private:
  struct Known {
    std::string model;
    Speed speed;
  };
  std::vector<Known> known_;
};

/// Estimates runs of one sweep. That of a program is unknown: 0.
class CostEstimator {
 public:
  explicit CostEstimator(std::function<Core&()> open_core, const MachineSpeed* speed = nullptr)
      : arithmetic_(std::move(open_core)), speed_(speed) {}
  CostEstimate of(const SweepRun& run);

 private:
  double wanted_flops(const SweepRun& run);

  ArithmeticEstimator arithmetic_;
  const MachineSpeed* speed_;
};

/// "about 1.2T FLOPs of evaluations", what shortens them if they cost more than training, and the time if it is known:
/// the lines below a list of runs.
std::string cost_lines(const std::vector<CostEstimate>& costs);

/// What is said of runs whose warm-up takes most of their steps.
std::vector<std::string> warmup_warnings(const std::vector<SweepRun>& runs, const std::function<Core&()>& open_core);

}  // namespace xlm
