// Records evaluations in the journals of run folders.
#include "experiments/runs/evaluation_record.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/sha256.h"
#include "base/version.h"
#include "datasets/prepared/segmentation.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/run_id.h"
#include "experiments/runs/process_identity.h"
#include "experiments/runs/submission.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/journal.h"
#include "results/run_folder/main_evaluations.h"

namespace xlm {
namespace {

Json settings_of(const EvaluationRequest& request, const PreparedSummary& data) {
  Json settings = Json::object();
  for (const OptionEntry& entry : option_entries(request.options)) {
    if (is_evaluation_setting(entry)) settings[entry.key] = entry.value;
    const std::string name = entry.content == OptionContent::kTokenizer ? entry.value.get<std::string>() : "";
    if (name.empty()) continue;
    const auto file = find_tokenizer(request.options.data.path, name);
    settings[entry.key] = file ? sha256_file(*file) : "";
  }
  // A block that the evaluation does not use belongs to training. A model that no run trained has none.
  if (!uses_option(request.options.model.scheme(), "train.block", TextUse::kEvaluation) && request.place.run.empty())
    settings.erase("train.block");
  settings["data.name"] = data_name(data.dataset, data.language);
  settings["data.fingerprint"] = data.fingerprint;
  return settings;
}

/// The run folder for evaluations of a model that no run trained. How a text is fed to the model does not change it.
fs::path measured_folder(const fs::path& model, const PreparedSummary& data, const fs::path& runs) {
  RunOptions plain = read_model_folder(model, {});
  plain.eval = {};
  plain.train.block = 0;
  std::string content = fmt::format("{}\n{}\n{}\n", weights_sha256(model), model_yaml(plain), data.fingerprint);
  for (const char* vocabulary : {"vocab.json", "tokenizer.json"}) {  // they map the data's symbols to the model's
    if (fs::exists(model / vocabulary)) content += sha256_file(model / vocabulary);
  }
  return runs / ("eval-" + run_name(plain.model.type(), data.dataset, sha256(content)));
}

/// The folder of the request's evaluations. It may not exist yet.
fs::path evaluations_folder(const EvaluationRequest& request, const PreparedSummary& data, const fs::path& runs) {
  if (!request.place.run.empty()) return request.place.run;
  return measured_folder(request.place.model, data, runs);
}

/// Creates the run folder of a model that no run trained, with the settings of the model folder.
void make_measured_run(const fs::path& folder, const EvaluationRequest& request, const PreparedSummary& data) {
  const fs::path model = fs::absolute(request.place.model).lexically_normal();
  Yaml tree = model_part(read_model_folder(model, {}));
  tree.set("data.path", yaml_from_json(fs::absolute(request.options.data.path).lexically_normal().string(), "data"));
  const Json environment = {{"xlm", kVersion},
                            {"commit", kCommit},
                            {"dataset", data.dataset},
                            {"language", data.language},
                            {"fingerprint", data.fingerprint},
                            {"model", model.string()},
                            {"model_sha256", weights_sha256(model)},
                            {"host", this_process().host}};
  create_run_folder(folder, {.config = to_text(tree),
                             .environment = environment,
                             .records = {{"state", {{"state", "done"}, {"reason", "evaluation of a model folder"}}}}});
}

void add_experiment(const Run& run, const std::string& experiment) {
  if (experiment.empty()) return;
  if (contains(run.experiments, experiment)) return;
  Journal(RunPaths{run.folder}.journal()).append("experiment", {{"name", experiment}}, true);
}

/// Whether an evaluation was made with `settings`. The run's own value counts for a setting that it does not record.
/// Data are compared by content, not by name.
bool has_settings(const RunEvaluation& evaluation, const Run& run, const Json& settings) {
  if (!evaluation.final && evaluation.settings.empty()) return false;  // made during training
  for (const auto& [key, value] : settings.items()) {
    if (key == "data.name") continue;
    const auto given = evaluation.settings.find(key);
    const Json own = given != evaluation.settings.end() ? *given : run.own_value(key);
    if (own != value) return false;
  }
  return true;
}

/// The step of the model's weights: that of the final evaluations that training made.
std::int64_t step_of_model(const Run& run) {
  const auto by_training = [](const RunEvaluation& known) { return known.final && known.settings.empty(); };
  const auto final = std::ranges::find_if(run.evaluations, by_training);
  return final != run.evaluations.end() ? final->step : run.step;
}

/// Records the costs that the run's journal does not have yet.
void add_costs(Journal& journal, const Run& run, const Evaluation& evaluation) {
  Json costs = Json::object();
  for (const auto& [name, value] : evaluation.values) {
    const Quantity* quantity = find_quantity(name);
    const bool is_cost = quantity != nullptr && quantity->by == ReportedBy::kRun;
    if (is_cost && !run.costs.contains(name)) costs[name] = value;
  }
  if (!costs.empty()) journal.append("costs", {{"values", costs}}, true);
}

}  // namespace

std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const Run& run) {
  const Json settings = settings_of(request, summarize_prepared(request.options.data.path));
  for (const RunEvaluation& known : run.evaluations) {
    if (known.split == request.split && has_settings(known, run, settings)) return known;
  }
  return std::nullopt;
}

