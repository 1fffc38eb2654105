// xlm eval: the loss of a run or of a model folder on one split.
#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/text.h"
#include "cmd/command.h"
#include "cmd/evaluation_place.h"
#include "cmd/run_results.h"
#include "experiments/configuration.h"
#include "experiments/core_library.h"
#include "experiments/evaluation_record.h"
#include "experiments/store_update.h"
#include "results/run_folder.h"

namespace xlm {
namespace {

struct EvalCommand {
  std::string model;
  std::string data;
  std::string split = "test";
  std::vector<std::string> overrides;
};

std::string as_json(const std::string& model, const Evaluation& evaluation) {
  Json json = {{"model", model}, {"split", evaluation.split}, {"tokens", evaluation.tokens}, {"loss", evaluation.loss}};
  if (evaluation.values.count("bpc") > 0) json["bpc"] = evaluation.values.at("bpc");
  for (const auto& [name, value] : evaluation.values) json[name] = value;
  json["seconds"] = evaluation.seconds;
  return json.dump(2) + "\n";
}

std::string as_text(const std::string& model, const Evaluation& evaluation) {
  std::vector<std::pair<std::string, std::string>> lines{{"model", model},
                                                         {"split", evaluation.split},
                                                         {"tokens", std::to_string(evaluation.tokens)},
                                                         {"loss", fmt::format("{:.5f}", evaluation.loss)}};
  for (const auto& [name, value] : evaluation.values) lines.emplace_back(name, shown_number(value));
  lines.emplace_back("time", human_duration(evaluation.seconds));
  std::size_t widest = 0;
  for (const auto& [name, value] : lines) widest = std::max(widest, name.size());
  std::string text;
  for (const auto& [name, value] : lines) text += fmt::format("{:<{}}  {}\n", name, widest, value);
  return text;
}

int run_eval(const EvalCommand& command, const Context& context) {
  check_split(command.split);
  const ModelPlace place = find_model(command.model, context.runs);
  RunOptions options = read_model_folder(place.model, command.overrides);
  options.data.path = evaluation_data(command.data, place);
  std::unique_ptr<Progress> bar;
  const auto show = [&](double done, double total) {
    const Progress::Settings settings{.label = "eval " + command.split, .total = total, .unit = "tokens"};
    if (!bar && !context.quiet) bar = std::make_unique<Progress>(settings, stderr, context.standard_error);
    if (bar) bar->update(done);
  };
  Evaluation evaluation = core().evaluate({.model = place.model, .options = options, .split = command.split}, show);
  bar.reset();
  evaluation.split = command.split;
  record_evaluation({.place = place, .options = options, .split = command.split}, evaluation, context.runs);
  update_store(context.runs, context.store_file());
  print(context.json ? as_json(place.name, evaluation) : as_text(place.name, evaluation));
  return kDone;
}

}  // namespace

std::function<int()> declare_eval(CLI::App& app, const Context& context) {
  const auto command = std::make_shared<EvalCommand>();
  app.add_option("model", command->model, "Run id or its unique beginning, run folder, or model folder")
      ->required()
      ->type_name("MODEL");
  app.add_option("overrides", command->overrides, "How it is evaluated: eval.batch=4 device=cpu")
      ->type_name("KEY=VALUE");
  app.add_option("--data", command->data, "Prepared data folder (default: what the run was trained on)")
      ->type_name("DIR");
  app.add_option("--split", command->split, "train, valid or test")->capture_default_str()->type_name("SPLIT");
  return [command, &context] { return run_eval(*command, context); };
}

}  // namespace xlm
