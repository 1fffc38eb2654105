// Makes the evaluations that a run's journal wants and does not have.
#pragma once

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

/// Makes what is missing of the evaluations that a finished run's journal wants, one after the other, puts each on the
/// model's card and records it where it is made. One that fails does not keep the others from being made; a stop ends
/// the present one, of which nothing is kept. `options` says on what device, with how many threads.
EvaluationsReport make_missing_evaluations(Core& core, const Run& run, const RunOptions& options, JournalSink& sink);

}  // namespace xlm
