// What a run will compute: the FLOPs of its training and of its evaluations, before it is done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "core/api/interface.h"
#include "experiments/configuration/training_length.h"

namespace xlm {

struct RunArithmetic {
  double params = 0;
  ExpectedSteps steps;
  double step_flops = 0;    // of a step, forward and backward
  double during_flops = 0;  // of one evaluation while training
  double final_flops = 0;   // of the evaluations at the end
};

/// Asks core for the cost of models, once for each model and length of a block.
class ArithmeticEstimator {
 public:
  explicit ArithmeticEstimator(std::function<Core&()> open_core) : open_core_(std::move(open_core)) {}

  /// `symbols`: of the vocabulary. What only the data say is 0 if there are no data.
  RunArithmetic of(const RunOptions& options, std::int64_t symbols);
  /// FLOPs of one evaluation of a split with the settings of `options`; 0 if the data have no such split.
  double evaluation_flops(const RunOptions& options, std::int64_t symbols, const std::string& split);

 private:
  const NamedValues& costs(RunOptions options, std::int64_t symbols, std::int64_t block);
  double evaluation_flops(const RunOptions& options, std::int64_t symbols, std::int64_t tokens);

  std::function<Core&()> open_core_;
  std::map<std::string, NamedValues> known_;
  std::map<std::string, bool> measured_;
};

}  // namespace xlm
