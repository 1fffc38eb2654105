// Builds the results of a sweep as if it were done.
#include "experiments/checks/supposed_runs.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "datasets/prepared/prepared.h"
#include "experiments/configuration/configuration.h"
#include "experiments/sweeps/point_source.h"
#include "experiments/sweeps/sweep_evaluations.h"
#include "results/quantities/quantities.h"
#include "results/tables/run_lengths.h"

namespace xlm {
namespace {

constexpr std::int64_t kLongest = 1'000'000'000'000;  // the limit of train.steps
constexpr std::size_t kTracedTokens = 512;

/// Lengths that only the data can convert to steps.
constexpr std::array<const char*, 3> kOpenLengths{"train.epochs", "train.tokens", "train.eval_every_tokens"};

double length_at(const Yaml& tree, const char* key) {
  const Yaml* node = find_path(tree, key);
  const Json value = node == nullptr ? Json() : to_json(*node);
  return value.is_number() ? value.get<double>() : 0;
}

/// A run's options, with the lengths in its file that only the data can convert to steps.
struct OpenRun {
  RunConfiguration options;
  SettingList open;  // those of kOpenLengths that are given
};

/// Leaves out weights to start from, which a file may require, like the data.
OpenRun read_without_data(Yaml tree) {
  tree.take("require");
  tree = with_source_as_text(std::move(tree));
  OpenRun run;
  const bool has_steps = length_at(tree, "train.steps") > 0;
  for (const char* key : kOpenLengths) {
    const double value = length_at(tree, key);
    const bool is_interval = std::string_view(key) == kOpenLengths.back();
    const bool clashes = is_interval ? length_at(tree, "train.eval_every") > 0 : has_steps || !run.open.empty();
    if (value <= 0 || clashes) continue;  // reading the options reports a clash
    run.open.emplace_back(key, to_json(*find_path(tree, key)));
    tree.set(key, make_scalar("0", *tree.source));
    if (!is_interval) tree.set("train.steps", make_scalar(fmt::to_string(kLongest), *tree.source));
  }
  run.options = read_run_options(tree);
  return run;
}

/// The names of corpora in data folders: from the recipe's `corpora`, or else from the folder.
class Corpora {
 public:
  /// Throws UsageError with file:line unless it is a map of texts.
  explicit Corpora(const Yaml& tree) {
    const Yaml* node = tree.find("corpora");
    if (node == nullptr || node->is_null()) return;
    if (!node->is_map())
      fail_at(*node, "corpora must be a map of data folders to names, such as {data/text8: text8-en}");
    for (const auto& [path, name] : node->entries) declared_[path] = scalar_text(name, "the name of a corpus");
  }

  /// The name of the corpus in `path`, or the path itself if the name is unknown. Records mistakes in `sweep`.
  std::string name_of(const std::string& path, SupposedSweep& sweep) const {
    const auto declared = declared_.find(path);
    std::string found;
    if (fs::is_directory(path)) {
      const PreparedSummary data = summarize_prepared(path);
      found = data_name(data.dataset, data.language);
    }
    if (declared != declared_.end()) {
      if (!found.empty() && found != declared->second) sweep.misnamed[path] = found;
      return declared->second;
    }
    if (found.empty()) sweep.unnamed.insert(path);
    return found.empty() ? path : found;
  }

 private:
  std::map<std::string, std::string> declared_;
};

/// The layers of all stages together.
double layers_of(const Json* layers) {
  if (layers == nullptr) return 0;
  if (!layers->is_array()) return layers->is_number() ? layers->get<double>() : 0;
  return std::accumulate(layers->begin(), layers->end(), 0.0,
                         [](double sum, const Json& stage) { return sum + stage.get<double>(); });
}

/// A number for every quantity that evaluations report, except those that are only reported when something goes wrong.
std::map<std::string, double> supposed_values(double number) {
  std::map<std::string, double> values;
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kEvaluation && quantity.name != "worse_than_guessing")
      values[quantity.name] = number;
  }
  return values;
}

void add_evaluation(Run& run, const std::string& split, const Json& settings, double number) {
  RunEvaluation evaluation{.split = split, .step = run.step, .final = true, .settings = settings};
  evaluation.at = differing_settings(run, settings);
  evaluation.main = evaluation.at.empty();
  evaluation.values = supposed_values(number);
  run.evaluations.push_back(std::move(evaluation));
}

/// Adds the numbers that a run reports about itself and during training.
void add_numbers(Run& run, double number, const NamedByExhibits& named) {
  for (const Quantity& quantity : quantities()) {
    if (quantity.by == ReportedBy::kRun) run.costs[quantity.name] = number;
    if (quantity.by != ReportedBy::kRun) run.metrics[quantity.name][run.step] = number;
  }
  run.costs["layers"] = layers_of(run.param("model.layers"));
  for (const std::string& grid : named.grids) run.grids[grid][run.step] = {.rows = {{number}}};
  if (named.traces.empty()) return;
  for (const char* split : {"valid", "test"}) {
    RunTrace& trace = run.traces[split];
    trace.tokens.assign(kTracedTokens, "a");
    for (const std::string& name : named.traces) trace.values[name].assign(kTracedTokens, number);
  }
}

