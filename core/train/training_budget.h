// How long training is: steps, FLOPs or seconds; and the arithmetic that it has spent.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"
#include "core/api/interface.h"
#include "core/models/language_model.h"
#include "core/parallel/process_group.h"
#include "core/schemes/scheme.h"

namespace xlm {

/// Counts FLOPs of steps as 3 · flops_per_token · scored tokens. A model whose cost follows from the text is asked for
/// that of each step's own text; one that learns its cost is asked at each step.
class TrainingBudget {
 public:
  /// `model` and `group` must outlive this; `group` may be null.
  TrainingBudget(const TrainOptions& options, LanguageModel& model, ProcessGroup* group);

  /// Call it before the loss of a batch is computed.
  void begin_step();
  /// Call it after that and before the update, in all processes of the group.
  void spend(const Batch& batch);
  /// Call it when the model's counts begin again between two steps.
  void counts_begin_again() { counts_before_ = Counts(); }
  /// Time stands still until the next step.
  void pause() { clock_.reset(); }

  /// Whether training is over after `step` updates.
  bool is_spent(std::int64_t step) const;
  /// The steps of a run in which so large a share of the budget is spent after `step` updates: train.steps, or not a
  /// whole number. Call it after `spend` for the step of the coming update.
  double steps(std::int64_t step) const;
  /// Whether the last step has passed a multiple of 1/parts of the budget.
  bool has_passed(std::int64_t parts) const;

  /// Nothing, if training began before they were counted; else training_flops, training_tokens (scored) and
  /// training_seconds (of steps) so far.
  NamedValues values() const;
  /// The same, and inherited_flops if another run spent a part of them.
  NamedValues costs() const;

  /// For checkpoints.
  Json state() const;
  /// null: the checkpoint does not say what was spent before.
  void restore(const Json& state);
  /// What was spent until now was spent by another run, whose checkpoint training goes on from.
  void inherit() { inherited_flops_ = flops_; }

 private:
  double share() const;
  double flops_per_token(std::int64_t block);

  const TrainOptions* options_;
  LanguageModel* model_;
  ProcessGroup* group_;
  std::optional<Counts> counts_before_;  // of the model, before the next step; nullopt: not read yet
  std::optional<double> clock_;          // up to when time is counted
  double share_before_ = 0;              // the step
  bool is_known_ = true;
  double flops_ = 0;
  double inherited_flops_ = 0;  // of them
  double tokens_ = 0;
  double seconds_ = 0;
};

}  // namespace xlm
