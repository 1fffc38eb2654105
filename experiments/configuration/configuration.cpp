// From YAML to the typed options of a run and back.
#include "experiments/configuration/configuration.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/configuration/best_of.h"
#include "experiments/configuration/requirements.h"
#include "experiments/configuration/training_length.h"

namespace xlm {
namespace {

/// What a recipe's file says besides the run.
constexpr std::array<std::string_view, 13> kRecipeKeys{
    "sweep",  "evaluate", "corpora",      "resources",     "profiles", "table", "tables",
    "figure", "figures",  "continuation", "continuations", "claim",    "claims"};

/// model: type, the model's own options, init_from.
struct ModelGroup {
  ModelOptions& model;
  std::string& init_from;

  void visit(OptionVisitor& v) {
    const std::vector<std::string>& types = model_types();
    auto index = static_cast<std::size_t>(std::find(types.begin(), types.end(), model.type()) - types.begin());
    v.choice({.name = "type", .help = "which model; the model's own options follow it"}, index, types);
    if (types.at(index) != model.type()) model = default_model_options(index);
    model.visit(v);
    v.field({.name = "init_from",
             .help = "run id, run folder or model folder whose weights training starts from; empty: random weights",
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

bool is_device(std::string_view text) {
  if (text == "cpu" || text == "cuda" || text == "auto") return true;
  std::int64_t index = -1;
  return text.substr(0, 5) == "cuda:" && parse_integer(text.substr(5), index) && index >= 0;
}

/// Complaints that name the place of a key, or of the nearest thing above it that is there.
[[noreturn]] void fail_at(const Yaml& tree, std::string_view key, const std::string& message) {
  const Yaml* node = find_path(tree, key);
  for (std::string above(key); node == nullptr && above.find('.') != std::string::npos;) {
    above.resize(above.rfind('.'));
    node = find_path(tree, above);
  }
  throw UsageError(fmt::format("{}: {}", (node == nullptr ? tree : *node).where(), message));
}

/// Index of the model that `model.type` names; the first one when it names none, so that reading complains.
std::size_t chosen_model(const Yaml& tree) {
  const Yaml* type = find_path(tree, "model.type");
  const std::vector<std::string>& types = model_types();
  if (type == nullptr || type->is_null()) {
    fail_at(tree, "model.type",
            fmt::format("model.type is missing\nadd it: one of {}; or `program` for a program of your own",
                        join(types, ", ")));
  }
  const auto found = std::find(types.begin(), types.end(), type->scalar);
  return found == types.end() ? 0 : static_cast<std::size_t>(found - types.begin());
}

/// Takes the shape of the pretrained model that the options name, where they name one.
void adopt_pretrained(const Yaml& tree, ModelOptions& model) {
  const std::string folder = model.pretrained().value_or("");
  if (folder.empty()) return;
  const fs::path config = fs::path(folder) / "config.json";
  if (!fs::is_regular_file(config)) {
    fail_at(tree, "model.pretrained",
            fmt::format("model.pretrained: there is no {}\ngive the folder of a Hugging Face model", config.string()));
  }
  try {
    model.adopt(read_json(config), config.string());
  } catch (const Json::exception& error) {
    throw DataError(fmt::format("{} is malformed: {}", config.string(), reason_of(error)));
  }
}

void check_required(const Yaml& tree, const RunOptions& options) {
  if (options.data.path.empty()) {
    fail_at(tree, "data.path", "data.path is missing\nadd it: a folder made by xlm prepare-data");
  }
  const TrainOptions& train = options.train;
  std::vector<std::string> lengths;
  if (train.steps > 0) lengths.emplace_back("train.steps");
  if (train.epochs > 0) lengths.emplace_back("train.epochs");
  if (train.tokens > 0) lengths.emplace_back("train.tokens");
  if (lengths.empty()) {
    fail_at(tree, "train.steps", "train.steps is missing\nadd the number of updates, or train.epochs, or train.tokens");
  }
  constexpr const char* kHow = "leave one out; 0 takes away what the file says";
  if (lengths.size() > 1) {
    fail_at(tree, lengths[1], fmt::format("{} and {} both say how long training is\n{}", lengths[0], lengths[1], kHow));
  }
  if (train.eval_every > 0 && train.eval_every_tokens > 0) {
    fail_at(tree, "train.eval_every_tokens",
            fmt::format("train.eval_every and train.eval_every_tokens both say when to evaluate\n{}", kHow));
  }
}

void check_device(const Yaml& tree, const std::string& device) {
  if (is_device(device)) return;
  fail_at(tree, "device", fmt::format("device is '{}', it must be cpu, cuda, cuda:N or auto", device));
}

/// Values that are each in range but do not go together. Those of the model come first: others follow from them.
void check_together(const Yaml& tree, const RunOptions& options) {
  const TrainOptions& train = options.train;
  std::optional<OptionProblem> problem = options.model.problem();
  if (!problem) problem = options.model.problem_with(train);
  if (problem) fail_at(tree, "model." + problem->first, problem->second);
  if (const auto wrong = options.optimizer.problem()) fail_at(tree, "optimizer." + wrong->first, wrong->second);
  if (train.block < 1) fail_at(tree, "train.block", "train.block is 0, it must be at least 1");
  if (train.processes > train.batch) {
    fail_at(tree, "train.processes",
            fmt::format("train.processes ({}) share the rows of train.batch ({}), and each needs one", train.processes,
                        train.batch));
  }
  if (train.micro_batch > train.batch || (train.micro_batch > 0 && train.batch % train.micro_batch != 0)) {
    fail_at(tree, "train.micro_batch",
            fmt::format("train.micro_batch ({}) must divide train.batch ({})", train.micro_batch, train.batch));
  }
  const OptimizerOptions& optimizer = options.optimizer;
  if (optimizer.schedule != OptimizerOptions::Schedule::kConstant && train.steps > 0 &&
      optimizer.warmup_steps >= train.steps) {
    fail_at(tree, "optimizer.warmup_steps",
            fmt::format("optimizer.warmup_steps ({}) must be less than train.steps ({}) with the cosine schedule",
                        optimizer.warmup_steps, train.steps));
  }
  check_device(tree, options.device);
  if (options.eval.stride > options.eval.context) {
    fail_at(tree, "eval.stride",
            fmt::format("eval.stride ({}) must not be more than eval.context ({}), which holds it", options.eval.stride,
                        options.eval.context));
  }
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.in_range) continue;
    fail_at(
        tree, entry.key,
        fmt::format("{} is {}, as other values say, and it must be {}", entry.key, entry.value.dump(), entry.range));
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
  if (!type.is_string() || std::find(types.begin(), types.end(), type.get<std::string>()) == types.end()) {
    throw DataError(
        fmt::format("{}: 'model_type' is {}, which is none of {}", config.string(), type.dump(), join(types, ", ")));
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
  if (std::find(counting.begin(), counting.end(), key) != counting.end()) return;
  if (of_weights) {
    throw UsageError(fmt::format("'{}' cannot be changed here: the weights were made with what {} says\nwhat can: {}",
                                 key, source.string(), join(counting, ", ")));
  }
  throw UsageError(fmt::format("'{}' changes nothing in xlm {} with a model of type {}\nleave it out; what counts: {}",
                               key, name_of(use), defaults.model.type(), join(counting, ", ")));
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
  const auto behind = std::find_if(entries.begin(), entries.end(),
                                   [](const OptionEntry& entry) { return entry.key.starts_with("train."); });
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
  if (const Yaml* type = find_path(tree, "model.type"); tree.find("model") != nullptr) {
    if (type == nullptr || type->scalar != kProgramType) {
      fail_at(tree, "model.type", "a run is that of a model or of a program\nremove `model` or `program`");
    }
  }
  RunConfiguration run;
  run.program = take_program_options(tree);
  OptionReader reader(tree, {kRecipeKeys.begin(), kRecipeKeys.end()});
  ProgramOptions program = *std::exchange(run.program, ProgramOptions{});  // is read already
  visit_options(run, reader);
  reader.finish();
  run.program = std::move(program);
  check_requirements(demanded, run);
  check_device(tree, run.device);
  return run;
}

}  // namespace

RunConfiguration read_run_options(const Yaml& given, Completeness completeness) {
  if (!given.is_map()) throw UsageError(fmt::format("{}: expected a map of options", given.where()));
  Yaml tree = given;
  const Yaml demanded = tree.take("require");
  if (tree.find("program") != nullptr) return read_program_run(std::move(tree), demanded);
  RunConfiguration options = default_run_options(chosen_model(tree));
  OptionReader reader(tree, {kRecipeKeys.begin(), kRecipeKeys.end()});
  visit_options(options, reader);
  reader.finish();
  check_requirements(demanded, options);
  adopt_pretrained(tree, options.model);
  options.model.complete(options.train);
  if (completeness == Completeness::kRun) {
    check_required(tree, options);
    if (options.train.block > 0) resolve_length(options);  // otherwise refused below
  }
  check_together(tree, options);
  return options;
}

bool is_evaluation_setting(const OptionEntry& entry) { return entry.affects_result && !entry.of_weights; }

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
  RunOptions options = read_run_options(tree, Completeness::kModel);
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
    if (model || entry.key.rfind("eval.", 0) == 0 || entry.key == "train.block") kept.push_back(std::move(entry));
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
    std::vector<std::string> names;
    for (const auto& [name, value] : profiles.entries) names.push_back(name);
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
  for (const std::string& assignment : overrides) apply_one(tree, assignment);
  note_profile(tree, profile);
  if (tree.find("experiment") == nullptr) tree.set("experiment", make_scalar(experiment_named_by(file), file.string()));
  return tree;
}

Yaml run_part(Yaml tree) {
  for (const std::string_view key : kRecipeKeys) tree.take(key);
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

}  // namespace xlm
