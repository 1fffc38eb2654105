// What a sweep would leave in the store, without doing it: its runs and their evaluations, each with some number for
// every quantity that there is. Neither data nor torch are needed.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "core/api/interface.h"
#include "experiments/sweeps/sweep.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

/// What the exhibits of a recipe name beside quantities, so that runs have it.
struct NamedByExhibits {
  std::map<std::string, std::int64_t> grids;  // and how many rows they need
  std::set<std::string> traces;
};

/// A run that a sweep would make.
struct SupposedRun {
  Run run;  // done, with made-up numbers
  SweepPoint point;
};

struct SupposedSweep {
  std::vector<SupposedRun> runs;                // each once, in the order of the points
  std::set<std::string> setting_keys;           // keys that change what a run is; data by data.name
  std::size_t evaluations = 0;                  // that `evaluate` asks for, over all runs
  std::set<std::string> unnamed;                // data folders of which nothing says what they hold
  std::map<std::string, std::string> misnamed;  // those that hold something else than `corpora` says, and what
};

/// The sweep of `tree`, a configuration as read_configuration gives it. Data are called what `corpora` calls their
/// folder, otherwise what the folder says, and by its path where it is not there. A length in epochs or tokens stays
/// what the file says. Throws UsageError with file:line for points that are no valid runs.
SupposedSweep suppose(const Yaml& tree, const NamedByExhibits& named);

/// What a model would cost: some number for every cost that there is, another for another model. Neither data nor torch
/// are needed.
NamedValues supposed_costs(const RunOptions& options, std::int64_t symbols);

/// How long the runs of a sweep train, in words: "600,000 steps (19.7G tokens)", "2 epochs".
std::string length_in_words(const Yaml& tree);

}  // namespace xlm
