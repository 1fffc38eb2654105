// Chooses settings by a measured number, as one tunes on validation: of runs that differ in some keys, those of the
// best setting. Recipes do so for their values (experiments/sweeps/winners.h), tables and figures for what they show.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/yaml.h"
#include "results/quantities/quantities.h"
#include "results/store/run_table.h"

namespace xlm {

/// Which setting is shown: over these keys, the best by a column.
struct Selection {
  std::vector<std::string> over;  // keys of the configuration; empty: nothing is chosen
  std::string by;                 // column that decides, such as valid.bpc
  std::set<std::string> on = {};  // seeds that choose; the others are what is shown. Empty: all do both

  bool is_asked() const { return !over.empty(); }
};

/// Reads {over: KEY or [KEY, …], by: COLUMN, on: [SEED, …]}, the last of which may be left out. Throws UsageError with
/// file:line, also for a column of the test split.
Selection read_selection(const Yaml& node);

/// The same of a command line: `over` of --choose, `by` of --by. Without `over` nothing is chosen.
Selection selection_of(const std::vector<std::string>& over, const std::string& by);

/// Runs with the same values of some keys: seeds of one setting.
struct SettingCandidate {
  std::vector<Value> values;  // of the keys
  std::vector<std::size_t> rows;
  std::vector<double> numbers;       // of its runs that are done
  std::vector<std::size_t> lacking;  // rows of runs that are done, but have no number
  bool is_lost = false;              // a run diverged or was pruned
};

/// Groups rows by their values of `keys`, in the order in which they first occur. `numbers` has a value for each row of
/// the table.
std::vector<SettingCandidate> candidates_of(RunTable& runs, const std::vector<std::size_t>& rows,
                                            const std::vector<std::string>& keys, const std::vector<Value>& numbers);

/// The candidate with the best mean; of equal ones the first. Null if all are lost or without a number.
const SettingCandidate* best_candidate(const std::vector<SettingCandidate>& candidates, Better better);

/// A setting that was chosen among those that differ from it in the keys of a Selection and the seed alone.
struct ChosenSetting {
  std::string family;          // what all of them have, and other families have not: "model.span=64"
  std::vector<Value> values;   // of the keys
  std::size_t candidates = 0;  // how many settings there were
  bool is_at_end = false;      // a value is the least or the greatest number of three or more that were tried
};

struct SettingChoice {
  std::vector<std::size_t> rows;  // of the chosen settings, ascending; all of them if nothing was asked
  std::vector<ChosenSetting> settings;
  std::vector<std::string> undecided;  // families without a setting that can be chosen
  std::size_t open = 0;                // runs to choose among that may still get a number
};

/// Keeps the rows of the best settings. Rows that agree in everything but the keys of `selection`, the seed and `over`
/// are a family, and each family keeps its best setting: that with the best mean over its runs. A setting with a
/// diverged or pruned run cannot be chosen. Evaluations with other settings than their run's own count with what they
/// measured themselves, or else with their run's number. Throws UsageError for keys that are results, and for a column
/// that is none.
SettingChoice choose_rows(RunTable& runs, const std::vector<std::size_t>& rows, const Selection& selection,
                          const std::string& over);

/// Whether a column, or a formula of columns, has a number of the test split.
bool is_of_test(const std::string& column);

/// By how many standard errors of its mean the best of so many equal settings is expected to look better than it is.
double expected_lead(std::size_t settings);

/// The values of a setting: "optimizer.lr=0.01", "optimizer.lr=0.01 and train.batch=64".
std::string chosen_text(const Selection& selection, const ChosenSetting& setting);

/// A place of a table or a figure, such as "fixed/64", with what was chosen there. An empty name is the only place.
using NamedChoices = std::vector<std::pair<std::string, SettingChoice>>;

/// Sentences about choices: the values, what is open, what could not be chosen, and what lies at the end of what was
/// tried. None if nothing was asked.
std::vector<std::string> choice_notes(const Selection& selection, const NamedChoices& choices);

}  // namespace xlm
