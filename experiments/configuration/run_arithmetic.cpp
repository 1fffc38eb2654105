// What a run will compute.
#include "experiments/configuration/run_arithmetic.h"

#include <numeric>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "core/api/arithmetic.h"
#include "datasets/prepared/prepared.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

/// 0 if the data have no such split, or are not there.
std::int64_t tokens_of(const RunOptions& options, const std::string& split) {
  try {
    const std::vector<std::int64_t> documents = document_sizes(options.data.path, split);
    return std::accumulate(documents.begin(), documents.end(), std::int64_t{0});
  } catch (const DataError&) {
    return 0;
  }
}

}  // namespace

const NamedValues& ArithmeticEstimator::costs(RunOptions options, std::int64_t symbols, std::int64_t block) {
  options.train.block = block;
  const std::string key = fmt::format("{}\n{}", symbols, model_yaml(options));
  const auto known = known_.find(key);
  if (known != known_.end()) return known->second;
  return known_.emplace(key, open_core_().costs(options, symbols)).first->second;
}

double ArithmeticEstimator::evaluation_flops(const RunOptions& options, std::int64_t symbols, std::int64_t tokens) {
  if (tokens == 0) return 0;
  const EvaluationSize size = evaluation_size(options.model.scheme(), options.eval, options.train.block, tokens);
  return size.computed * value_or(costs(options, symbols, size.block), "flops_per_token", 0);
}

double ArithmeticEstimator::evaluation_flops(const RunOptions& options, std::int64_t symbols,
                                             const std::string& split) {
  return evaluation_flops(options, symbols, tokens_of(options, split));
}

RunArithmetic ArithmeticEstimator::of(const RunOptions& options, std::int64_t symbols) {
  const NamedValues& own = costs(options, symbols, options.train.block);
  const double per_token = value_or(own, "flops_per_token", 0);
  RunArithmetic result{.params = value_or(own, "params", 0)};
  const std::string key = fmt::format("{}\n{}", symbols, model_yaml(options));
  if (options.train.flops > 0 && !measured_.contains(key)) {
    measured_[key] = open_core_().costs_are_measured(options, symbols);
  }
  result.steps = expected_steps(options, per_token, measured_[key]);
  result.step_flops = kTrainingPerForward * per_token * predictions_of_step(options);
  const std::int64_t valid = tokens_of(options, "valid");
  RunOptions during = options;
  during.eval = during_training(options.eval);
  if (valid > 0) result.during_flops = evaluation_flops(during, symbols, tokens_during_training(options.eval, valid));
  result.final_flops = evaluation_flops(options, symbols, valid);
  if (!options.eval.seals("test")) result.final_flops += evaluation_flops(options, symbols, "test");
  return result;
}

}  // namespace xlm