/// A run that is done, without evaluations and numbers.
Run finished_run(const OpenRun& open, const std::string& corpus) {
  Run run;
  run.status = RunStatus::kDone;
  run.step = open.options.train.steps;
  run.experiment = open.options.experiment;
  run.experiments = {run.experiment};
  for (const OptionEntry& entry : option_entries(open.options)) run.params.emplace_back(entry.key, entry.value);
  for (const auto& [key, value] : open.open) {
    std::erase_if(run.params, [&name = key](const auto& param) { return param.first == name; });
    run.params.emplace_back(key, value);
  }
  if (corpus.empty()) return run;
  run.params.emplace_back("data.name", corpus);
  run.params.emplace_back("data.fingerprint", "of " + corpus);
  return run;
}

/// Keys that a run's result depends on, including open lengths.
std::set<std::string> setting_keys_of(const OpenRun& open) {
  std::set<std::string> keys{"data.name"};
  for (const OptionEntry& entry : option_entries(open.options)) {
    if (entry.affects_result) keys.insert(entry.key);
  }
  for (const auto& [key, value] : open.open) keys.insert(key);
  return keys;
}

/// Equal for points that are the same run.
std::string identity_of(const Run& run, const std::set<std::string>& setting_keys) {
  std::string identity;
  for (const std::string& key : setting_keys) {
    const Json* value = run.param(key);
    identity += fmt::format("{}={}\n", key, value == nullptr ? "" : value->dump());
  }
  return identity;
}

/// The evaluations of supposed runs: each run's own, and those that `evaluate` asks for.
class SupposedEvaluations {
 public:
  SupposedEvaluations(const Yaml& tree, SupposedSweep& sweep) : corpora_(tree), wanted_(tree), sweep_(sweep) {}

  /// "" of a program that reads no data.
  std::string corpus_of(const std::string& path) { return path.empty() ? "" : corpora_.name_of(path, sweep_); }

  /// `configuration` is the run's resolved one. An evaluation equal to the run's own is not added.
  void add_to(Run& run, const Yaml& configuration, double number) {
    for (const char* split : {"valid", "test"}) add_evaluation(run, split, Json::object(), number);
    for (const SweepPoint& changes : wanted_.changes_for(configuration)) {
      std::string split = "test";
      Json settings = Json::object();
      Yaml changed = configuration;
      for (const auto& [key, value] : changes) {
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
      add_evaluation(run, split, settings, number);
      ++sweep_.evaluations;
    }
  }

  void check_conditions() const { wanted_.check_conditions(); }

 private:
  Corpora corpora_;
  SweepEvaluations wanted_;
  SupposedSweep& sweep_;
};

}  // namespace

SupposedSweep suppose(const Yaml& tree, const NamedByExhibits& named) {
  SupposedSweep sweep;
  SupposedEvaluations evaluations(tree, sweep);
  const Yaml base = run_part(tree);
  std::set<std::string> seen;
  std::vector<Yaml> sources;  // of runs that others begin from
  for (const SweepPoint& point : expand_sweep(tree)) {
    const Yaml configuration = at_point(base, point);
    if (std::optional<Yaml> source = source_of_point(configuration)) sources.push_back(std::move(*source));
    const OpenRun open = read_without_data(configuration);
    Run run = finished_run(open, evaluations.corpus_of(open.options.data.path));
    const std::set<std::string> keys = setting_keys_of(open);
    if (!seen.insert(identity_of(run, keys)).second) continue;
    sweep.setting_keys.insert(keys.begin(), keys.end());
    run.id = fmt::format("{}-{:05}", open.options.type(), sweep.runs.size());
    run.created = static_cast<double>(sweep.runs.size());
    const double number = 1 + static_cast<double>(sweep.runs.size()) / 1000;
    add_numbers(run, number, named);
    evaluations.add_to(run, resolved(open.options), number);
    sweep.runs.push_back({std::move(run), point});
  }
  evaluations.check_conditions();
  for (const Yaml& source : sources) {
    const OpenRun open = read_without_data(source);
    const Run run = finished_run(open, evaluations.corpus_of(open.options.data.path));
    if (seen.contains(identity_of(run, setting_keys_of(open)))) continue;
    throw UsageError(
        fmt::format("{}: model.init_from asks for a run outside this sweep\n"
                    "add it to the sweep's points, or name an existing run or model",
                    *tree.source));
  }
  return sweep;
}

std::string length_in_words(const Yaml& tree) {
  const Yaml base = run_part(tree);
  RunLengths lengths;
  for (const SweepPoint& point : expand_sweep(tree)) {
    const OpenRun run = read_without_data(at_point(base, point));
    const TrainOptions& train = run.options.train;
    if (train.steps < kLongest) {
      lengths.add(train.steps, static_cast<double>(train.steps) * static_cast<double>(train.batch * train.block));
      continue;
    }
    for (const auto& [key, value] : run.open) {
      if (key == "train.epochs") lengths.add(fmt::format("{:g} epoch{}", value.get<double>(), value == 1 ? "" : "s"));
      if (key == "train.tokens") lengths.add(format_number(value.get<double>(), NumberFormat::kCount, -1) + " tokens");
    }
  }
  return lengths.text();
}

}  // namespace xlm
