// Keeps evaluations in the journals of run folders.
#include "experiments/runs/evaluation_record.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/version.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/run_id.h"
#include "experiments/runs/journal_sink.h"
#include "experiments/runs/process_identity.h"
#include "experiments/runs/submission.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

Json settings_of(const EvaluationRequest& request, const PreparedSummary& data) {
  Json settings = Json::object();
  for (const OptionEntry& entry : option_entries(request.options)) {
    if (entry.affects_result && entry.key.rfind("eval.", 0) == 0) settings[entry.key] = entry.value;
  }
  settings["train.block"] = request.options.train.block;
  settings["data.fingerprint"] = data.fingerprint;
  return settings;
}

/// The folder for evaluations of a model that do not belong to a run of its own: on other data, or with other options
/// of the model than it was trained with. Its name follows from the weights, the model's options and the data.
fs::path measured_folder(const EvaluationRequest& request, const PreparedSummary& data, const std::string& weights,
                         const fs::path& runs) {
  RunOptions plain = request.options;
  plain.eval = {};
  plain.train.block = 0;
  const std::string hash = sha256(fmt::format("{}\n{}\n{}", weights, model_yaml(plain), data.fingerprint));
  return runs / fmt::format("eval-{}-{}-{}", plain.model.type(), folder_name(data.dataset), hash.substr(0, 8));
}

/// The same folder. It is made if it is not there.
fs::path measured_run(const EvaluationRequest& request, const PreparedSummary& data, const fs::path& runs) {
  const std::string weights = weights_sha256(request.place.model);
  const std::string config = model_yaml(request.options);
  fs::path folder = measured_folder(request, data, weights, runs);
  if (fs::exists(folder)) return folder;

  Yaml tree = parse_yaml(config, "model");
  const std::string path = fs::absolute(request.options.data.path).lexically_normal().string();
  tree.set("data.path", from_json(path, "data"));
  const Json environment = {{"xlm", kVersion},
                            {"commit", kCommit},
                            {"dataset", data.dataset},
                            {"language", data.language},
                            {"fingerprint", data.fingerprint},
                            {"model", fs::absolute(request.place.model).lexically_normal().string()},
                            {"model_sha256", weights},
                            {"host", this_process().host}};
  create_run_folder(folder, {.config = to_text(tree),
                             .environment = environment,
                             .records = {{"state", {{"state", "done"}, {"reason", "evaluation of a model folder"}}}}});
  return folder;
}

/// Whether the model comes from a run that was trained on these data and with the options of the model that are asked
/// for.
bool is_of_own_run(const EvaluationRequest& request, const PreparedSummary& data) {
  if (request.place.run.empty()) return false;
  const Run run = read_run(request.place.run);
  if (run.environment.value("fingerprint", "") != data.fingerprint) return false;
  for (const OptionEntry& entry : option_entries(request.options)) {
    if (entry.key.rfind("model.", 0) != 0 || !entry.affects_result || entry.content != OptionContent::kValue) continue;
    const Json* own = run.param(entry.key);
    if (own != nullptr && *own != entry.value) return false;
  }
  return true;
}

void add_experiment(const fs::path& folder, const std::string& experiment) {
  const Run run = read_run(folder);
  if (std::find(run.experiments.begin(), run.experiments.end(), experiment) != run.experiments.end()) return;
  Journal(RunPaths{folder}.journal()).append("experiment", {{"name", experiment}}, true);
}

/// Whether these settings are the run's own. A run's own final evaluations were made with those and do not repeat them.
bool has_settings_of_run(const Run& run, const Json& settings) {
  for (const auto& [key, value] : settings.items()) {
    const Json* own = run.param(key);
    if (own == nullptr ? value != 0 : *own != value) return false;  // an option that came later was 0 before
  }
  return true;
}

}  // namespace

std::optional<RunEvaluation> find_evaluation(const EvaluationRequest& request, const fs::path& runs) {
  const PreparedSummary data = summarize_prepared(request.options.data.path);
  const fs::path folder = is_of_own_run(request, data)
                              ? request.place.run
                              : measured_folder(request, data, weights_sha256(request.place.model), runs);
  if (!fs::exists(RunPaths{folder}.config())) return std::nullopt;
  const Run run = read_run(folder);
  const Json settings = settings_of(request, data);
  for (const RunEvaluation& known : run.evaluations) {
    if (known.split != request.split) continue;
    const bool same =
        known.settings == settings || (known.settings.empty() && known.final && has_settings_of_run(run, settings));
    if (!same) continue;
    if (!request.experiment.empty()) add_experiment(folder, request.experiment);
    return known;
  }
  return std::nullopt;
}

fs::path record_evaluation(const EvaluationRequest& request, Evaluation evaluation, const fs::path& runs) {
  const PreparedSummary data = summarize_prepared(request.options.data.path);
  fs::path folder = is_of_own_run(request, data) ? request.place.run : measured_run(request, data, runs);
  if (!request.experiment.empty()) add_experiment(folder, request.experiment);
  const Run run = read_run(folder);
  const auto is_main = [&](const RunEvaluation& known) { return known.main && known.split == evaluation.split; };
  evaluation.final = std::none_of(run.evaluations.begin(), run.evaluations.end(), is_main);
  if (evaluation.step == 0) evaluation.step = run.step;
  Json record = evaluation_record(evaluation);
  record["settings"] = settings_of(request, data);
  Journal journal(RunPaths{folder}.journal());
  if (!evaluation.trace.values.empty()) journal.append("trace", trace_record(evaluation));
  journal.append("evaluation", record, true);
  Json costs = Json::object();
  for (const auto& [name, value] : evaluation.values) {
    const Quantity* quantity = find_quantity(name);
    const bool is_cost = quantity != nullptr && quantity->by == ReportedBy::kRun;
    if (is_cost && !run.costs.contains(name)) costs[name] = value;
  }
  if (!costs.empty()) journal.append("costs", {{"values", costs}}, true);
  return folder;
}

}  // namespace xlm
