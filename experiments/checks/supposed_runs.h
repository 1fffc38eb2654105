// What a sweep would leave in the store, without doing it: its runs and evaluations, with a number for every quantity.
// Needs neither data nor torch.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "core/api/interface.h"
#include "experiments/configuration/best_of.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/recipe.h"
#include "results/run_folder/run_folder.h"
#include "results/store/store.h"

namespace xlm {

/// What the exhibits of a recipe name besides known quantities. Supposed runs have it.
struct NamedByExhibits {
  std::map<std::string, std::int64_t> grids;  // and how many rows they need
  std::set<std::string> traces;
  std::set<std::string> columns;        // of results that only a program knows; its runs have them
  std::set<std::string> measured = {};  // columns that runs have, beyond what the program says that it reports
};

struct SupposedSweep {
  std::vector<Run> runs;                        // each once, done, with made-up numbers, in the order of the points
  std::set<std::string> setting_keys;           // keys that change a run's content, with data.name for the data
  std::set<std::string> chosen_keys;            // keys whose values other sweeps choose
  std::string length;                           // of its runs: "600,000 steps (19.7G tokens)", "2 epochs"
  std::size_t evaluations = 0;                  // the number that `evaluate` asks for, over all runs
  std::set<std::string> unnamed;                // data folders whose corpus is unknown
  std::map<std::string, std::string> misnamed;  // data folders whose corpus differs from `corpora`, with its name
};

/// The sweep of a recipe. The name of a corpus comes from `corpora`, or else from its folder, or else is the folder's
/// path. A length in epochs or tokens stays as the file gives it. Throws UsageError with file:line for points that are
/// no valid runs. `choose` finds values that are winners of other sweeps.
SupposedSweep suppose(const Recipe& recipe, const NamedByExhibits& named, const ChooseValue& choose);

/// A store of its runs.
Store store_of(const SupposedSweep& sweep);

/// What a model would cost: some number for every cost that there is, another for another model. Neither data nor torch
/// are needed.
NamedValues supposed_costs(const RunOptions& options, std::int64_t symbols);

inline constexpr std::int64_t kLongestTraining = 1'000'000'000'000;  // steps, as of train.steps

/// A run's options, with what its file says of lengths that only the data can turn into steps.
struct OpenRun {
  RunConfiguration options;
  SettingList open;  // train.epochs, train.tokens and train.eval_every_tokens, of those that are given
};

/// Reads the configuration of one run. Weights to start from, which a file may require, are left out as data are.
/// Throws UsageError as read_run_options.
OpenRun read_without_data(Yaml tree);

}  // namespace xlm
