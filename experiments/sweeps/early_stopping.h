// Asynchronous successive halving (Li et al. 2020): the runs of a sweep pause at rungs, and the best settings continue.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/sweeps/sweep_plan.h"

namespace xlm {

/// `early_stopping` of a sweep.
struct EarlyStopping {
  std::string measure = "valid.loss";  // of the evaluations during training
  std::vector<std::int64_t> rungs;     // steps in rising order; the last evaluation at or before each is judged
  double keep = 1.0 / 3;               // the share of the settings at a rung that continue
  bool higher = false;                 // whether more of the measure is better
  std::string place = {};              // file:line; empty: of a work list
};

/// Returns nullopt if the sweep of a configuration has none. Throws UsageError with file:line, also if nothing says
/// which way the measure is better.
std::optional<EarlyStopping> read_early_stopping(const Yaml& configuration);

/// Throws UsageError with file:line if a run does not evaluate at every rung before its end.
void check_rungs(const EarlyStopping& rule, const RunConfiguration& options);

/// What is known of one run at the rungs.
struct RunAtRungs {
  std::string setting;                          // runs of one setting differ only in the seed, and are judged together
  std::vector<std::optional<double>> measured;  // at each rung
  bool lost = false;                            // failed or diverged
  std::vector<bool> left = {};                  // whether it was started again behind each; empty: behind none
};

/// How far a run may train.
struct Allowance {
  std::size_t rung = 0;    // the rung at which it pauses, counted from 0; the number of rungs: it may run to its end
  std::size_t judged = 0;  // the last rung at which its setting has a place
  std::size_t place = 0;   // from 1; 0: none yet
  std::size_t of = 0;      // settings that have reached that rung so far
  bool is_final = false;   // no later result can change its place
};

/// Applies the rule to all runs of a sweep, in their order. Of the n settings whose runs have all reached a rung, the
/// best ⌊keep · n⌋ continue. At least one continues once all settings that can reach the rung have reached it. A
/// setting of which one run has continued is not held later. A setting with a lost run comes last. Smaller is better if
/// `lower_is_better`.
std::vector<Allowance> allowances(const EarlyStopping& rule, const std::vector<RunAtRungs>& runs, bool lower_is_better);

/// Follows a sweep's runs by their journals, which its workers share on all machines.
class Halving {
 public:
  /// `runs` outlive it. With `tries_again` those that were lost and have to be done are not lost until they were tried.
  Halving(EarlyStopping rule, const std::vector<SweepRun>& runs, bool tries_again);

  /// Reads the journals that have changed, and judges again.
  void look();
  /// Reads only the journal of one run, if it has changed: for has_reached.
  void look_at(const SweepRun& run);

  /// Whether a run may train further, as far as is known.
  bool may_train(const SweepRun& run) const;
  /// The step at which it then pauses; 0: it runs to its end.
  std::int64_t pause_of(const SweepRun& run) const;
  /// Whether it was evaluated at the rung of that step or behind it.
  bool has_reached(const SweepRun& run, std::int64_t step) const;
  /// How far it may go. Runs that may go further are taken first.
  std::size_t rung_of(const SweepRun& run) const { return allowance_of(run).rung; }
  /// Whether it is held at a rung for good.
  bool is_pruned(const SweepRun& run) const { return !may_train(run) && allowance_of(run).is_final; }
  /// "place 3 of 9 at step 1000 by valid.loss", and the value. Empty if it has not reached a rung.
  std::string standing_of(const SweepRun& run) const;

 private:
  struct Seen {
    std::string mark;  // of the journal when it was read
    RunAtRungs at;
    bool done = false;
  };

  const Seen& seen_of(const SweepRun& run) const { return seen_[places_.at(run.id())]; }
  const Allowance& allowance_of(const SweepRun& run) const { return allowances_.at(places_.at(run.id())); }

  EarlyStopping rule_;
  const std::vector<SweepRun>& runs_;
  std::map<std::string, std::size_t> places_;
  std::vector<Seen> seen_;
  std::vector<Allowance> allowances_;
  bool lower_is_better_ = true;
};

/// Makes the plan leave out runs that are held at a rung for good.
void leave_pruned(const EarlyStopping& rule, std::vector<SweepRun>& runs, bool tries_again);

}  // namespace xlm
