// Epochs and tokens in steps.
#include "experiments/configuration/training_length.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "core/api/arithmetic.h"
#include "core/api/text_scheme.h"
#include "datasets/prepared/prepared.h"

namespace xlm {
namespace {

/// Throws UsageError if `key` asks for more steps than train.steps may be.
std::int64_t whole_steps(double steps, const char* key) {
  constexpr double kMaxSteps = 1e12;
  if (steps > kMaxSteps) {
    throw UsageError(fmt::format("{} is {:.2g} steps of these data, and at most {:g} are possible\nuse a smaller one",
                                 key, steps, kMaxSteps));
  }
  return std::max<std::int64_t>(1, std::llround(steps));
}

/// An epoch of the training split; without steps if that is too short for one.
Epoch epoch_of_data(const RunOptions& options) {
  const TrainOptions& train = options.train;
  return epoch_of(options.model.scheme(), train.batch, train.block, document_sizes(options.data.path, "train"));
}

}  // namespace

void resolve_length(RunOptions& options) {
  TrainOptions& train = options.train;
  if (train.epochs == 0 && train.tokens == 0 && train.eval_every_tokens == 0) return;
  const Epoch epoch = epoch_of_data(options);
  if (epoch.steps == 0) {
    throw DataError(fmt::format("{}: the training split is too short for a step of train.batch={} and train.block={}",
                                options.data.path, train.batch, train.block));
  }
  const double predictions = epoch.predictions / epoch.steps;  // of a step
  if (train.epochs > 0) train.steps = whole_steps(train.epochs * epoch.steps, "train.epochs");
  if (train.tokens > 0) train.steps = whole_steps(static_cast<double>(train.tokens) / predictions, "train.tokens");
  if (train.eval_every_tokens > 0) {
    train.eval_every =
        whole_steps(static_cast<double>(train.eval_every_tokens) / predictions, "train.eval_every_tokens");
  }
  train.epochs = 0;
  train.tokens = train.eval_every_tokens = 0;
}

double predictions_of_step(const RunOptions& options) {
  const Epoch epoch = epoch_of_data(options);
  if (epoch.steps == 0) return static_cast<double>(options.train.batch) * static_cast<double>(options.train.block);
  return epoch.predictions / epoch.steps;
}

ExpectedSteps expected_steps(const RunOptions& options, double flops_per_token, bool is_measured) {
  const TrainOptions& train = options.train;
  if (!train.has_budget()) return {static_cast<double>(train.steps), true};
  const double predictions = predictions_of_step(options);
  const double step = kTrainingPerForward * flops_per_token * predictions;
  if (train.flops == 0 || step <= 0) return {};
  const bool is_even = predictions == static_cast<double>(train.batch) * static_cast<double>(train.block);
  return {std::max(1.0, std::ceil(train.flops / step * (1 - kBudgetRounding))), !is_measured && is_even};
}

}  // namespace xlm
