// Builds the results of a sweep as if it were done.
#include "experiments/checks/supposed_runs.h"

#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/point_source.h"
#include "results/quantities/quantities.h"
#include "results/run_folder/main_evaluations.h"
#include "results/tables/run_lengths.h"

namespace xlm {
namespace {

constexpr std::size_t kTracedTokens = 512;

/// The layers of all stages together.
double layers_of(const Json* layers) {
  if (layers == nullptr) return 0;
  if (!layers->is_array()) return layers->is_number() ? layers->get<double>() : 0;
  return std::accumulate(layers->begin(), layers->end(), 0.0,
                         [](double sum, const Json& stage) { return sum + stage.get<double>(); });
}

/// A number for every quantity that evaluations report, except those that are only reported when something goes wrong.
/// `further` are those that only a program knows.
std::map<std::string, double> supposed_values(double number, const std::set<std::string>& further) {
  std::map<std::string, double> values;
  for (const std::string& name : further) values[name] = number;
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kEvaluation && quantity.name != "worse_than_guessing")
      values[quantity.name] = number;
  }
  return values;
}

void add_evaluation(Run& run, const std::string& split, const Json& settings, std::map<std::string, double> values) {
  RunEvaluation evaluation{.split = split, .step = run.step, .final = true, .settings = settings};
  evaluation.at = differing_settings(run, settings);
  evaluation.main = evaluation.at.empty();
  evaluation.values = std::move(values);
  run.evaluations.push_back(std::move(evaluation));
}

/// Adds the numbers that a run reports about itself and during training.
void add_numbers(Run& run, double number, const NamedByExhibits& named, const ReportedNames& reported) {
  for (const std::string& name : reported.costs) {
    if (run.param(name) == nullptr) run.costs[name] = number;  // a setting of the name stays one
  }
  for (const std::string& name : reported.series) run.metrics[name][run.step] = number;
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kRun) run.costs[quantity.name] = number;
    const bool is_axis = quantity.name.starts_with("training_");  // recorded along training, too
    if (quantity.by != ReportedBy::kRun || is_axis) run.metrics[quantity.name][run.step] = number;
  }
  run.costs["layers"] = layers_of(run.param("model.layers"));
  for (const auto& [grid, rows] : named.grids) {
    std::vector<std::vector<double>>& numbers = run.grids[grid][run.step].rows;
    for (std::int64_t row = 1; row <= rows; ++row) numbers.push_back({number * static_cast<double>(row)});
  }
  if (named.traces.empty()) return;
  for (const char* split : {"valid", "test"}) {
    RunTrace& trace = run.traces[split];
    trace.tokens.assign(kTracedTokens, "a");
    for (const std::string& name : named.traces) trace.values[name].assign(kTracedTokens, number);
  }
}

/// What runs of the recipe's program report, as it says and exhibits suppose.
ReportedNames names_of_program(const Recipe& recipe, const NamedByExhibits& named) {
  ReportedNames names = recipe.reported;
  for (const std::string& column : named.columns) {
    names.add(column);
    if (!evaluation_column(column)) names.costs.insert(column);
  }
  names.own.insert(named.measured.begin(), named.measured.end());
  return names;
}

/// A run that is done, without evaluations and numbers. `tokens`: of the training split, if the recipe says it.
Run finished_run(const OpenRun& open, const std::vector<OptionEntry>& entries, const std::string& corpus,
                 std::optional<std::int64_t> tokens) {
  Run run;
  run.status = RunStatus::kDone;
  run.step = std::max<std::int64_t>(open.options.train.steps, 1);  // unknown with a budget
  run.experiment = open.options.experiment;
  run.experiments = {run.experiment};
  for (const OptionEntry& entry : entries) run.params.emplace_back(entry.key, entry.value);
  for (const auto& [key, value] : open.open) {
    std::erase_if(run.params, [&name = key](const auto& param) { return param.first == name; });
    run.params.emplace_back(key, value);
  }
  if (open.options.program) run.params.emplace_back(kProgramFingerprint, "of " + open.options.program->folder);
  if (corpus.empty()) return run;
  run.params.emplace_back("data.name", corpus);
  run.params.emplace_back("data.fingerprint", "of " + open.options.data.path);
  if (tokens) run.params.emplace_back(kTrainTokens, *tokens);
  return run;
}

