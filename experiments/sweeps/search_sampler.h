// Optuna, asked for the settings of a search round by round. It is a child process (python/xlm/ask.py), so that the
// program itself needs no Python.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/dialogue.h"
#include "base/json.h"
#include "experiments/sweeps/search.h"

namespace xlm {

/// How a trial ended, over its seeds.
struct TrialOutcome {
  std::optional<double> value;  // the mean of the measure; empty: a run was lost, so the trial counts as the worst
  std::int64_t stopped_at = 0;  // early, after this step, where it had the value; 0: it went to its end
};

class SearchSampler {
 public:
  /// Starts Python: XLM_PYTHON, or python3 of PATH. Throws UsageError that says how to install what is missing.
  explicit SearchSampler(const Search& search);

  /// Tells how the trials of the last round ended, in order, and asks for the next ones, one for each of `known`. A
  /// known setting is returned as it is, and Optuna learns that it was tried. The same calls give the same settings,
  /// from the same versions of Optuna and of the packages that it computes with.
  std::vector<SearchSetting> next_round(const std::vector<TrialOutcome>& outcomes,
                                        const std::vector<std::optional<SearchSetting>>& known);

 private:
  std::string ask(const Json& request);

  const Search& search_;
  std::unique_ptr<Dialogue> python_;
};

/// The settings in an answer of python/xlm/ask.py: a line of JSON. Throws Error if they are not `count` of `keys`
/// values.
std::vector<SearchSetting> settings_in_answer(const std::string& answer, std::size_t count, std::size_t keys);

/// The text of python/xlm/ask.py, which is part of the program.
std::string_view ask_script();

}  // namespace xlm
