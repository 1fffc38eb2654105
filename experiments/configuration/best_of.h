// Values that another sweep chooses: `{best_of: learning-rate.yaml, by: valid.bpc}` is the value that the best run of
// that sweep has for the same key.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/files.h"
#include "base/json.h"
#include "base/yaml.h"

namespace xlm {

/// What a configuration asks another sweep for.
struct BestOf {
  std::string key;               // the key that gets the value: optimizer.lr
  fs::path file;                 // the other sweep
  std::string profile;           // of that file; empty: none
  std::string by;                // the column to compare: valid.bpc
  Yaml where;                    // conditions on the other sweep's runs: a map of columns to values
  std::optional<Yaml> fallback;  // the value while no run has chosen one
  std::string place;             // file:line of the map
};

/// The value for a key, and the runs that have it.
struct ChosenValue {
  Yaml value;
  std::vector<std::string> runs;  // ids, one for each seed; empty: it is the fallback
};

/// Finds the value. Throws UsageError if there is none, with the command that makes the missing runs.
using ChooseValue = std::function<ChosenValue(const BestOf&)>;

/// What was chosen for one key of a run, as its journal records it.
struct RecordedChoice {
  std::string key;
  Json value;
  std::string file;  // of the other sweep
  std::string by;
  std::vector<std::string> runs;
};

/// Whether a value is such a map.
bool is_best_of(const Yaml& value);

/// Adds to each such map of `tree`, which was read with `profile`, the profile that the other file is read with: the
/// same one. A map may give another.
void note_profile(Yaml& tree, const std::string& profile);

/// Puts chosen values in the places of such maps in the configuration of one run. Throws UsageError with file:line for
/// a map that is malformed, and whatever `choose` throws.
std::vector<RecordedChoice> choose_values(Yaml& configuration, const ChooseValue& choose);

/// The configuration of the other sweep, with the profile if its file has that. Throws UsageError with the place of the
/// map if it cannot be read.
Yaml configuration_of_other(const BestOf& best);

/// "xlm sweep learning-rate.yaml --profile small".
std::string command_of_other(const BestOf& best);

}  // namespace xlm
