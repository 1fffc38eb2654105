// The runs of a recipe's profile `paper`.
#include "experiments/checks/supposed_paper_runs.h"

#include "experiments/checks/supposed_runs.h"
#include "experiments/checks/supposed_winners.h"

namespace xlm {

std::shared_ptr<PaperRuns> supposed_paper_runs(const Recipe& recipe) {
  SupposedSweep sweep = suppose(recipe, {}, suppose_winners());
  for (const std::string& key : sweep.chosen_keys) sweep.setting_keys.erase(key);  // nothing says what the paper chose
  PaperRunsKnown known{.runs = {},
                       .keys = std::move(sweep.setting_keys),
                       .required = recipe.required,
                       .unnamed = std::move(sweep.unnamed),
                       .length = std::move(sweep.length)};
  for (SupposedRun& supposed : sweep.runs) known.runs.push_back(std::move(supposed.run));
  for (const char* length : {"train.epochs", "train.tokens"}) {
    if (known.keys.contains(length)) known.keys.erase("train.steps");  // follows from data that are not there
  }
  return std::make_shared<PaperRuns>(std::move(known));
}

}  // namespace xlm
