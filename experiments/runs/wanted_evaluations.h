// The evaluations that a sweep wants of a run beside its own: on other data, with other windows. They are kept in the
// run's journal from the day they are asked for, and done when its training is.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/api/interface.h"
#include "experiments/runs/evaluation_record.h"
#include "experiments/runs/run_plan.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// Adds those of `wanted` that the run's journal does not have yet. The run has been submitted.
void want(const RunPaths& run, const std::vector<WantedEvaluation>& wanted);

/// The wanted evaluation as one that can be made. Throws UsageError and DataError where its settings do not suit the
/// model, or its data are not there.
EvaluationRequest request_of(const Run& run, const WantedEvaluation& wanted);

/// Those of `wanted` that a run whose training is done does not have. One whose data cannot be read is one of them.
std::vector<WantedEvaluation> missing_evaluations(const Run& run, const std::vector<WantedEvaluation>& wanted);

/// How the making of evaluations is watched and stopped.
struct EvaluationWatch {
  std::function<void(const std::string& line)> log;
  std::function<bool()> should_stop;
  std::function<void()> check_owner;  // throws when another worker has taken the run over
};

/// How it went.
struct EvaluationsReport {
  bool stopped = false;
  ExitCode code = kDone;  // of the first that failed
  std::string message;    // why it did
};

/// Makes what is missing of the evaluations that a finished run's journal wants, one after the other, puts each on the
/// model's card and records it where it is made. One that fails does not keep the others from being made; a stop ends
/// the present one, of which nothing is kept. `options` says on what device, with how many threads.
EvaluationsReport make_missing_evaluations(Core& core, const Run& run, const RunOptions& options,
                                           const EvaluationWatch& watch);

/// "test@model.overlap=20".
std::string shown(const WantedEvaluation& wanted);

}  // namespace xlm
