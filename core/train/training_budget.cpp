// How long training is, and the arithmetic that it has spent.
#include "core/train/training_budget.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/progress.h"
#include "core/api/arithmetic.h"
#include "core/eval/evaluation.h"

namespace xlm {

TrainingBudget::TrainingBudget(const TrainOptions& options, LanguageModel& model, ProcessGroup* group)
    : options_(&options), model_(&model), group_(group) {}

void TrainingBudget::begin_step() {
  if (!clock_) clock_ = monotonic_seconds();
  share_before_ = share();
  if (!counts_before_) counts_before_ = model_->counts();
}

/// Of the step's own text: the model's counts are set to the step's for the moment.
double TrainingBudget::flops_per_token(std::int64_t block) {
  const auto read = [&] {
    const NamedValues costs = model_->costs(block);
    const auto found = costs.find("flops_per_token");
    return found == costs.end() ? 0.0 : found->second;
  };
  const Counts after = model_->counts();  // the only time in a step: reading them waits for a GPU
  const Counts before = std::exchange(counts_before_, after).value_or(Counts());
  if (after.sums.empty()) return read();
  Counts of_step = after;
  for (std::size_t i = 0; i < of_step.sums.size() && i < before.sums.size(); ++i) {
    of_step.sums[i] -= before.sums[i];
  }
  model_->set_counts(of_step);
  if (group_ != nullptr) unite_counts(*model_, *group_);
  const double flops = read();
  model_->set_counts(after);
  return flops;
}

void TrainingBudget::spend(const Batch& batch) {
  const auto scored = static_cast<double>(batch.targets.ne(kNoTarget).sum().item<std::int64_t>());
  flops_ += kTrainingPerForward * flops_per_token(batch.targets.size(1)) * scored;
  tokens_ += scored;
  const double now = monotonic_seconds();
  seconds_ += now - clock_.value_or(now);
  clock_ = now;
  if (group_ != nullptr && options_->seconds > 0) group_->max(&seconds_, 1);  // all stop after the same step
}

double TrainingBudget::share() const {
  if (options_->flops > 0) return flops_ / options_->flops;
  return options_->seconds > 0 ? seconds_ / options_->seconds : 0;
}

bool TrainingBudget::is_spent(std::int64_t step) const {
  if (!options_->has_budget()) return step >= options_->steps;
  return share() >= 1 - kBudgetRounding;
}

double TrainingBudget::steps(std::int64_t step) const {
  if (!options_->has_budget()) return static_cast<double>(options_->steps);
  return static_cast<double>(step) / std::min(1.0, share());
}

bool TrainingBudget::has_passed(std::int64_t parts) const {
  const auto all = static_cast<double>(parts);
  return std::floor(share() * all) > std::floor(share_before_ * all);
}

NamedValues TrainingBudget::values() const {
  if (!is_known_) return {};
  return {{"training_flops", flops_}, {"training_tokens", tokens_}, {"training_seconds", seconds_}};
}

NamedValues TrainingBudget::costs() const {
  NamedValues all = values();
  if (!all.empty() && inherited_flops_ > 0) all["inherited_flops"] = inherited_flops_;
  return all;
}

Json TrainingBudget::state() const {
  return {{"known", is_known_},
          {"flops", flops_},
          {"inherited_flops", inherited_flops_},
          {"tokens", tokens_},
          {"seconds", seconds_}};
}

void TrainingBudget::restore(const Json& state) {
  is_known_ = !state.is_null() && state.at("known").get<bool>();
  if (state.is_null()) return;
  flops_ = state.at("flops").get<double>();
  inherited_flops_ = state.at("inherited_flops").get<double>();
  tokens_ = state.at("tokens").get<double>();
  seconds_ = state.at("seconds").get<double>();
}

}  // namespace xlm