/// Keys that a run's result depends on, including open lengths.
std::set<std::string> setting_keys_of(const OpenRun& open, const std::vector<OptionEntry>& entries) {
  std::set<std::string> keys{"data.name", kTrainTokens};
  for (const OptionEntry& entry : entries) {
    if (entry.affects_result) keys.insert(entry.key);
  }
  for (const auto& [key, value] : open.open) keys.insert(key);
  return keys;
}

/// Equal for points that are the same run.
std::string identity_of(const Run& run, const std::set<std::string>& setting_keys) {
  const Json* content = run.param("data.fingerprint");
  std::string identity = content == nullptr ? "" : content->dump() + "\n";
  for (const std::string& key : setting_keys) {
    const Json* value = run.param(key);
    identity += fmt::format("{}={}\n", key, value == nullptr ? "" : value->dump());
  }
  return identity;
}

void add_length(const OpenRun& run, RunLengths& lengths) {
  const TrainOptions& train = run.options.train;
  if (train.has_budget()) return lengths.add_budget(train.flops, train.seconds);
  if (train.steps < kLongestTraining) {
    return lengths.add(train.steps, static_cast<double>(train.steps) * static_cast<double>(train.batch * train.block));
  }
  for (const auto& [key, value] : run.open) {
    if (key == "train.epochs") lengths.add(fmt::format("{:g} epoch{}", value.get<double>(), value == 1 ? "" : "s"));
    if (key == "train.tokens") lengths.add(format_number(value.get<double>(), NumberFormat::kCount, -1) + " tokens");
  }
}

/// The evaluations of supposed runs: each run's own, and those that `evaluate` asks for.
class SupposedEvaluations {
 public:
  SupposedEvaluations(const Recipe& recipe, SupposedSweep& sweep)
      : corpora_(recipe.corpora), wanted_(recipe.evaluations), sweep_(sweep) {}

  /// "" of a program that reads no data.
  std::string corpus_of(const std::string& path) {
    return path.empty() ? "" : corpora_.name_of(path, {.unnamed = sweep_.unnamed, .misnamed = sweep_.misnamed});
  }

  std::optional<std::int64_t> tokens_of(const std::string& path) const { return corpora_.declared_tokens(path); }

  /// `configuration` is the run's resolved one. An evaluation equal to the run's own is not added.
  void add_to(Run& run, const Yaml& configuration, double number, const ReportedNames& reported) {
    std::map<std::string, std::map<std::string, double>> own;  // by split
    if (!reported.may_be_others) {
      for (const std::string& column : reported.own) {
        if (const auto evaluation = evaluation_column(column)) own[evaluation->split][evaluation->name] = number;
      }
    } else {
      for (const char* split : {"valid", "test"}) own[split] = supposed_values(number, reported.evaluations);
    }
    for (auto& [split, values] : own) add_evaluation(run, split, Json::object(), std::move(values));
    for (const SweepEvaluations::Wish& wish : wanted_.wishes_for(configuration)) {
      std::string split = "test";
      Json settings = Json::object();
      const Json& program = wish.block->program;
      if (program.contains("name")) settings[kEvaluationName] = program["name"];
      Yaml changed = configuration;
      for (const auto& [key, value] : wish.changes) {
        if (key == "split") {
          split = value.scalar;
        } else if (key == "data.path") {
          settings["data.name"] = corpus_of(value.scalar);
        } else {
          settings[key] = to_json(value);
          changed.set(key, value);
        }
      }
      read_run_options(changed);  // fails if the settings do not suit the model
      if (differing_settings(run, settings).empty()) continue;
      add_evaluation(run, split, settings, supposed_values(number, reported.evaluations));
      ++sweep_.evaluations;
    }
  }

  void check_conditions() const { wanted_.check_conditions(); }

 private:
  const Corpora& corpora_;
  SweepEvaluations wanted_;
  SupposedSweep& sweep_;
};

/// Lengths that only the data can turn into steps.
constexpr std::array<const char*, 3> kOpenLengths{"train.epochs", "train.tokens", "train.eval_every_tokens"};

