// The data that commands evaluate, and evaluating with a bar.
#include "cmd/evaluation_target.h"

#include <memory>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/progress.h"
#include "base/yaml.h"
#include "datasets/prepared/prepared.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/sealed_test.h"
#include "experiments/worker/core_library.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

/// The folder of a run's data may hold others now: what was training may be the test.
void warn_of_new_data(const Run& run, const std::string& data) {
  std::error_code ignored;
  const std::string known = run.environment.value("fingerprint", "");
  const Json* own = run.param("data.path");
  const bool is_own = own != nullptr && own->is_string() && fs::equivalent(own->get<std::string>(), data, ignored);
  if (known.empty() || !is_own || summarize_prepared(data).fingerprint == known) return;
  spdlog::warn(
      "{} was prepared again after {} was trained: this is a number of other data, of which the run may have "
      "seen a part",
      data, run.id);
}

}  // namespace

std::string evaluation_data(const std::string& given, const LocatedModel& place) {
  std::string path = given;
  if (path.empty() && !place.run.empty()) {
    const Yaml config = read_yaml(RunPaths{place.run}.config());
    const Yaml* known = find_path(config, "data.path");
    if (known == nullptr) {
      throw DataError(fmt::format("{} is damaged: data.path is missing\nname the data with --data",
                                  RunPaths{place.run}.config().string()));
    }
    path = known->scalar;
  }
  if (path.empty()) throw UsageError("--data is missing: a prepared data folder (xlm prepare-data)");
  if (fs::is_regular_file(path)) {
    throw DataError(
        fmt::format("{} is a file, not a prepared data folder\nto prepare a text: xlm "
                    "prepare-data text --from {} --out data/{}",
                    path, path, fs::path(path).stem().string()));
  }
  if (!fs::is_directory(path)) {
    throw DataError(
        fmt::format("there is no prepared data folder {}\nmake it with: xlm prepare-data DATASET --from FILES "
                    "--out {}",
                    path, path));
  }
  return path;
}

Evaluation evaluate_and_record(const EvaluationRequest& request, const std::string& label,
                               const GlobalOptions& global) {
  if (!request.place.run.empty()) {
    const Run run = read_run(request.place.run);
    check_is_open(run, request.split);
    warn_of_new_data(run, request.options.data.path);
  }
  std::unique_ptr<Progress> bar;
  const auto show = [&](double done, double total) {
    const Progress::Settings settings{.label = label, .total = total, .unit = "tokens"};
    if (!bar && !global.quiet) bar = std::make_unique<Progress>(settings, stderr, global.standard_error);
    if (bar) bar->update(done);
  };
  Evaluation evaluation =
      core().evaluate({.model = request.place.model, .options = request.options, .split = request.split}, show);
  bar.reset();
  evaluation.split = request.split;
  record_evaluation(request, evaluation, global.runs);
  return evaluation;
}

}  // namespace xlm
