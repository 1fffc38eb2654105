// One worker doing one run: takes the lock, goes on from the newest checkpoint, and leaves a journal that says how it
// ended.
#pragma once

#include <functional>
#include <string>

#include "experiments/worker/work.h"

namespace xlm {

/// How a run stands after a worker has been at it.
struct RunReport {
  ExitCode code = kDone;
  RunStatus status = RunStatus::kQueued;
  std::string message;  // what went wrong, or why there was nothing to do; "" otherwise
};

/// Does the run of a submitted run folder: its training, then the evaluations that are wanted of it. Only what stands
/// in the folder counts. A run whose evaluations fail stays done; the report's code and message say that they did.
/// Throws RunLockedError, having touched nothing, when another worker is at it; every other failure is in the journal
/// and in the report. `open_core` is called when there is something to do.
RunReport execute(const fs::path& run_folder, const std::function<Core&()>& open_core, const WorkSettings& settings);

}  // namespace xlm