double length_at(const Yaml& tree, const char* key) {
  const Yaml* node = find_path(tree, key);
  const Json value = node == nullptr ? Json() : to_json(*node);
  return value.is_number() ? value.get<double>() : 0;
}

}  // namespace

SupposedSweep suppose(const Recipe& recipe, const NamedByExhibits& named, const ChooseValue& choose) {
  SupposedSweep sweep;
  SupposedEvaluations evaluations(recipe, sweep);
  const ReportedNames of_program = names_of_program(recipe, named);
  const ReportedNames of_model{.may_be_others = true};
  RunLengths lengths;
  std::set<std::string> seen;
  std::vector<Yaml> sources;  // of runs that others begin from
  for (const SweepPoint& point : recipe.points) {
    Yaml configuration = at_point(recipe.run, point);
    if (std::optional<Yaml> source = source_of_point(configuration)) {
      choose_values(*source, choose);
      sources.push_back(std::move(*source));
    }
    for (const RecordedChoice& choice : choose_values(configuration, choose)) sweep.chosen_keys.insert(choice.key);
    const OpenRun open = read_without_data(configuration);
    add_length(open, lengths);
    const std::vector<OptionEntry> entries = option_entries(open.options);
    Run run = finished_run(open, entries, evaluations.corpus_of(open.options.data.path),
                           evaluations.tokens_of(open.options.data.path));
    const std::set<std::string> keys = setting_keys_of(open, entries);
    if (!seen.insert(identity_of(run, keys)).second) continue;
    sweep.setting_keys.insert(keys.begin(), keys.end());
    run.id = fmt::format("{}-{:05}", open.options.type(), sweep.runs.size());
    run.created = static_cast<double>(sweep.runs.size());
    run.started = run.created;
    run.finished = *run.created + 1;
    const double number = 1 + static_cast<double>(sweep.runs.size()) / 1000;
    const ReportedNames& reported = open.options.program ? of_program : of_model;
    add_numbers(run, number, named, reported);
    evaluations.add_to(run, resolved(open.options), number, reported);
    sweep.runs.push_back(std::move(run));
  }
  evaluations.check_conditions();
  sweep.length = lengths.text();
  for (const Yaml& source : sources) {
    const OpenRun open = read_without_data(source);
    const std::vector<OptionEntry> entries = option_entries(open.options);
    const Run run = finished_run(open, entries, evaluations.corpus_of(open.options.data.path),
                                 evaluations.tokens_of(open.options.data.path));
    if (seen.contains(identity_of(run, setting_keys_of(open, entries)))) continue;
    throw UsageError(
        fmt::format("{}: model.init_from asks for a run outside this sweep\n"
                    "add it to the sweep's points, or name an existing run or model",
                    *recipe.run.source));
  }
  return sweep;
}

Store store_of(const SupposedSweep& sweep) {
  Store store = Store::in_memory();
  store.add(sweep.runs);
  return store;
}

NamedValues supposed_costs(const RunOptions& options, std::int64_t symbols) {
  constexpr std::size_t kNumbers = 1000;
  const std::size_t hash = std::hash<std::string>()(model_yaml(options) + std::to_string(symbols));
  const double number = 1 + static_cast<double>(hash % kNumbers) / kNumbers;
  NamedValues costs{{"layers", number}};
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kRun) costs[quantity.name] = number;
  }
  return costs;
}

OpenRun read_without_data(Yaml tree) {
  tree.take("require");
  tree = with_source_as_text(std::move(tree));
  OpenRun run;
  const bool has_steps = length_at(tree, "train.steps") > 0;
  for (const char* key : kOpenLengths) {
    const double value = length_at(tree, key);
    const bool is_interval = std::string_view(key) == kOpenLengths.back();
    const bool clashes = is_interval ? length_at(tree, "train.eval_every") > 0 : has_steps || !run.open.empty();
    if (value <= 0 || clashes) continue;  // a clash is complained of when the options are read
    run.open.emplace_back(key, to_json(*find_path(tree, key)));
    tree.set(key, make_scalar("0", *tree.source));
    if (!is_interval) tree.set("train.steps", make_scalar(fmt::to_string(kLongestTraining), *tree.source));
  }
  run.options = read_run_options(tree);
  return run;
}

}  // namespace xlm
