// xlm eval: the loss of a run or of a model folder on one split. xlm eval-overlap: perplexity by window and overlap
// (Yoshida et al. 2020, §4), with the divisors of the numbers.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/evaluation_target.h"
#include "datasets/prepared/prepared.h"
#include "experiments/runs/evaluation_record.h"
#include "experiments/runs/store_update.h"
#include "experiments/worker/core_library.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

struct EvalCommand {
  std::string model;
  std::vector<std::string> overrides;
  std::string data;
  std::string split = "test";
  std::string experiment;
  std::vector<std::int64_t> windows;
  std::vector<std::int64_t> overlaps{0};
};

void add_eval_options(CLI::App& app, EvalCommand& command) {
  app.add_option("model", command.model, "Run id, the beginning of it or of its hash, run folder, or model folder")
      ->required()
      ->type_name("MODEL");
  app.add_option("overrides", command.overrides, "Options of the evaluation: eval.batch=4 device=cpu")
      ->type_name("KEY=VALUE");
  app.add_option("--data", command.data, "Prepared data folder (default: the data of the run)")->type_name("DIR");
  app.add_option("--split", command.split, "train, valid or test")->capture_default_str()->type_name("SPLIT");
}

/// Throws UsageError if the split is not train, valid or test, or if an override is a path.
void check_asked(const EvalCommand& command) {
  const std::vector<std::string> splits{"train", "valid", "test"};
  if (std::ranges::find(splits, command.split) == splits.end()) {
    throw UsageError(fmt::format("--split is '{}'{}; it must be one of {}", command.split,
                                 did_you_mean(command.split, splits), join(splits, ", ")));
  }
  for (const std::string& word : command.overrides) {
    for (const auto& [key, option] : {std::pair("data.path=", "--data"), std::pair("split=", "--split")}) {
      if (!word.starts_with(key)) continue;
      throw UsageError(
          fmt::format("'{}': this is an option\nwrite {} {}", word, option, word.substr(word.find('=') + 1)));
    }
    if (word.find('=') != std::string::npos || !fs::exists(word)) continue;
    throw UsageError(fmt::format("'{}' is not KEY=VALUE\nto evaluate other data: --data {}", word, word));
  }
}

/// What the command line asks for, but for windows.
EvaluationRequest request_of(const EvalCommand& command, WeightsUse use, const GlobalOptions& global) {
  check_asked(command);
  const LocatedModel place = locate_model(command.model, global.runs);
  EvaluationRequest request{.place = place,
                            .options = evaluation_options(place, command.overrides, use),
                            .split = command.split,
                            .experiment = command.experiment};
  request.options.data.path = evaluation_data(command.data, place);
  return request;
}

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

int run_eval(const EvalCommand& command, const GlobalOptions& global) {
  const EvaluationRequest request = request_of(command, WeightsUse::kEval, global);
  const Evaluation evaluation = evaluate_and_record(request, "eval " + command.split, global);
  update_store(global.runs, global.store_file());
  const std::string& name = request.place.name;
  print(global.json ? eval_as_json(name, evaluation) : eval_as_text(name, evaluation));
  return kDone;
}

/// One window and overlap, measured in one pass.
struct WindowRow {
  std::int64_t window = 0;
  std::int64_t overlap = 0;
  EvaluationRequest request;
  bool known = false;   // measured before
  NamedValues numbers;  // with tokens, loss and seconds
};

/// The options of one window and overlap. Throws UsageError for those that the model cannot have.
void set_windows(RunOptions& options, std::int64_t window, std::int64_t overlap) {
  if (window < 1) throw UsageError(fmt::format("--window {}: a window has at least one token", window));
  if (!options.model.set_windows(window, overlap)) {
    throw UsageError(
        fmt::format("a model of type {} does not read overlapping windows\nuse xlm eval", options.model.type()));
  }
  if (const auto problem = options.model.problem()) throw UsageError(problem->second);
}

void measure(WindowRow& row, std::int64_t symbols, const GlobalOptions& global) {
  if (const auto known = find_evaluation(row.request, global.runs)) row.numbers = known->values;
  const auto has = [&](const char* name) { return row.numbers.contains(name); };
  row.known = has("tokens") && has("loss") && has("seconds");
  if (!row.known) {
    const std::string label = fmt::format("window {} overlap {}", row.window, row.overlap);
    const Evaluation evaluation = evaluate_and_record(row.request, label, global);
    row.numbers = evaluation.values;
    row.numbers["tokens"] = static_cast<double>(evaluation.tokens);
    row.numbers["loss"] = evaluation.loss;
    row.numbers["seconds"] = evaluation.seconds;
  } else if (!has("flops_per_token")) {  // a run's own evaluations do not record it; its costs do
    row.numbers.merge(core().costs(row.request.options, symbols));
  }
}

/// The columns of the table: what papers report for this kind of text, and the cost.
std::vector<const Quantity*> shown_quantities() {
  std::vector<const Quantity*> shown;
  for (const Quantity& quantity : quantities()) {
    if (quantity.headline > 0 && quantity.name != "loss") shown.push_back(&quantity);
  }
  shown.push_back(find_quantity("flops_per_token"));
  return shown;
}

