// Continuations of passages, side by side: the runs that make them, and the result as text.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/json.h"
#include "results/exhibits/continuation_description.h"
#include "results/store/nothing_to_show.h"
#include "results/store/run_table.h"

namespace xlm {

struct ContinuingModel {
  std::string label;
  std::string run;      // the newest that is done; empty: none
  std::string missing;  // why there is no run
};

struct ContinuedPassage {
  ContinuationDescription::Prompt place;
  std::string prompt;
  std::vector<std::string> texts;  // one per model; empty if there is no run
};

struct Continuations {
  ContinuationDescription description;
  std::vector<ContinuingModel> models;
  std::vector<ContinuedPassage> passages;  // empty until the models run
  std::vector<std::string> notes;
};

/// The models whose runs fulfil `filters` and the description's conditions, without passages yet. Nothing to show if no
/// row has a run. Throws UsageError if the runs are of different data: they could not share a prompt.
std::variant<Continuations, NothingToShow> find_models(RunTable& runs, const ContinuationDescription& description,
                                                       const std::vector<Filter>& filters);

/// "valid split, document 3, tokens 1201 to 1500".
std::string place_text(const Continuations& continuations, const ContinuedPassage& passage);

/// On one line, without the beginning if it is long: "… and left the house".
std::string prompt_end(const std::string& prompt);

/// Each passage with its continuations below.
std::string continuations_text(const std::vector<Continuations>& all);

Json to_json(const Continuations& continuations);

}  // namespace xlm
