// One worker doing one run: takes the lock, goes on from the newest checkpoint, and leaves a journal that says how it
// ended.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiments/worker/journal_sink.h"

namespace xlm {

struct WorkSettings {
  std::int64_t threads = 0;          // for a run that has not started and whose train.threads is 0; 0: all cores
  bool retry = false;                // try a diverged run again from its last finite checkpoint
  bool anyway = false;               // go on with another program or kind of device than the run began with
  std::vector<std::string> command;  // for environment.json
  JournalSink::Settings sink;
  LockSettings lock;
};

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

/// What another process of a run does that several do together (`train.processes`): it computes, and writes nothing but
/// what it says. Returns its exit code, one of the usual ones or of experiments/worker/peers.h; throws as core does.
int take_part(const fs::path& run_folder, const std::function<Core&()>& open_core, const WorkSettings& settings,
              Processes processes);

}  // namespace xlm
