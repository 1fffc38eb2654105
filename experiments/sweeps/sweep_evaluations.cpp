// Reads `evaluate` of a sweep's file.
#include "experiments/sweeps/sweep_evaluations.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/sweep_conditions.h"

namespace xlm {
namespace {

constexpr std::size_t kMaximumEvaluations = 10'000;  // of one run
constexpr std::array<std::string_view, 3> kSplitNames{"train", "valid", "test"};

/// Every key that an evaluation may set.
std::vector<std::string> evaluation_keys() {
  std::set<std::string> keys{"split", "data.path", "where"};
  for (std::size_t model = 0; model < model_types().size(); ++model) {
    for (const OptionEntry& entry : option_entries(default_run_options(model))) {
      if (is_evaluation_setting(entry)) keys.insert(entry.key);
    }
  }
  return {keys.begin(), keys.end()};
}

void check_split(const Yaml& value) {
  const std::string name = scalar_text(value, "split");
  const std::vector<std::string> names(kSplitNames.begin(), kSplitNames.end());
  if (std::find(names.begin(), names.end(), name) != names.end()) return;
  fail_at(value,
          fmt::format("split is '{}'{}; it must be one of {}", name, did_you_mean(name, names), join(names, ", ")));
}

/// The values of one key of a block.
std::vector<Yaml> values_of_setting(const std::string& key, const Yaml& node, const std::vector<std::string>& known) {
  if (std::find(known.begin(), known.end(), key) == known.end()) {
    fail_at(node, fmt::format("an evaluation cannot change '{}'{}\nit can change {}", key, did_you_mean(key, known),
                              join(known, ", ")));
  }
  std::vector<Yaml> values = node.is_sequence() ? node.items : std::vector<Yaml>{node};
  if (values.empty()) fail_at(node, fmt::format("the list of values of '{}' is empty", key));
  for (const Yaml& value : values) {
    if (!value.is_scalar()) fail_at(value, fmt::format("'{}' must be a value, or a list of values", key));
    if (key == "split") check_split(value);
  }
  return values;
}

/// Adds one more key to every point: one point for each value.
std::vector<SweepPoint> times(const std::vector<SweepPoint>& points, const std::string& key,
                              const std::vector<Yaml>& values) {
  std::vector<SweepPoint> result;
  for (const SweepPoint& point : points) {
    for (const Yaml& value : values) {
      result.push_back(point);
      result.back().emplace_back(key, value);
    }
  }
  return result;
}

/// The absolute folder of the data.
std::string data_folder(const Yaml& value) {
  const std::string given = scalar_text(value, "data.path");
  std::string folder = fs::absolute(given).lexically_normal().string();
  if (fs::is_directory(folder)) {
    summarize_prepared(folder);  // fails if it is none
    return folder;
  }
  throw DataError(
      fmt::format("{}: data.path: there is no prepared data folder {}\n"
                  "make it with: xlm prepare-data DATASET --from FILES --out {}",
                  value.where(), given, given));
}

/// One point of a block for a run with the resolved configuration `run`.
WantedEvaluation wanted_at(const SweepPoint& point, Yaml run) {
  WantedEvaluation wanted{.split = "test", .changes = {}};
  for (const auto& [key, value] : point) {
    if (key == "split") {
      wanted.split = value.scalar;
    } else if (key == "data.path") {
      wanted.changes.emplace_back(key, data_folder(value));
    } else {
      run.set(key, value);
      wanted.changes.emplace_back(key, to_json(value));
    }
  }
  read_run_options(run);  // fails if the settings do not suit the model
  std::sort(wanted.changes.begin(), wanted.changes.end());
  return wanted;
}

}  // namespace

SweepEvaluations::SweepEvaluations(const Yaml& tree) {
  const Yaml* node = tree.find("evaluate");
  if (node == nullptr || node->is_null()) return;
  const std::vector<std::string> known = evaluation_keys();
  for (const Yaml& map : node->is_sequence() ? node->items : std::vector<Yaml>{*node}) {
    if (!map.is_map()) fail_at(map, "evaluate must be a map of settings to values, or a list of such maps");
    Block block{.where = {}, .points = {SweepPoint{}}};
    for (const auto& [key, value] : map.entries) {
      if (value.is_null()) continue;  // a profile removes it like this
      if (key == "where") {
        if (!value.is_map()) fail_at(value, "'where' must be a map of keys to values, such as {model.type: gpt2}");
        block.where = value.entries;
        continue;
      }
      block.points = times(block.points, key, values_of_setting(key, value, known));
      if (block.points.size() > kMaximumEvaluations) {
        fail_at(map, fmt::format("a run has more than {} evaluations", kMaximumEvaluations));
      }
    }
    blocks_.push_back(std::move(block));
  }
}

bool SweepEvaluations::is_about(const Block& block, const Yaml& run) {
  bool holds = true;
  for (const auto& [key, wanted] : block.where) {
    const Yaml* value = find_path(run, key);
    if (value != nullptr) seen_keys_.insert(key);
    const std::vector<Yaml> choices = wanted.is_sequence() ? wanted.items : std::vector<Yaml>{wanted};
    holds = holds && value != nullptr && std::any_of(choices.begin(), choices.end(), [&](const Yaml& choice) {
              const bool is_name = value->quoted && choice.scalar == value->scalar;  // a quoted name, perhaps of digits
              return is_name || is_same_value(choice, *value);
            });
  }
  return holds;
}

std::vector<WantedEvaluation> SweepEvaluations::of(const PlannedRun& run) {
  std::vector<WantedEvaluation> result;
  if (blocks_.empty()) return result;
  const Yaml configuration = resolved(run.options);
  const std::vector<SweepPoint> changes = changes_for(configuration);
  if (run.options.program && !changes.empty()) {
    throw UsageError(
        "evaluate applies to models, and a program evaluates itself\n"
        "add `where: {model.type: …}` to `evaluate`, or let the program report what you want");
  }
  for (const SweepPoint& point : changes) {
    WantedEvaluation wanted = wanted_at(point, configuration);
    if (std::find(result.begin(), result.end(), wanted) == result.end()) result.push_back(std::move(wanted));
  }
  return result;
}

std::vector<SweepPoint> SweepEvaluations::changes_for(const Yaml& run) {
  std::vector<SweepPoint> changes;
  for (const Block& block : blocks_) {
    if (is_about(block, run)) changes.insert(changes.end(), block.points.begin(), block.points.end());
  }
  return changes;
}

void SweepEvaluations::check_conditions() const {
  for (const Block& block : blocks_) {
    for (const auto& [key, value] : block.where) {
      if (seen_keys_.contains(key)) continue;
      fail_at(value, fmt::format("'where' of evaluate names '{}', which no run of the sweep has", key));
    }
  }
}

}  // namespace xlm
