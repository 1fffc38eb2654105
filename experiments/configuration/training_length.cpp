// Epochs and tokens in steps.
#include "experiments/configuration/training_length.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/error.h"
#include "core/api/text_scheme.h"
#include "datasets/prepared/prepared.h"

namespace xlm {
namespace {

std::int64_t whole_steps(double steps) {
  constexpr double kMaxSteps = 1e12;  // as of train.steps
  return std::max<std::int64_t>(1, std::llround(std::min(steps, kMaxSteps)));
}

}  // namespace

void resolve_length(RunOptions& options) {
  TrainOptions& train = options.train;
  if (train.epochs == 0 && train.tokens == 0 && train.eval_every_tokens == 0) return;
  const std::vector<std::int64_t> documents = document_sizes(options.data.path, "train");
  const Epoch epoch = epoch_of(options.model.scheme(), train.batch, train.block, documents);
  if (epoch.steps == 0) {
    throw DataError(fmt::format("{}: the training split is too short for a step of train.batch={} and train.block={}",
                                options.data.path, train.batch, train.block));
  }
  const double predictions = epoch.predictions / epoch.steps;  // of a step
  if (train.epochs > 0) train.steps = whole_steps(train.epochs * epoch.steps);
  if (train.tokens > 0) train.steps = whole_steps(static_cast<double>(train.tokens) / predictions);
  if (train.eval_every_tokens > 0) {
    train.eval_every = whole_steps(static_cast<double>(train.eval_every_tokens) / predictions);
  }
  train.epochs = 0;
  train.tokens = train.eval_every_tokens = 0;
}

}  // namespace xlm
