// A sweep's file as types, read once. Behind it nothing asks for a section or a key of the file. The configuration of
// runs stays a tree, because a run's options get their types only with the values of its point (read_run_options).
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/configuration/reported_names.h"
#include "experiments/sweeps/asked_resources.h"
#include "experiments/sweeps/corpora.h"
#include "experiments/sweeps/early_stopping.h"
#include "experiments/sweeps/search.h"
#include "experiments/sweeps/sweep.h"
#include "experiments/sweeps/sweep_evaluations.h"

namespace xlm {

struct Recipe {
  std::string experiment;
  Yaml run;                        // the configuration over which points lay their values
  std::vector<SweepPoint> points;  // of a search: as many as it will have, at supposed settings
  std::optional<Search> search;
  std::optional<EarlyStopping> early_stopping;
  std::vector<EvaluationBlock> evaluations;  // that the sweep wants of its runs once they are done
  Resources resources;
  Corpora corpora;
  ReportedNames reported;          // by programs
  std::set<std::string> required;  // keys that a run's user must give
  std::string text;                // of a search: the whole configuration, from which its workers read the recipe again

  std::string place_of_corpora;  // file:line; the file's first line if it has none
};

/// The recipe of a configuration, as read_configuration returns it with the same overrides: the sweep does not vary
/// their keys. A configuration without a sweep has one point, which is empty. Throws UsageError with file:line.
Recipe recipe_of(Yaml configuration, const std::vector<std::string>& overrides = {});

}  // namespace xlm
