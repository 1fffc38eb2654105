// From YAML to the typed options of a run and back.
#include "experiments/configuration/configuration.h"

#include <algorithm>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/argument_file.h"
#include "base/error.h"
#include "base/lookup.h"
#include "base/recipe_keys.h"
#include "base/text.h"
#include "experiments/configuration/best_of.h"
#include "experiments/configuration/evaluation_command.h"
#include "experiments/configuration/kind_of_run.h"
#include "experiments/configuration/option_checks.h"
#include "experiments/configuration/requirements.h"
#include "experiments/configuration/training_length.h"
#include "experiments/configuration/yielding_defaults.h"

namespace xlm {
namespace {

/// model: type, the model's own options, init_from.
struct ModelGroup {
  ModelOptions& model;
  std::string& init_from;

  void visit(OptionVisitor& v) {
    const std::vector<std::string>& types = model_types();
    auto index = static_cast<std::size_t>(std::ranges::find(types, model.type()) - types.begin());
    v.choice({.name = "type", .help = "which model; the model's own options follow it"}, index, types);
    if (types.at(index) != model.type()) model = default_model_options(index);
    model.visit(v);
    v.field({.name = "init_from",
             .help = "run id, run folder, model folder, or checkpoint (RUN@STEP) whose weights training starts from; "
                     "empty: random weights",
             .content = OptionContent::kModelFolder},
            init_from);
  }
};

/// model: {type: program}, which is what a program's run has of it.
struct ProgramModelGroup {
  static void visit(OptionVisitor& v) {
    std::size_t index = 0;
    v.choice({.name = "type", .help = "program: the run is that of a program"}, index, {kProgramType});
  }
};

/// What a program's run has of `train`.
struct ProgramTrainGroup {
  TrainOptions& train;

