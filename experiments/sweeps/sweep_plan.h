// What is to be done for a sweep: its runs, how each stands, and why it will be done or skipped.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/terminal.h"
#include "base/yaml.h"
#include "experiments/runs/run_plan.h"
#include "experiments/runs/wanted_evaluations.h"
#include "experiments/sweeps/sweep.h"

namespace xlm {

enum class SweepAction {
  kRun,    // new, or unfinished and without a worker
  kWait,   // another worker is at it
  kSkip,   // done, with all its evaluations
  kLeave,  // skipped as well, but not done: diverged, or pruned
};

struct SweepRun {
  SweepPoint point;
  PlannedRun planned;
  std::string setting;  // what it shares with the runs that differ from it in the seed alone
  std::string source;   // the run whose model it begins from; empty: none
  SweepAction action = SweepAction::kRun;
  std::string status;           // as in the journal; "new" before submission
  std::string reason;           // why the action
  std::int64_t checkpoint = 0;  // step to go on from
  std::vector<WantedEvaluation> evaluations;
  std::size_t evaluations_left = 0;  // of those, still to be made

  std::string id() const { return planned.id(); }
};

/// All runs of a sweep in the order of its points, each once. Reads run folders, writes nothing. Throws UsageError with
/// file:line for any point that is no valid run, or begins from one that is neither of the sweep nor there nor queued
/// or being done for another, and DataError for data that is not there.
std::vector<SweepRun> plan_sweep(const Yaml& tree, const fs::path& runs, bool retry);

/// Puts runs in an order that follows from their ids alone: mixed, and the same on every machine.
void shuffle_runs(std::vector<SweepRun>& runs);

/// How the run stands whose model a run begins from.
enum class SourceState {
  kReady,    // its model is there, or there is none to begin from
  kComing,   // somebody is at work on it
  kWaiting,  // nobody is
  kLost,     // it has failed, diverged or been pruned
};
SourceState source_state(const SweepRun& run);
/// In words: "diverged"; "absent", "damaged".
std::string status_of_source(const SweepRun& run);

/// How a run stands now: sets status, action, reason, checkpoint and the evaluations that are left.
void look_at(SweepRun& run, bool retry);

/// A step's FLOPs by those of a forward pass: the backward one takes twice as many.
inline constexpr double kTrainingPerForward = 3;

/// Parameters and the work that is left, as far as it can be told before training.
struct CostEstimate {
  double params = 0;
  double flops = 0;  // of the remaining steps: a forward pass and a backward one of twice its cost
};

/// Asks core for the cost of models, each model once. What a program costs is not known: 0.
class CostEstimator {
 public:
  explicit CostEstimator(std::function<Core&()> open_core) : open_core_(std::move(open_core)) {}
  CostEstimate of(const SweepRun& run);

 private:
  std::function<Core&()> open_core_;
  std::map<std::string, NamedValues> known_;
};

/// The value of `point` for a table: text as YAML has it.
std::string shown_value(const SweepPoint& point, const std::string& key);

/// Keys that the points set, in the order in which they come up.
std::vector<std::string> swept_keys(const std::vector<SweepRun>& runs);

/// Those of them in whose values the runs differ: a column of the others would say nothing.
std::vector<std::string> varied_keys(const std::vector<SweepRun>& runs);

/// A key as a column's title: its last part, where that says which of `keys` it is.
std::string short_title(const std::string& key, const std::vector<std::string>& keys);

}  // namespace xlm
