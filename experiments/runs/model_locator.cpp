// Finds the run or model that a user names, and the options to evaluate it with.
#include "experiments/runs/model_locator.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/run_id.h"
#include "experiments/runs/live_run.h"
#include "experiments/runs/machine_resources.h"
#include "experiments/runs/run_checkpoints.h"

namespace xlm {
namespace {

bool has_journal(const fs::path& path) { return fs::is_regular_file(RunPaths{path}.journal()); }

/// Ids of all runs, sorted.
std::vector<std::string> all_runs(const fs::path& runs) {
  std::vector<std::string> ids;
  for (const fs::directory_entry& entry : entries_in(runs)) {
    const std::string name = entry.path().filename().string();
    if (name.front() != '.' && has_journal(entry.path())) ids.push_back(name);
  }
  return ids;
}

/// The folder of the only run that `text` can mean.
fs::path run_called(const std::string& text, const fs::path& runs) {
  const std::vector<std::string> ids = all_runs(runs);
  const std::vector<std::string> matches = ids_called(text, ids);
  if (matches.size() == 1) return runs / matches.front();
  if (matches.size() > 1) {
    constexpr std::size_t kShown = 5;
    throw UsageError(fmt::format("'{}' may be several runs: {}", text, some_listed(matches, kShown)));
  }
  throw DataError(fmt::format("there is no run or model folder '{}'{}\n'xlm runs ls' lists the runs of {}", text,
                              did_you_mean(text, ids), runs.string()));
}

LocatedModel model_of_run(const fs::path& folder, ModelTense tense) {
  const RunPaths run{fs::absolute(folder).lexically_normal()};
  if (!fs::is_directory(run.model()) && fs::is_regular_file(run.environment())) {
    // The run folder of an evaluation holds no weights but names the model folder that has them.
    const std::string elsewhere = read_json_object(run.environment()).value("model", "");
    if (!elsewhere.empty()) return {elsewhere, "", elsewhere};
  }
  if (!fs::is_directory(run.model())) {
    const std::string id = run.folder.filename().string();
    const Run live = read_live_run(run.folder);
    refuse_imported(live);
    const RunStatus status = live.status;
    if (tense == ModelTense::kFuture && status != RunStatus::kDone) return {run.model(), run.folder, id};
    if (status == RunStatus::kDone) {
      throw DataError(fmt::format(
          "the model of {} is not here: the run was packed or copied without it\non the machine that trained it: "
          "xlm runs pack {} --models --out FILE.tar.zst\nhere: xlm runs merge FILE.tar.zst",
          id, id));
    }
    throw DataError(
        fmt::format("the run {} has no model yet: it is {}\nrun its train or sweep command again to finish it", id,
                    name_of(status)));
  }
  return {run.model(), run.folder, run.folder.filename().string()};
}

LocatedModel checkpoint_of_run(const fs::path& run, std::int64_t step) {
  const fs::path folder = fs::absolute(run).lexically_normal();
  return {checkpoint_file(folder, step), folder, fmt::format("{}@{}", folder.filename().string(), step)};
}

}  // namespace

std::optional<fs::path> run_folder_of(const std::string& text, const fs::path& runs) {
  const fs::path given = fs::path(text).has_filename() ? fs::path(text) : fs::path(text).parent_path();
  if (text.empty() || !fs::is_directory(given)) return fs::absolute(run_called(text, runs)).lexically_normal();
  const fs::path folder = fs::absolute(given).lexically_normal();
  if (has_journal(folder)) return folder;
  if (folder.filename() == "model" && has_journal(folder.parent_path())) return folder.parent_path();
  return std::nullopt;
}

LocatedModel locate_weights(const std::string& text, const fs::path& runs, ModelTense tense) {
  if (const std::int64_t step = step_of_checkpoint(text); step >= 0) {
    const fs::path folder = fs::absolute(text).lexically_normal().parent_path();
    if (folder.filename() == kCheckpointFolder) return checkpoint_of_run(folder.parent_path(), step);
    throw UsageError(
        fmt::format("model.init_from: {} is not in the checkpoints of a run, so its symbols are not known\n"
                    "name it where its run has saved it, or as RUN@{}",
                    text, step));
  }
  std::int64_t step = 0;
  const std::size_t at = text.rfind('@');
  if (at != std::string::npos && !fs::exists(text) && parse_integer(text.substr(at + 1), step)) {
    const std::optional<fs::path> run = run_folder_of(text.substr(0, at), runs);
    if (run) return checkpoint_of_run(*run, step);
  }
  if (tense == ModelTense::kPresent) {
    const std::optional<fs::path> run = run_folder_of(text, runs);
    if (run && !fs::is_directory(RunPaths{*run}.model()) && read_live_run(*run).status != RunStatus::kDone) {
      const std::vector<std::int64_t> steps = checkpoint_steps(*run);
      if (!steps.empty()) return checkpoint_of_run(*run, steps.back());
    }
  }
  return locate_model(text, runs, tense);
}

LocatedModel locate_model(const std::string& text, const fs::path& runs, ModelTense tense) {
  const fs::path given = fs::path(text).has_filename() ? fs::path(text) : fs::path(text).parent_path();
  if (text.empty() || !fs::is_directory(given)) return model_of_run(run_called(text, runs), tense);
  if (has_journal(given)) return model_of_run(given, tense);
  const fs::path parent = fs::absolute(given).lexically_normal().parent_path();
  if (given.filename() == "model" && has_journal(parent)) return model_of_run(parent, tense);
  if (!fs::is_regular_file(given / "config.yaml") && !fs::is_regular_file(given / "config.json")) {
    throw DataError(fmt::format(
        "{} is neither a run nor a model folder: it has no journal.jsonl, config.yaml or config.json", given.string()));
  }
  return {given, "", text};
}

RunOptions evaluation_options(const LocatedModel& place, const std::vector<std::string>& overrides, WeightsUse use) {
  const Yaml run = place.run.empty() ? Yaml() : read_yaml(RunPaths{place.run}.config());
  std::vector<std::string> all;
  for (const char* key : {"train.precision", "train.tf32"}) {
    if (const Yaml* own = find_path(run, key)) all.push_back(fmt::format("{}={}", key, own->scalar));
  }
  all.insert(all.end(), overrides.begin(), overrides.end());
  RunOptions options = read_model_folder(place.model, all, use);
  check_threads(options.train.threads);
  // A model that samples draws the same numbers as in its own evaluation.
  if (const Yaml* seed = find_path(run, "seed")) parse_integer(seed->scalar, options.seed);
  return options;
}

}  // namespace xlm