  void visit(OptionVisitor& v) {
    v.field({.name = "steps",
             .help = "steps that the program makes, or the option that says so: \"{KEY}\"; for progress, estimates of "
                     "time and early stopping; 0: not known",
             .min = 0,
             .max = 1e12,
             .affects_result = false},
            train.steps);
    v.field({.name = "max_hours",
             .help = "stop after so many hours of one attempt; 0: no limit",
             .min = 0,
             .affects_result = false},
            train.max_hours);
    v.field({.name = "threads",
             .help = "OMP_NUM_THREADS of the program, if neither its environment nor that of xlm sets it; 0: cores / "
                     "jobs",
             .min = 0,
             .max = 4096,
             .affects_result = false},
            train.threads);
    v.field({.name = "processes",
             .help = "GPUs that the program uses at once, if there are GPUs",
             .min = 1,
             .max = 4096,
             .affects_result = false},
            train.processes);
  }
};

/// Index of the model that `model.type` names; the first one when it names none, so that reading complains.
std::size_t chosen_model(const Yaml& tree) {
  const Yaml* type = find_path(tree, "model.type");
  const std::vector<std::string>& types = model_types();
  if (type == nullptr || type->is_null()) {
    fail_at_key(tree, "model.type",
                fmt::format("model.type is missing\nadd it: one of {}; or `program` for a program of your own",
                            join(types, ", ")));
  }
  const auto found = std::ranges::find(types, type->scalar);
  return found == types.end() ? 0 : static_cast<std::size_t>(found - types.begin());
}

/// Takes the shape of the pretrained model that the options name, where they name one.
void adopt_pretrained(const Yaml& tree, ModelOptions& model) {
  const std::string folder = model.pretrained().value_or("");
  if (folder.empty()) return;
  const fs::path config = fs::path(folder) / "config.json";
  if (!fs::is_regular_file(config)) {
    fail_at_key(
        tree, "model.pretrained",
        fmt::format("model.pretrained: there is no {}\ngive the folder of a Hugging Face model", config.string()));
  }
  try {
    model.adopt(read_json(config), config.string());
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{} is malformed: {}", config.string(), reason_of(error)));
  }
}

Yaml tree_of(const std::vector<OptionEntry>& entries, const std::string& source) {
  Yaml tree = make_map(source);
  for (const OptionEntry& entry : entries) tree.set(entry.key, yaml_from_json(entry.value, source));
  return tree;
}

/// Complaints about a value name the assignment that gave it.
void name_source(Yaml& node, const std::shared_ptr<const std::string>& source) {
  node.source = source;
  node.line = 0;
  for (Yaml& item : node.items) name_source(item, source);
  for (auto& [key, value] : node.entries) name_source(value, source);
}

void option_names(const Yaml& map, const std::string& prefix, std::vector<std::string>& names) {
  for (const auto& [key, value] : map.entries) {
    if (value.is_map()) option_names(value, prefix + key + ".", names);
    if (!value.is_map()) names.push_back(prefix + key);
  }
}

/// A program's options are free keys, so nothing else tells a new one from one that was mistyped.
void remark_on_new_option(const Yaml& tree, const std::string& assignment) {
  constexpr std::string_view kOptions = "options.";
  const std::string key = assignment.substr(0, assignment.find('='));
  const Yaml* options = tree.find("options");
  const Yaml* grid = find_path(tree, "sweep.grid");
  const bool is_in_grid = grid != nullptr && grid->find(key) != nullptr;
  if (!key.starts_with(kOptions) || options == nullptr || is_in_grid || find_path(tree, key) != nullptr) return;
  std::vector<std::string> names;
  option_names(*options, "", names);
  if (const std::string meant = did_you_mean(key.substr(kOptions.size()), names); !meant.empty()) {
    spdlog::warn("{} is an option that the file does not have{}", key, meant);
  }
}

/// A key of sweep.grid holds dots itself, so that `sweep.grid.model.span=[64, 128]` cannot be a path of single steps.
void apply_one(Yaml& tree, const std::string& assignment) {
  constexpr std::string_view kGrid = "sweep.grid.";
  const Yaml* grid = find_path(tree, "sweep.grid");
  if (assignment.rfind(kGrid, 0) != 0 || grid == nullptr || !grid->is_map()) return apply_override(tree, assignment);
  const std::string inner = assignment.substr(kGrid.size());
  const std::string key = inner.substr(0, inner.find('='));
  Yaml replaced = make_map(fmt::format("'{}'", assignment));
  apply_override(replaced, "value" + inner.substr(key.size()));
  Yaml value = replaced.take("value");
  name_source(value, std::make_shared<const std::string>(fmt::format("'{}'", assignment)));
  Yaml& present = *tree.find("sweep")->find("grid");
  if (Yaml* axis = present.find(key)) {
    *axis = std::move(value);
  } else {
    present.entries.emplace_back(key, std::move(value));
  }
}

/// A pipe has no name, and the number of an open file is none.
std::string experiment_named_by(const fs::path& file) {
  std::error_code ignored;
  const fs::file_status status = fs::status(file, ignored);
  const bool is_pipe = file == "-" || (fs::exists(status) && !fs::is_regular_file(status));
  return is_pipe ? "pipe" : file.stem().string();
}

/// The configuration of a Hugging Face folder without one of ours.
Yaml foreign_model(const fs::path& config) {
  const Json json = read_json(config);
  const Json type = json.is_object() ? json.value("model_type", Json()) : Json();
  const std::vector<std::string>& types = model_types();
  if (!type.is_string() || !contains(types, type.get<std::string>())) {
    std::string hint;
    for (std::size_t model = 0; model < types.size(); ++model) {
      if (type != default_model_options(model).foreign_type()) continue;
      hint = fmt::format("\na run of model.type={} can begin with its weights: model.init_from={}", types[model],
                         config.parent_path().string());
    }
    throw DataError(fmt::format("{}: 'model_type' is {}, which is none of {}{}", config.string(), type.dump(),
                                join(types, ", "), hint));
  }
  Yaml tree = make_map(config.string());
  tree.set("model.type", yaml_from_json(type, config.string()));
  return tree;
}

/// Throws UsageError if `assignment` is no KEY=VALUE of an option that makes a difference to `use`.
void check_changeable(const std::string& assignment, std::size_t model, WeightsUse use, const fs::path& source) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos) throw UsageError(fmt::format("'{}' is not KEY=VALUE", assignment));
  const std::string key = assignment.substr(0, equals);
  const RunOptions defaults = default_run_options(model);
  std::vector<std::string> counting;
  bool of_weights = true;
  for (const OptionEntry& entry : option_entries(defaults)) {
    if (makes_a_difference(entry, use, defaults.model.scheme())) counting.push_back(entry.key);
    if (entry.key == key) of_weights = entry.of_weights;
  }
  if (contains(counting, key)) return;
  if (of_weights) {
    throw UsageError(fmt::format("'{}' cannot be changed here: the weights were made with what {} says\nwhat can: {}",
                                 key, source.string(), join(counting, ", ")));
  }
  const std::string where =
      use == WeightsUse::kAnything ? "an evaluation of a sweep" : fmt::format("xlm {}", name_of(use));
  throw UsageError(fmt::format("'{}' changes nothing in {} with a model of type {}\nleave it out; what counts: {}", key,
                               where, defaults.model.type(), join(counting, ", ")));
}

}  // namespace

