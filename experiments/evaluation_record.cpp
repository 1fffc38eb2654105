// Where the evaluations that people ask for are kept.
#include "experiments/evaluation_record.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/sha256.h"
#include "base/version.h"
#include "experiments/configuration.h"
#include "experiments/journal_sink.h"
#include "experiments/process.h"
#include "experiments/submission.h"

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

/// The run folder of a model that was measured on data that no run of it was trained on.
fs::path measured_run(const EvaluationRequest& request, const PreparedSummary& data, const fs::path& runs) {
  const std::string weights = sha256_file(request.place.model / "model.safetensors");
  const std::string config = model_yaml(request.options);
  RunOptions plain = request.options;
  plain.eval = {};
  plain.train.block = 0;
  const std::string hash = sha256(fmt::format("{}\n{}\n{}", weights, model_yaml(plain), data.fingerprint));
  fs::path folder =
      runs / fmt::format("eval-{}-{}-{}", model_type(plain.model), folder_name(data.dataset), hash.substr(0, 8));
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

}  // namespace

fs::path record_evaluation(const EvaluationRequest& request, Evaluation evaluation, const fs::path& runs) {
  const PreparedSummary data = summarize_prepared(request.options.data.path);
  fs::path folder = request.place.run;
  if (folder.empty() || read_run(folder).environment.value("fingerprint", "") != data.fingerprint) {
    folder = measured_run(request, data, runs);
  }
  const Run run = read_run(folder);
  const auto is_main = [&](const RunEvaluation& known) { return known.main && known.split == evaluation.split; };
  evaluation.final = std::none_of(run.evaluations.begin(), run.evaluations.end(), is_main);
  if (evaluation.step == 0) evaluation.step = run.step;
  Json record = evaluation_record(evaluation);
  record["settings"] = settings_of(request, data);
  Journal journal(RunPaths{folder}.journal());
  if (!evaluation.trace.values.empty()) journal.append("trace", trace_record(evaluation));
  journal.append("evaluation", record, true);
  return folder;
}

}  // namespace xlm
