// How attempts at a run ended that did not end by themselves, and what that means for the next one.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

struct AttemptEnd {
  EndCause cause = EndCause::kGone;
  std::string reason;        // for people
  double memory = 0;         // bytes that its job had, where it ran out of them; 0: not known
  bool at_any_rows = false;  // it ran out of memory, however few rows of the batch are computed at once
  ExitCode code = kFailed;   // of the command that reports it
  std::int64_t rows = 0;     // of the batch that it computed at once; 0: as many as the run allows (rows_at_once)
};

/// The end of a worker without a final record: an exit code, or 128 + the number of the signal that killed it.
/// `memory_kill` says whether the kernel has killed some process because memory was too small meanwhile.
AttemptEnd end_of_worker(int code, bool memory_kill);

/// The end of a worker that is gone with its job, of which the cluster's queue says `job_state` in Slurm's words; empty
/// if it is not known. `last` is the run's last state, in which it was running.
AttemptEnd end_of_gone_worker(const RunState& last, const std::string& job_state);

/// How many attempts at a run were lost one after the other without getting on, up to the newest checkpoint, since it
/// was asked for: with the present one, of which the journal does not say yet how it ended.
int lost_in_a_row(const Run& run);
/// A run that is lost so many times in a row is not retried.
inline constexpr int kMaxLost = 3;

/// The journal's record of an end, and of what the next attempt does otherwise. `again`: whether there is to be one.
Json record_of_end(const Run& run, const AttemptEnd& end, bool again);

}  // namespace xlm