void visit_options(RunConfiguration& run, OptionVisitor& v) {
  v.field({.name = "experiment",
           .help = "groups runs in the store; default: the configuration file's name, or pipe where it is a pipe",
           .affects_result = false},
          run.experiment);
  v.group("data", "What is learnt from.", run.data);
  if (run.program) {
    ProgramModelGroup model;
    v.group("model", "", model);
    v.group("program", "The program that is run.", *run.program);
    ProgramTrainGroup train{run.train};
    v.group("train", "How long, and with what.", train);
  } else {
    ModelGroup model{run.model, run.init_from};
    v.group("model", "Which model, and its shape.", model);
    v.group("optimizer", "How weights are updated.", run.optimizer);
    v.group("train", "How long and on what batches.", run.train);
    v.group("eval", "How the loss of a split is measured.", run.eval);
  }
  v.group("continue", "From which run training goes on.", run.continues);
  v.group("results", "What is written besides the journal.", run.results);
  v.field({.name = "seed", .help = "fixes weights, order of the data and dropout", .min = 0, .max = 9e15}, run.seed);
  v.field({.name = "device",
           .help = "cpu, cuda, cuda:N, or auto: a GPU where there is one",
           .affects_result = false,
           .of_weights = false},
          run.device);
}

std::vector<OptionEntry> option_entries(const RunConfiguration& run) {
  RunConfiguration copy = run;
  OptionLister lister;
  visit_options(copy, lister);
  std::vector<OptionEntry> entries = lister.entries();
  if (!run.program) return entries;
  const auto behind =
      std::ranges::find_if(entries, [](const OptionEntry& entry) { return entry.key.starts_with("train."); });
  const std::vector<OptionEntry> further = further_entries(*run.program);
  entries.insert(behind, further.begin(), further.end());
  return entries;
}

RunOptions default_run_options(std::size_t index) {
  RunOptions options;
  options.model = default_model_options(index);
  options.model.paper_defaults(options.optimizer, options.train, options.eval);
  return options;
}

namespace {

/// The run of a program: `tree` has a key `program`.
RunConfiguration read_program_run(Yaml tree, const Yaml& demanded) {
  drop_model(tree);
  RunConfiguration run;
  run.program = take_program_options(tree);
  std::vector<std::string> others(kKeysBesidesRun.begin(), kKeysBesidesRun.end());
  for (const auto& [name, value] : run.program->options) others.push_back("options." + name);
  OptionReader reader(tree, std::move(others));
  ProgramOptions program = *std::exchange(run.program, ProgramOptions{});  // is read already
  visit_options(run, reader);
  reader.finish();
  run.program = std::move(program);
  run.data.path = expand_home(run.data.path);
  check_requirements(demanded, run);
  check_program_run(tree, run);
  return run;
}

}  // namespace

RunConfiguration read_run_options(const Yaml& given, Completeness completeness) {
  if (!given.is_map()) throw UsageError(fmt::format("{}: expected a map of options", given.where()));
  Yaml tree = given;
  const Yaml demanded = tree.take("require");
  if (is_run_of_program(tree)) return read_program_run(std::move(tree), demanded);
  drop_program(tree);
  RunConfiguration options = default_run_options(chosen_model(tree));
  OptionReader reader(tree, {kKeysBesidesRun.begin(), kKeysBesidesRun.end()});
  visit_options(options, reader);
  reader.finish();
  for (std::string* path : {&options.data.path, &options.init_from}) *path = expand_home(*path);
  check_requirements(demanded, options);
  adopt_pretrained(tree, options.model);
  options.model.complete(options.train);
  yield_to_written(tree, options);
  if (completeness == Completeness::kRun) {
    check_required(tree, options);
    if (options.train.block > 0) resolve_length(options);  // otherwise refused below
    shorten_warmup(tree, options);
  }
  check_together(tree, options);
  return options;
}

bool is_evaluation_setting(const OptionEntry& entry) { return entry.affects_result && !entry.of_weights; }

namespace {

bool names_key(const std::vector<std::string>& overrides, std::string_view key) {
  return std::ranges::any_of(
      overrides, [&](const std::string& each) { return std::string_view(each).substr(0, each.find('=')) == key; });
}

/// A shorter eval.context alone shortens the stride that it holds.
void shorten_stride(Yaml& tree, const std::vector<std::string>& overrides) {
  if (!names_key(overrides, "eval.context") || names_key(overrides, "eval.stride")) return;
  const Yaml* context = find_path(tree, "eval.context");
  const Yaml* stride = find_path(tree, "eval.stride");
  std::int64_t wanted = 0;
  std::int64_t known = 0;
  if (stride == nullptr || !parse_integer(context->scalar, wanted) || !parse_integer(stride->scalar, known)) return;
  if (known > wanted) apply_override(tree, fmt::format("eval.stride={}", wanted));
}

/// The folder of another program says how many positions its model has, and no window: the window is all of them.
void use_all_positions(RunOptions& options) {
  std::int64_t positions = 0;
  std::int64_t overlap = 0;
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.key == "model.positions") positions = entry.value.get<std::int64_t>();
    if (entry.key == "model.overlap") overlap = entry.value.get<std::int64_t>();
  }
  if (positions > 0) options.model.set_windows(positions, overlap);
}

}  // namespace

