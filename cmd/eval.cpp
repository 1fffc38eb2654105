// xlm eval: the loss of a run or of a model folder on one split.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/evaluation_target.h"
#include "experiments/runs/store_update.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

std::string eval_as_json(const std::string& model, const Evaluation& evaluation) {
  Json json = {{"model", model}, {"split", evaluation.split}, {"tokens", evaluation.tokens}, {"loss", evaluation.loss}};
  std::set<std::string> names;
  for (const auto& [name, value] : evaluation.values) names.insert(name);
  for (const std::string& name : listing_order(names)) json[name] = evaluation.values.at(name);
  json["seconds"] = evaluation.seconds;
  return json_text(json);
}

std::string eval_as_text(const std::string& model, const Evaluation& evaluation) {
  std::vector<std::pair<std::string, std::string>> lines{
      {"model", model},
      {"split", evaluation.split},
      {"tokens", column_number("tokens", static_cast<double>(evaluation.tokens))},
      {"loss", fmt::format("{:.5f}", evaluation.loss)}};
  for (const auto& [name, value] : evaluation.values) lines.emplace_back(name, column_number(name, value));
  lines.emplace_back("time", human_duration(evaluation.seconds));
  std::size_t widest = 0;
  for (const auto& [name, value] : lines) widest = std::max(widest, name.size());
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("{:<{}}  {}\n", name, widest, value);
  return text;
}

int run_eval(const EvaluationTarget& target, const GlobalOptions& global) {
  target.check();
  const LocatedModel place = locate_model(target.model, global.runs);
  RunOptions options = evaluation_options(place, target.overrides, WeightsUse::kEval);
  options.data.path = evaluation_data(target.data, place);
  const Evaluation evaluation =
      evaluate_and_record({.place = place, .options = options, .split = target.split}, "eval " + target.split, global);
  update_store(global.runs, global.store_file());
  print(global.json ? eval_as_json(place.name, evaluation) : eval_as_text(place.name, evaluation));
  return kDone;
}

}  // namespace

std::function<int()> declare_eval(CLI::App& app, const GlobalOptions& global) {
  const auto target = std::make_shared<EvaluationTarget>();
  target->declare(app);
  app.footer(
      "Results are recorded with the model's run, whatever the data: columns test.bpc@data.name=… "
      "(docs/numbers.md).\n"
      "A model folder that no run trained gets its own run folder, eval-….\n\n"
      "Examples:\n"
      "  xlm eval adaptive-span-text8-3fa9\n"
      "  xlm eval models/hourglass --data data/text8 --split valid eval.context=1024");
  return [target, &global] { return run_eval(*target, global); };
}

}  // namespace xlm
