// The data and the split of commands that evaluate.
#pragma once

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cmd/command.h"
#include "experiments/runs/evaluation_record.h"
#include "experiments/runs/model_locator.h"

namespace xlm {

struct EvaluationTarget {
  std::string model;
  std::vector<std::string> overrides;
  std::string data;
  std::string split = "test";

  void declare(CLI::App& app);

  /// Throws UsageError if `split` is not train, valid or test, or if an override is a path.
  void check() const;
};

/// The data folder `given`, or that of the model's run. Throws UsageError if there is neither, DataError if the folder
/// does not exist.
std::string evaluation_data(const std::string& given, const LocatedModel& place);

/// Evaluates as `request` says, with a bar of that label, and records it.
Evaluation evaluate_and_record(const EvaluationRequest& request, const std::string& label, const GlobalOptions& global);

}  // namespace xlm