RunOptions read_model_folder(const fs::path& folder, const std::vector<std::string>& overrides, WeightsUse use) {
  const fs::path file = folder / "config.yaml";
  const fs::path shape = folder / "config.json";
  const bool foreign = fs::is_regular_file(shape);
  if (!fs::is_regular_file(file) && !foreign) {
    throw DataError(fmt::format("{} is not a model folder: it has no config.yaml", folder.string()));
  }
  Yaml tree = fs::is_regular_file(file) ? read_yaml(file) : foreign_model(shape);
  if (foreign && default_model_options(chosen_model(tree)).pretrained())
    tree.set("model.pretrained", yaml_from_json(folder.string(), "model"));
  for (const std::string& assignment : overrides) {
    check_changeable(assignment, chosen_model(tree), use, foreign ? shape : file);
    apply_override(tree, assignment);
  }
  shorten_stride(tree, overrides);
  RunOptions options = read_run_options(tree, Completeness::kModel);
  if (!fs::is_regular_file(file) && !names_key(overrides, "model.window")) use_all_positions(options);
  options.model.set_pretrained("");  // where the shape came from plays no part: the weights are here
  return options;
}

Yaml resolved(const RunConfiguration& run) { return tree_of(option_entries(run), "resolved configuration"); }

std::string model_yaml(const RunOptions& options) { return to_text(model_part(options)); }

Yaml model_part(const RunOptions& options) {
  std::vector<OptionEntry> kept;
  for (OptionEntry& entry : option_entries(options)) {
    const bool model =
        entry.key.rfind("model.", 0) == 0 && entry.key != "model.init_from" && entry.key != "model.pretrained";
    const bool evaluation =
        entry.affects_result && entry.key.rfind("eval.", 0) == 0 && entry.key.rfind("eval.during.", 0) != 0;
    if (model || evaluation || entry.key == "train.block") kept.push_back(std::move(entry));
  }
  return tree_of(kept, "model");
}

Yaml read_configuration(const fs::path& file, const std::string& profile, const std::vector<std::string>& overrides) {
  return configuration_of(read_yaml_argument(file), file, profile, overrides);
}

Yaml configuration_of(Yaml tree, const fs::path& file, const std::string& profile,
                      const std::vector<std::string>& overrides) {
  if (!tree.is_map()) throw UsageError(fmt::format("{}: expected a map of options", tree.where()));
  Yaml profiles = tree.take("profiles");
  nest_options(tree);
  for (auto& [name, over] : profiles.entries) nest_options(over);
  if (!profile.empty()) {
    const std::vector<std::string> names = mapped(profiles.entries, &Yaml::Entry::first);
    const Yaml* over = profiles.find(profile);
    if (over == nullptr) {
      throw UsageError(names.empty() ? fmt::format("{} has no profiles, so there is no '{}'", file.string(), profile)
                                     : fmt::format("{}: no profile '{}'{}\nit has {}", profiles.where(), profile,
                                                   did_you_mean(profile, names), join(names, ", ")));
    }
    if (!over->is_map() && !over->is_null()) {
      throw UsageError(fmt::format("{}: the profile '{}' must be a map of options", over->where(), profile));
    }
    if (over->is_map()) tree = merge(std::move(tree), *over);
  }
  for (const std::string& assignment : overrides) {
    remark_on_new_option(tree, assignment);
    apply_one(tree, assignment);
  }
  leave_out_evaluation_code(tree);
  note_profile(tree, profile);
  if (tree.find("experiment") == nullptr) tree.set("experiment", make_scalar(experiment_named_by(file), file.string()));
  return tree;
}

Yaml run_part(Yaml tree) {
  for (const std::string_view key : kKeysBesidesRun) tree.take(key);
  return tree;
}

const Yaml* find_path(const Yaml& tree, std::string_view dotted_path) {
  const Yaml* node = &tree;
  for (const std::string& step : split(dotted_path, '.')) {
    node = node->find(step);
    if (node == nullptr) return nullptr;
  }
  return node;
}

const Yaml* given_at(const Yaml& tree, std::string_view dotted_path) {
  const Yaml* node = find_path(tree, dotted_path);
  return node == nullptr || node->is_null() ? nullptr : node;
}

}  // namespace xlm
