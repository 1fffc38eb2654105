#include "results/run_folder/main_evaluations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "results/run_folder/imported.h"

namespace xlm {
namespace {

/// Whether an evaluation's setting differs from the default, for a run that does not configure it: a measured model
/// folder has only options of the model. False for what is no option of runs.
bool differs_from_default(const std::string& key, const Json& value) {
  static const Json defaults = {{"train.precision", "float32"}, {"train.tf32", false}, {"eval.first_token", "skip"}};
  if (defaults.contains(key)) return defaults.at(key) != value;
  return key.starts_with("eval.") && value.is_number() && value != 0;
}

/// A program may report the quantities of a split at several steps, and a tracker has them so: each has its last value,
/// a final one if there is one, or none if that is not finite.
std::map<std::string, double> carried_of(const Run& run, const RunEvaluation& main) {
  std::map<std::string, std::pair<std::tuple<bool, std::int64_t, double>, double>> last;
  for (const RunEvaluation& other : run.evaluations) {
    const bool counts = other.split == main.split && other.at.empty() && (other.final || other.settings.empty());
    if (!counts || &other == &main) continue;
    std::map<std::string, double> numbers = other.values;
    for (const std::string& name : other.not_finite) numbers.emplace(name, std::numeric_limits<double>::quiet_NaN());
    for (const auto& [name, value] : numbers) {
      if (main.values.contains(name) || main.not_finite.contains(name)) continue;
      const std::tuple place(other.final, other.step, other.time);
      const auto [known, is_first] = last.try_emplace(name, place, value);
      if (!is_first && place >= known->second.first) known->second = {place, value};
    }
  }
  std::map<std::string, double> carried;
  for (const auto& [name, found] : last) {
    if (!std::isnan(found.second)) carried[name] = found.second;
  }
  return carried;
}

/// Of a program, or imported.
bool is_of_others(const Run& run) {
  const Json* type = run.param("model.type");
  return is_of_program(run) || (type != nullptr && *type == kImportedType);
}

}  // namespace

SettingList differing_settings(const Run& run, const Json& settings) {
  SettingList differing;
  const bool of_others = is_of_others(run);
  for (const auto& [key, value] : settings.items()) {
    if (key == kEvaluationCommand) continue;
    const Json own = run.own_value(key);
    const bool differs = !own.is_null() ? own != value : of_others || differs_from_default(key, value);
    if (differs) differing.emplace_back(key, value);
  }
  std::ranges::sort(differing);
  const auto is_name = [](const auto& setting) { return setting.first == "data.name"; };
  if (std::ranges::any_of(differing, is_name)) {
    std::erase_if(differing, [&](const auto& setting) {
      return setting.first == "data.fingerprint" || run.contents.contains(setting.first);
    });
  }
  return differing;
}

void choose_main_evaluations(Run& run) {
  std::map<std::string, RunEvaluation*> newest;
  for (RunEvaluation& evaluation : run.evaluations) {
    evaluation.at = differing_settings(run, evaluation.settings);
    if (!evaluation.final || !evaluation.at.empty()) continue;
    RunEvaluation*& best = newest[evaluation.split];
    // That by a program's second command takes the place of what training said, also if that is read again later.
    const auto place = [](const RunEvaluation& one) {
      return std::pair(one.settings.contains(kEvaluationCommand), one.time);
    };
    if (best == nullptr || place(evaluation) >= place(*best)) best = &evaluation;
  }
  for (const auto& [split, evaluation] : newest) {
    evaluation->main = true;
    if (is_of_others(run)) evaluation->carried = carried_of(run, *evaluation);
  }
}

}  // namespace xlm
