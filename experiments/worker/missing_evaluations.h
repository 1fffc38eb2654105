// Makes the evaluations that a run's journal wants and does not have.
#pragma once

#include <functional>
#include <string>

#include "core/api/interface.h"
#include "experiments/worker/journal_sink.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// How it went.
struct EvaluationsReport {
  bool stopped = false;
  ExitCode code = kDone;  // of the first that failed
  std::string message;    // why it did
};

/// Ends an evaluation from within: nothing of it is kept, so that it can be left at any moment.
struct EvaluationStopped {};

/// Makes what is missing of the evaluations that a finished run's journal wants, one after the other. `make` makes and
/// records one, and throws EvaluationStopped when `sink` says so. One that fails does not keep the others from being
/// made.
EvaluationsReport make_missing_evaluations(const Run& run, JournalSink& sink,
                                           const std::function<void(const WantedEvaluation&)>& make);

/// The same by core, which puts each on the model's card. `options` says on what device, with how many threads.
EvaluationsReport make_missing_evaluations(Core& core, const Run& run, const RunOptions& options, JournalSink& sink);

}  // namespace xlm
