// The sides of a try.
#include "experiments/sweeps/try_side.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/program_inputs.h"
#include "results/run_folder/run_folder.h"

namespace xlm {
namespace {

constexpr const char* kCodeKey = "program.folder";  // of RunInputs::contents
constexpr const char* kDataKey = "data";
/// Numbers of sides that differ in these measure more than a change.
const std::set<std::string>& conditions_of_runs() {
  static const std::set<std::string> keys{kDataKey, "device", "train.threads", "train.processes"};
  return keys;
}

using TextByKey = std::map<std::string, std::string>;

TextByKey compared_values(const PlannedRun& run) {
  TextByKey values;
  for (const OptionEntry& entry : option_entries(run.options)) {
    const bool is_value = entry.content == OptionContent::kValue && entry.affects_result;
    if (entry.key != "seed" && (is_value || conditions_of_runs().contains(entry.key))) {
      values[entry.key] = entry.value.dump();
    }
  }
  for (const auto& [key, content] : run.inputs.contents) values[key] = content;
  values[kDataKey] = run.inputs.data.fingerprint;
  return values;
}

/// "code (model.py and train.py)".
std::string changed_code(const PlannedRun& change, const PlannedRun& base) {
  TextByKey before;
  std::vector<std::string> names;
  if (!change.inputs.code || !base.inputs.code) return "code";
  for (const CodeFile& file : base.inputs.code->files) before[file.path] = file.content;
  for (const CodeFile& file : change.inputs.code->files) {
    const auto found = before.find(file.path);
    if (found == before.end() || found->second != file.content) names.push_back(file.path);
    if (found != before.end()) before.erase(found);
  }
  for (const auto& [path, content] : before) names.push_back(path);
  std::ranges::sort(names);
  return names.empty() ? "code" : fmt::format("code ({})", listed_names(names, 3));
}

}  // namespace

Yaml configuration_of_run(const fs::path& run_folder, const std::vector<std::string>& overrides) {
  const RunPaths paths{run_folder};
  Yaml tree = configuration_of(read_yaml(paths.config()), paths.config(), "", overrides);
  const Run run = read_run(run_folder);
  const std::string* const code = find_in(run.contents, kCodeKey);
  if (code == nullptr) return tree;
  const fs::path place = frozen_programs(run_folder.parent_path());
  check_frozen_code(place, *code);
  const std::string source = paths.config().string();
  tree.set(kCodeKey, make_scalar(code_folder(place, *code).string(), source));
  tree.set("program.code", yaml_from_json({"**"}, source));
  return tree;
}

std::vector<SweepRun> runs_with_seeds(const Recipe& recipe, const std::vector<std::int64_t>& seeds,
                                      const fs::path& runs, const ChooseValue& choose) {
  Recipe seeded = recipe;
  seeded.points.clear();
  for (const std::int64_t seed : seeds) {
    seeded.points.push_back({{"seed", make_scalar(std::to_string(seed), "the seeds of a try")}});
  }
  return plan_sweep(seeded, runs, false, {.choose = choose});
}

std::vector<std::string> what_changes(const PlannedRun& change, const PlannedRun& base) {
  const TextByKey a = compared_values(change);
  TextByKey b = compared_values(base);
  std::vector<std::string> differ_in;
  std::vector<std::string> conditions;
  const auto note = [&](const std::string& key) {
    (conditions_of_runs().contains(key) ? conditions : differ_in)
        .push_back(key == kCodeKey ? changed_code(change, base) : key);
  };
  for (const auto& [key, value] : a) {
    const auto other = b.find(key);
    if (other == b.end() || other->second != value) note(key);
    if (other != b.end()) b.erase(other);
  }
  for (const auto& [key, value] : b) note(key);
  if (differ_in.empty()) return conditions;
  if (conditions.empty()) return differ_in;
  throw UsageError(
      fmt::format("the sides differ in {}, and in {} too\n"
                  "give both the same {}, or change nothing else",
                  listed_names(differ_in, 5), listed_names(conditions, 5), listed_names(conditions, 5)));
}

}  // namespace xlm
