// xlm eval-overlap: perplexity by window and overlap (Yoshida et al. 2020, §4), with the divisors of the numbers.
#include <algorithm>
#include <memory>

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

struct EvalOverlapOptions {
  EvaluationTarget target;
  std::string experiment;
  std::vector<std::int64_t> windows;
  std::vector<std::int64_t> overlaps{0};
};

/// One window and overlap, measured in one pass.
struct Row {
  std::int64_t window = 0;
  std::int64_t overlap = 0;
  std::int64_t tokens = 0;
  double loss = 0;
  double seconds = 0;
  bool known = false;  // measured before
  std::map<std::string, double> values;
};

/// The split's sizes, from the data folder.
struct Counts {
  std::int64_t all_tokens = 0;
  std::int64_t words = 0;
  std::int64_t bytes = 0;
  std::int64_t documents = 0;
  std::int64_t symbols = 0;
};

Counts count(const RunOptions& options, const std::string& split) {
  const PreparedData data = open_prepared(options.data.path);
  const Split& chosen = data.split(split);
  return {.all_tokens = chosen.tokens.size(),
          .words = chosen.words,
          .bytes = chosen.bytes,
          .documents = std::max<std::int64_t>(1, static_cast<std::int64_t>(chosen.documents.size())),
          .symbols = data.vocabulary.size()};
}

/// The options of one window and overlap. Throws UsageError for those that the model cannot have.
RunOptions options_of(RunOptions options, std::int64_t window, std::int64_t overlap) {
  if (window < 1) throw UsageError(fmt::format("--window {}: a window has at least one token", window));
  if (!options.model.set_windows(window, overlap)) {
    throw UsageError(
        fmt::format("a model of type {} does not read overlapping windows\nuse xlm eval", options.model.type()));
  }
  if (const auto problem = options.model.problem()) throw UsageError(problem->second);
  return options;
}

Row measure(const GlobalOptions& global, const EvaluationRequest& request, const Counts& counts, std::int64_t window,
            std::int64_t overlap) {
  const auto known = find_evaluation(request, global.runs);
  const auto has = [&](const char* name) { return known->values.contains(name); };
  if (known && has("tokens") && has("loss") && has("seconds")) {
    Row row{.window = window, .overlap = overlap, .known = true, .values = known->values};
    row.tokens = static_cast<std::int64_t>(known->values.at("tokens"));
    row.loss = known->values.at("loss");
    row.seconds = known->values.at("seconds");
    if (row.values.count("flops_per_token") == 0) {  // a run's own evaluations do not record it; its costs do
      row.values.merge(core().costs(request.options, counts.symbols));
    }
    return row;
  }
  const Evaluation evaluation =
      evaluate_and_record(request, fmt::format("window {} overlap {}", window, overlap), global);
  return {.window = window,
          .overlap = overlap,
          .tokens = evaluation.tokens,
          .loss = evaluation.loss,
          .seconds = evaluation.seconds,
          .known = false,
          .values = {evaluation.values.begin(), evaluation.values.end()}};
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

Json value_or_null(const Row& row, const std::string& name) {
  const auto value = row.values.find(name);
  return value == row.values.end() ? Json() : Json(value->second);
}

std::string overlaps_as_json(const std::vector<Row>& rows, const Counts& counts) {
  Json list = Json::array();
  for (const Row& row : rows) {
    Json json = {{"window", row.window}, {"overlap", row.overlap}, {"tokens", row.tokens}, {"loss", row.loss}};
    for (const char* name : {"words", "bytes"}) json[name] = value_or_null(row, name);
    for (const Quantity* quantity : shown_quantities()) json[quantity->name] = value_or_null(row, quantity->name);
    json["seconds"] = row.seconds;
    json["documents"] = counts.documents;
    json["measured_before"] = row.known;
    list.push_back(std::move(json));
  }
  return json_text(list);
}

std::string overlaps_as_text(const std::vector<Row>& rows, int width) {
  std::vector<const Quantity*> shown = shown_quantities();
  std::erase_if(shown, [&](const Quantity* quantity) {
    return std::ranges::none_of(rows, [&](const Row& row) { return row.values.contains(quantity->name); });
  });
  std::vector<TextTable::Column> columns{{"window", true}, {"overlap", true}, {"loss", true}};
  for (const Quantity* quantity : shown) columns.push_back({quantity->head, true});
  columns.push_back({"time", true});
  TextTable table(std::move(columns));
  for (const Row& row : rows) {
    std::vector<std::string> cells{std::to_string(row.window), std::to_string(row.overlap),
                                   fmt::format("{:.5f}", row.loss)};
    for (const Quantity* quantity : shown) {
      const auto value = row.values.find(quantity->name);
      cells.push_back(value == row.values.end() ? "–" : list_number(*quantity, value->second));
    }
    cells.push_back(human_duration(row.seconds) + (row.known ? " (before)" : ""));
    table.add(std::move(cells));
  }
  return table.render(TextTable::Format::kText, width);
}

/// The divisors of a row's numbers.
std::string divisors(const Row& row, const Counts& counts) {
  std::string text = fmt::format("{} of {} tokens", row.tokens, counts.all_tokens);
  if (const auto bytes = row.values.find("bytes"); bytes != row.values.end()) {
    text += fmt::format(", {:.0f} of {} bytes", bytes->second, counts.bytes);
  }
  if (const auto words = row.values.find("words"); words != row.values.end() && counts.words > 0) {
    text += fmt::format(", {:.10g} of {} words", words->second, counts.words);
  }
  return text;
}

std::string convention(const std::vector<Row>& rows, const Counts& counts) {
  return fmt::format(
      "scored: {}; {}\n", divisors(rows.front(), counts),
      counts.documents == 1 ? "one document" : fmt::format("{} documents, each scored separately", counts.documents));
}

int run_eval_overlap(const EvalOverlapOptions& command, const GlobalOptions& global) {
  command.target.check();
  const LocatedModel place = locate_model(command.target.model, global.runs);
  RunOptions options = evaluation_options(place, command.target.overrides, WeightsUse::kEvalOverlap);
  options.data.path = evaluation_data(command.target.data, place);
  std::vector<EvaluationRequest> requests;
  std::vector<std::pair<std::int64_t, std::int64_t>> shapes;
  for (const std::int64_t window : command.windows) {
    for (const std::int64_t overlap : command.overlaps) {
      requests.push_back({.place = place,
                          .options = options_of(options, window, overlap),
                          .split = command.target.split,
                          .experiment = command.experiment});
      shapes.emplace_back(window, overlap);
    }
  }
  const Counts counts = count(options, command.target.split);
  std::vector<Row> rows;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    rows.push_back(measure(global, requests[i], counts, shapes[i].first, shapes[i].second));
  }
  update_store(global.runs, global.store_file());
  if (global.json) {
    print(overlaps_as_json(rows, counts));
    return kDone;
  }
  print(overlaps_as_text(rows, global.standard_output.is_terminal ? global.standard_output.width : 0));
  print(convention(rows, counts));
  return kDone;
}

}  // namespace

std::function<int()> declare_eval_overlap(CLI::App& app, const GlobalOptions& global) {
  const auto command = std::make_shared<EvalOverlapOptions>();
  command->target.declare(app);
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