std::string windows_as_json(const std::vector<WindowRow>& rows, std::size_t documents) {
  std::vector<std::string> names{"words", "bytes"};
  for (const Quantity* quantity : shown_quantities()) names.push_back(quantity->name);
  Json list = Json::array();
  for (const WindowRow& row : rows) {
    Json json = {{"window", row.window}, {"overlap", row.overlap}};
    json["tokens"] = static_cast<std::int64_t>(row.numbers.at("tokens"));
    json["loss"] = row.numbers.at("loss");
    for (const std::string& name : names) json[name] = row.numbers.contains(name) ? Json(row.numbers.at(name)) : Json();
    json["seconds"] = row.numbers.at("seconds");
    json["documents"] = documents;
    json["measured_before"] = row.known;
    list.push_back(std::move(json));
  }
  return json_text(list);
}

std::string windows_as_text(const std::vector<WindowRow>& rows, int width) {
  std::vector<const Quantity*> shown = shown_quantities();
  std::erase_if(shown, [&](const Quantity* quantity) {
    return std::ranges::none_of(rows, [&](const WindowRow& row) { return row.numbers.contains(quantity->name); });
  });
  std::vector<TextTable::Column> columns{{"window", true}, {"overlap", true}, {"loss", true}};
  for (const Quantity* quantity : shown) columns.push_back({quantity->head, true});
  columns.push_back({"time", true});
  TextTable table(std::move(columns));
  for (const WindowRow& row : rows) {
    std::vector<std::string> cells{std::to_string(row.window), std::to_string(row.overlap),
                                   fmt::format("{:.5f}", row.numbers.at("loss"))};
    for (const Quantity* quantity : shown) {
      const auto value = row.numbers.find(quantity->name);
      cells.push_back(value == row.numbers.end() ? "–" : list_number(*quantity, value->second));
    }
    cells.push_back(human_duration(row.numbers.at("seconds")) + (row.known ? " (before)" : ""));
    table.add(std::move(cells));
  }
  return table.render(TextTable::Format::kText, width);
}

/// The divisors of a row's numbers.
std::string divisors(const NamedValues& numbers, const Split& split, std::size_t documents) {
  std::string text = fmt::format("scored: {:.0f} of {} tokens", numbers.at("tokens"), split.tokens.size());
  if (numbers.contains("bytes")) text += fmt::format(", {:.0f} of {} bytes", numbers.at("bytes"), split.bytes);
  if (numbers.contains("words") && split.words > 0) {
    text += fmt::format(", {:.10g} of {} words", numbers.at("words"), split.words);
  }
  return text +
         (documents == 1 ? "; one document\n" : fmt::format("; {} documents, each scored separately\n", documents));
}

int run_eval_overlap(const EvalCommand& command, const GlobalOptions& global) {
  const EvaluationRequest request = request_of(command, WeightsUse::kEvalOverlap, global);
  std::vector<WindowRow> rows;
  for (const std::int64_t window : command.windows) {
    for (const std::int64_t overlap : command.overlaps) {
      rows.push_back({.window = window, .overlap = overlap, .request = request});
      set_windows(rows.back().request.options, window, overlap);
    }
  }
  const PreparedData data = open_prepared(request.options.data.path);
  const Split& split = data.split(command.split);
  const std::size_t documents = std::max<std::size_t>(1, split.documents.size());
  for (WindowRow& row : rows) measure(row, data.vocabulary.size(), global);
  update_store(global.runs, global.store_file());
  print(global.json ? windows_as_json(rows, documents)
                    : windows_as_text(rows, global.width()) + divisors(rows.front().numbers, split, documents));
  return kDone;
}

}  // namespace

std::function<int()> declare_eval(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<EvalCommand>();
  add_eval_options(app, *command);
  app.footer(
      "Results are recorded with the model's run, whatever the data: columns test.bpc@data.name=… "
      "(docs/numbers.md).\n"
      "A model folder that no run trained gets its own run folder, eval-….\n\n"
      "Examples:\n"
      "  xlm eval adaptive-span-text8-3fa9\n"
      "  xlm eval models/hourglass --data data/text8 --split valid eval.context=1024");
  return [command, &global] { return run_eval(*command, global); };
}

std::function<int()> declare_eval_overlap(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<EvalCommand>();
  add_eval_options(app, *command);
  app.add_option("--window", command->windows, "Window T in tokens, several separated by commas")
      ->required()
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("T,…");
  app.add_option("--overlap", command->overlaps, "Tokens that a window shares with the one before, 0 to T − 1")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->capture_default_str()
      ->type_name("O,…");
  app.add_option("--experiment", command->experiment, "Show the rows in the tables and figures of this experiment")
      ->type_name("NAME");
  app.footer(
      "Rows that were measured before are not measured again.\n\n"
      "Examples:\n"
      "  xlm eval-overlap gpt2-small --data data/wikitext-103 --window 300 --overlap 0,5,10,30,50\n"
      "  xlm eval-overlap gpt2-small --data data/pg-19 --split valid --window 200,300,400");
  return [command, &global] { return run_eval_overlap(*command, global); };
}

}  // namespace xlm
