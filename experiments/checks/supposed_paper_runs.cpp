// The runs of a recipe's profile `paper`.
#include "experiments/checks/supposed_paper_runs.h"

#include "experiments/checks/supposed_runs.h"
#include "experiments/checks/supposed_winners.h"

namespace xlm {
namespace {

/// Keys that a run's user must give; conditions on the data, which are maps, are none.
std::set<std::string> required_keys(const Yaml& tree) {
  std::set<std::string> keys;
  const Yaml* required = tree.find("require");
  if (required == nullptr || !required->is_sequence()) return keys;
  for (const Yaml& key : required->items) {
    if (key.is_scalar()) keys.insert(key.scalar);
  }
  return keys;
}

}  // namespace

std::shared_ptr<PaperRuns> supposed_paper_runs(const Yaml& tree) {
  const ChooseValue choose = suppose_winners();
  SupposedSweep sweep = suppose(tree, {}, choose);
  for (const std::string& key : sweep.chosen_keys) sweep.setting_keys.erase(key);  // nothing says what the paper chose
  PaperRunsKnown known{.runs = {},
                       .keys = std::move(sweep.setting_keys),
                       .required = required_keys(tree),
                       .unnamed = std::move(sweep.unnamed),
                       .length = length_in_words(tree, choose)};
  for (SupposedRun& supposed : sweep.runs) known.runs.push_back(std::move(supposed.run));
  for (const char* length : {"train.epochs", "train.tokens"}) {
    if (known.keys.contains(length)) known.keys.erase("train.steps");  // follows from data that are not there
  }
  return std::make_shared<PaperRuns>(std::move(known));
}

}  // namespace xlm
