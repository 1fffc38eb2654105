// From options to runs.
#include "experiments/runs/run_plan.h"

#include "datasets/prepared/segmentation.h"
#include "experiments/configuration/configuration.h"
#include "experiments/runs/model_locator.h"

namespace xlm {
namespace {

std::string absolute_name(const fs::path& path) { return fs::absolute(path).lexically_normal().string(); }

/// A worker may be started in another folder than the one that a tokenizer's file was named from.
RunOptions with_absolute_tokenizers(const RunOptions& options) {
  Yaml tree = resolved(options);
  bool changed = false;
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.content != OptionContent::kTokenizer) continue;
    const auto name = entry.value.get<std::string>();
    if (find_tokenizer(options.data.path, name) != name) continue;  // a segmentation's name, or nothing: said later
    tree.set(entry.key, from_json(absolute_name(name), "absolute path"));
    changed = true;
  }
  return changed ? read_run_options(tree) : options;
}

}  // namespace

PlannedRun Planner::plan(RunOptions options) {
  options.data.path = absolute_name(options.data.path);
  if (!options.init_from.empty()) options.init_from = absolute_name(locate_model(options.init_from, runs_).model);
  if (const std::string folder = options.model.pretrained().value_or(""); !folder.empty()) {
    options.model.set_pretrained(absolute_name(folder));
  }
  options = with_absolute_tokenizers(options);
  std::string key = options.data.path;
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.content != OptionContent::kValue) key += "\n" + entry.value.get<std::string>();
  }
  auto known = inputs_.find(key);
  if (known == inputs_.end()) known = inputs_.emplace(key, read_inputs(options)).first;
  const std::string id = run_id(options, known->second);
  return {std::move(options), known->second, {runs_ / id}};
}

}  // namespace xlm
