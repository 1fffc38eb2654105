// The data and the split that a command evaluates.
#include "cmd/evaluation_target.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "experiments/configuration/configuration.h"
#include "results/run_folder/run_folder.h"

namespace xlm {

void EvaluationTarget::declare(CLI::App& app) {
  app.add_option("model", model, "Run id, the beginning of it or of its hash, run folder, or model folder")
      ->required()
      ->type_name("MODEL");
  app.add_option("overrides", overrides, "Options of the evaluation: eval.batch=4 device=cpu")->type_name("KEY=VALUE");
  app.add_option("--data", data, "Prepared data folder (default: the data of the run)")->type_name("DIR");
  app.add_option("--split", split, "train, valid or test")->capture_default_str()->type_name("SPLIT");
}

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

void EvaluationTarget::check() const {
  const std::vector<std::string> splits{"train", "valid", "test"};
  if (std::find(splits.begin(), splits.end(), split) == splits.end()) {
    throw UsageError(
        fmt::format("--split is '{}'{}; it must be one of {}", split, did_you_mean(split, splits), join(splits, ", ")));
  }
  for (const std::string& word : overrides) {
    if (word.find('=') != std::string::npos || !fs::exists(word)) continue;
    throw UsageError(fmt::format("'{}' is not KEY=VALUE\nto evaluate other data: --data {}", word, word));
  }
}

}  // namespace xlm