std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const fs::path& runs) {
  const fs::path folder = evaluations_folder(request, summarize_prepared(request.options.data.path), runs);
  if (!fs::exists(RunPaths{folder}.config())) return std::nullopt;
  const Run run = read_run(folder);
  std::optional<RunEvaluation> known = find_evaluation(request, run);
  if (known) add_experiment(run, request.experiment);
  return known;
}

fs::path record_evaluation(const EvaluationRequest& request, Evaluation evaluation, const fs::path& runs,
                           const std::function<void(const Run& run)>& before) {
  const PreparedSummary data = summarize_prepared(request.options.data.path);
  fs::path folder = evaluations_folder(request, data, runs);
  if (request.place.run.empty() && !fs::exists(folder)) make_measured_run(folder, request, data);
  const Run run = read_run(folder);
  add_experiment(run, request.experiment);
  const Json settings = settings_of(request, data);
  const bool own = differing_settings(run, settings).empty();
  if (evaluation.step == 0) evaluation.step = step_of_model(run);
  const auto stays_main = [&](const RunEvaluation& known) {
    const bool is_replaced = known.step == evaluation.step && known.settings == settings;
    return known.main && known.split == evaluation.split && !is_replaced;
  };
  evaluation.final = std::ranges::none_of(run.evaluations, stays_main);
  Json record = evaluation_record(evaluation);
  record["settings"] = settings;
  if (before) {
    Json next = record;
    next.update({{"type", "evaluation"}, {"time", wall_seconds()}});
    before(read_run_with(folder, next));
  }
  Journal journal(RunPaths{folder}.journal());
  if (own && !evaluation.trace.values.empty()) journal.append("trace", trace_record(evaluation));
  if (own && !evaluation.parts.sums.empty()) journal.append("losses", losses_record(evaluation));
  journal.append("evaluation", record, true);
  if (own) add_costs(journal, run, evaluation);
  return folder;
}

void record_evaluation(const Run& run, const Json& settings, Evaluation evaluation, const std::string& doubt) {
  evaluation.step = step_of_model(run);
  evaluation.final = differing_settings(run, settings).empty();
  Json record = evaluation_record(evaluation);
  record["settings"] = settings;
  if (!doubt.empty()) record["doubt"] = doubt;
  Journal(RunPaths{run.folder}.journal()).append("evaluation", record, true);
}

Json evaluation_record(const Evaluation& evaluation) {
  Json record = {{"step", evaluation.step},
                 {"split", evaluation.split},
                 {"final", evaluation.final},
                 {"values", Json(evaluation.values)}};
  // A program may not report these.
  if (evaluation.tokens > 0) record["tokens"] = evaluation.tokens;
  if (!std::isnan(evaluation.loss)) record["loss"] = evaluation.loss;
  if (evaluation.seconds > 0) record["seconds"] = evaluation.seconds;
  if (evaluation.flops > 0) record["flops"] = evaluation.flops;
  return record;
}

Json trace_record(const Evaluation& evaluation) {
  return {{"step", evaluation.step},
          {"split", evaluation.split},
          {"tokens", evaluation.trace.tokens},
          {"values", evaluation.trace.values}};
}

/// Sums are rounded to a ten-thousandth of a nat: there may be thousands of them on the line.
Json losses_record(const Evaluation& evaluation) {
  constexpr double kPieces = 1e4;
  const PartLosses& parts = evaluation.parts;
  Json sums = Json::array();
  for (const double sum : parts.sums) sums.push_back(std::round(sum * kPieces) / kPieces);
  return {{"step", evaluation.step}, {"split", evaluation.split}, {"of", kPartNames[parts.of_documents ? 0 : 1]},
          {"each", parts.each},      {"tokens", parts.tokens},    {"sums", std::move(sums)}};
}

std::string evaluation_text(const Evaluation& evaluation) {
  std::string text = std::isnan(evaluation.loss) ? "" : fmt::format("loss {:.4f}", evaluation.loss);
  std::set<std::string> names;
  for (const auto& [name, value] : evaluation.values) names.insert(name);
  for (const std::string& name : listing_order(names)) {
    const double value = evaluation.values.at(name);
    const Quantity* known = find_quantity(name);
    text += fmt::format("{}{} {}", text.empty() ? "" : "  ", name,
                        known != nullptr ? list_number(*known, value) : shown_number(value));
  }
  return text;
}

}  // namespace xlm
