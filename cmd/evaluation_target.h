// What the commands that evaluate share: which data, which split.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "experiments/runs/model_locator.h"

namespace xlm {

/// The model, the data and the split that an evaluation is asked for.
struct EvaluationTarget {
  std::string model;
  std::vector<std::string> overrides;
  std::string data;
  std::string split = "test";

  void declare(CLI::App& app);

  /// Throws UsageError when `split` is none of train, valid and test, or a setting is a path.
  void check() const;
};

/// The data folder `given`, or the one that the model's run was trained on. Throws UsageError when there is neither,
/// DataError when it is not there.
std::string evaluation_data(const std::string& given, const LocatedModel& place);

}  // namespace xlm
