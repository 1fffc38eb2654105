// The plan of a sweep: its runs, their status, and why each will be done or skipped.
#pragma once

#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/runs/run_plan.h"
#include "experiments/sweeps/folder_status.h"
#include "experiments/sweeps/sweep.h"

namespace xlm {

struct Recipe;

enum class SweepAction {
  kRun,    // new, or unfinished and without a worker
  kWait,   // another worker is running it
  kSkip,   // done, with all its evaluations
  kLeave,  // skipped though not done: diverged or pruned
};

struct SweepRun {
  SweepPoint point;
  PlannedRun planned;
  std::string setting;     // shared by the runs that differ only in the seed
  std::int64_t trial = 0;  // of a search, from 1; 0: of none
  std::int64_t round = 0;  // of a search, from 1: its trials were asked for together
  std::string source;      // the run whose model it begins from; empty: none
  SweepAction action = SweepAction::kRun;
  FolderStatus status;          // absent before submission
  std::string reason;           // why the action
  std::int64_t checkpoint = 0;  // step to resume from; 0: none is known
  bool resumes = false;         // from a checkpoint, though its step may not be known
  std::vector<WantedEvaluation> evaluations;
  std::size_t evaluations_left = 0;  // of `evaluations`, still to be made

  std::string id() const { return planned.id(); }
  bool is_open() const { return action == SweepAction::kRun || action == SweepAction::kWait; }
};

/// How a sweep is planned.
struct SweepPlanning {
  bool counts_failed = false;  // of a search's last round; otherwise it waits, because they may be tried again
  bool records = false;        // writes what a search is asked for the first time, so that it holds for every worker
  ChooseValue choose;          // finds values that are winners of other sweeps; without it, asking for one is an error
};

/// All runs of a sweep in the order of its points, each once. Reads run folders; writes nothing but a search's record.
/// Throws UsageError with file:line for a point that is no valid run. Of a search: the runs of all trials that follow
/// from results so far. The same for a point that begins from a run outside the sweep which has no model, is not queued
/// and has no worker. Throws DataError for missing data.
std::vector<SweepRun> plan_sweep(const Recipe& recipe, const fs::path& runs, bool retry,
                                 const SweepPlanning& planning = {});

/// What was chosen for the runs, a line for each choice: "optimizer.lr is 0.0001, the best of learning-rate.yaml by …".
std::vector<std::string> choices_in_words(const std::vector<SweepRun>& runs);

/// Orders runs by their ids alone: mixed, but the same on every machine.
void shuffle_runs(std::vector<SweepRun>& runs);

/// The state of the run whose model a run begins from.
enum class SourceState {
  kReady,    // its model exists, or none is needed
  kComing,   // a worker is running it
  kWaiting,  // no worker is running it
  kLost,     // it has failed, diverged or been pruned
};
SourceState source_state(const SweepRun& run);
/// The status of that run.
FolderStatus status_of_source(const SweepRun& run);

/// Updates status, action, reason, checkpoint and evaluations_left of a run.
void look_at(SweepRun& run, bool retry);

/// The value of `point` for a table, as YAML text.
std::string shown_value(const SweepPoint& point, const std::string& key);

/// The keys that the points set, in the order in which they occur.
std::vector<std::string> swept_keys(const std::vector<SweepRun>& runs);

/// Those of them in whose values the runs differ.
std::vector<std::string> varied_keys(const std::vector<SweepRun>& runs);

/// The title of a key's column: its last part, if that identifies it among `keys`.
std::string short_title(const std::string& key, const std::vector<std::string>& keys);

}  // namespace xlm
