// Reads `evaluate` of a sweep's file.
#include "experiments/sweeps/sweep_evaluations.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "experiments/configuration/evaluation_command.h"
#include "experiments/configuration/program_inputs.h"
#include "experiments/sweeps/sweep_conditions.h"

namespace xlm {
namespace {

constexpr std::size_t kMaximumEvaluations = 10'000;  // of one run
constexpr std::array<std::string_view, 3> kSplitNames{"train", "valid", "test"};
constexpr std::string_view kOptionPrefix = "options.";

/// Every key that an evaluation by core may set.
std::vector<std::string> evaluation_keys() {
  std::set<std::string> keys{"split", "data.path", "where"};
  for (std::size_t model = 0; model < model_types().size(); ++model) {
    for (const OptionEntry& entry : option_entries(default_run_options(model))) {
      if (is_evaluation_setting(entry)) keys.insert(entry.key);
    }
  }
  return {keys.begin(), keys.end()};
}

/// Every key that an evaluation by a program may set, besides options.
const std::vector<std::string>& keys_of_program() {
  static const std::vector<std::string> keys{"code", "command",     "data.path", "metrics",
                                             "name", "options.KEY", "split",     "where"};
  return keys;
}

void check_split(const Yaml& value) {
  const std::string name = scalar_text(value, "split");
  const std::vector<std::string> names(kSplitNames.begin(), kSplitNames.end());
  if (contains(names, name)) return;
  fail_at(value,
          fmt::format("split is '{}'{}; it must be one of {}", name, did_you_mean(name, names), join(names, ", ")));
}

/// The values of one key of a block.
std::vector<Yaml> values_of_setting(const std::string& key, const Yaml& node, const std::vector<std::string>& known) {
  const bool option = key.starts_with(kOptionPrefix) && known == keys_of_program();
  if (option) check_option_name(node, key.substr(kOptionPrefix.size()));
  if (!option && !contains(known, key)) {
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

bool is_program(const Yaml& run) {
  const Yaml* type = find_path(run, "model.type");
  return type != nullptr && type->scalar == kProgramType;
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
  std::ranges::sort(wanted.changes);
  return wanted;
}

EvaluationBlock read_block(const Yaml& map) {
  EvaluationBlock block{.where = {}, .points = {SweepPoint{}}};
  const Yaml* command = map.given("command");
  const bool by_program = command != nullptr;
  if (by_program) {
    block.command = *command;
    block.program = read_evaluation_command(map);
  }
  const std::vector<std::string> known = by_program ? keys_of_program() : evaluation_keys();
  for (const auto& [key, value] : map.entries) {
    if (value.is_null()) continue;  // a profile removes it like this
    if (by_program && (key == "code" || key == "command" || key == "metrics" || key == "name")) continue;
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
  return block;
}

}  // namespace

std::vector<EvaluationBlock> read_evaluations(const Yaml& configuration) {
  std::vector<EvaluationBlock> blocks;
  const Yaml* node = configuration.given("evaluate");
  if (node == nullptr) return blocks;
  for (const Yaml& map : node->is_sequence() ? node->items : std::vector<Yaml>{*node}) {
    if (!map.is_map()) fail_at(map, "evaluate must be a map of settings to values, or a list of such maps");
    blocks.push_back(read_block(map));
  }
  return blocks;
}

bool SweepEvaluations::is_about(const EvaluationBlock& block, const Yaml& run) {
  bool holds = block.command.is_null() || is_program(run);
  for (const auto& [key, wanted] : block.where) {
    const Yaml* value = find_path(run, key);
    if (value != nullptr) seen_keys_.insert(key);
    const std::vector<Yaml> choices = wanted.is_sequence() ? wanted.items : std::vector<Yaml>{wanted};
    holds = holds && value != nullptr && std::ranges::any_of(choices, [&](const Yaml& choice) {
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
  for (const Wish& wish : wishes_for(configuration)) {
    WantedEvaluation wanted =
        run.options.program ? wanted_of_program(wish, run) : wanted_at(wish.changes, configuration);
    if (!contains(result, wanted)) result.push_back(std::move(wanted));
  }
  return result;
}

WantedEvaluation SweepEvaluations::wanted_of_program(const Wish& wish, const PlannedRun& run) {
  if (wish.block->command.is_null()) {
    throw UsageError(
        "a part of evaluate without a command applies to models, and this run is that of a program\n"
        "add a command: {command: [python3, eval.py, \"{checkpoints}/last.pt\"]}, or `where: {model.type: …}`");
  }
  WantedEvaluation wanted{.split = "test", .changes = {}, .program = wish.block->program};
  ProgramOptions program = *run.options.program;
  for (const auto& [key, value] : wish.changes) {
    if (key == "split") {
      wanted.split = value.scalar;
    } else if (key == "data.path") {
      const std::string path = fs::absolute(scalar_text(value, key)).lexically_normal().string();
      const PreparedSummary& data = data_of(path);
      wanted.changes.emplace_back(key, path);
      wanted.changes.emplace_back("data.name", data_name(data.dataset, data.language));
      wanted.changes.emplace_back("data.fingerprint", data.fingerprint);
    } else {
      wanted.changes.emplace_back(key, to_json(value));
      program.set_option(key.substr(kOptionPrefix.size()), to_json(value));
    }
  }
  check_evaluation_command(wish.block->command, program);
  take_code(wanted.program, program, run.paths.folder.parent_path());
  std::ranges::sort(wanted.changes);
  return wanted;
}

/// Runs of one program share the code of an evaluation, which is read once.
void SweepEvaluations::take_code(Json& part, const ProgramOptions& program, const fs::path& runs) {
  if (!part.contains("code")) return;
  const std::string key = program.folder + "\n" + part["code"].dump();
  const auto known = code_.find(key);
  if (known != code_.end()) {
    part["code"] = known->second;
    return;
  }
  find_evaluation_code(part, program, runs);
  code_.emplace(key, part["code"]);
}

/// Data of any form may be large: they are read once.
const PreparedSummary& SweepEvaluations::data_of(const std::string& path) {
  const auto known = data_.find(path);
  return known != data_.end() ? known->second : data_.emplace(path, summarize_any_data(path)).first->second;
}

std::vector<SweepEvaluations::Wish> SweepEvaluations::wishes_for(const Yaml& run) {
  std::vector<Wish> wishes;
  for (const EvaluationBlock& block : blocks_) {
    if (!is_about(block, run)) continue;
    for (const SweepPoint& point : block.points) wishes.push_back({point, &block});
  }
  return wishes;
}

void SweepEvaluations::check_conditions() const {
  for (const EvaluationBlock& block : blocks_) {
    for (const auto& [key, value] : block.where) {
      if (seen_keys_.contains(key)) continue;
      fail_at(value, fmt::format("'where' of evaluate names '{}', which no run of the sweep has", key));
    }
  }
}

}  // namespace xlm
