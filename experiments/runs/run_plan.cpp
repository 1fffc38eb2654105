// From options to runs.
#include "experiments/runs/run_plan.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/json.h"
#include "base/lookup.h"
#include "base/text.h"
#include "base/utf8.h"
#include "datasets/prepared/segmentation.h"
#include "experiments/configuration/option_checks.h"
#include "experiments/configuration/program_inputs.h"
#include "experiments/runs/run_checkpoints.h"

namespace xlm {
namespace {

/// The path as config.yaml names it. Throws UsageError if config.yaml cannot name it.
std::string absolute_name(const fs::path& path) {
  std::string name = fs::absolute(path).lexically_normal().string();
  if (repaired_utf8(name) == name) return name;
  throw UsageError(
      fmt::format("the path is not UTF-8, and config.yaml cannot name it: {}\n"
                  "rename the folder, or make a link to the data whose path is UTF-8",
                  name));
}

/// Makes the files that name tokenizers, and the folders of models that others have inside, absolute: a worker may
/// start in another folder.
class NamedPaths : public OptionVisitor {
 public:
  NamedPaths(const fs::path& data, const fs::path& runs) : data_(data), runs_(runs) {}

  void field(const OptionInfo& /*info*/, bool& /*value*/) override {}
  void field(const OptionInfo& /*info*/, std::int64_t& /*value*/) override {}
  void field(const OptionInfo& /*info*/, double& /*value*/) override {}
  void field(const OptionInfo& /*info*/, std::vector<std::int64_t>& /*value*/) override {}
  void choice(const OptionInfo& /*info*/, std::size_t& /*index*/, const std::vector<std::string>& /*names*/) override {}
  using OptionVisitor::field;

  void field(const OptionInfo& info, std::string& value) override {
    // Any other tokenizer is a segmentation's name or wrong. A wrong one fails later.
    if (info.content == OptionContent::kTokenizer && find_tokenizer(data_, value) == value)
      value = absolute_name(value);
    // A run that is planned again names a folder already, which may be gone.
    const bool is_folder = fs::path(value).is_absolute() && fs::path(value).filename() == "model";
    if (info.content == OptionContent::kInnerModel && !value.empty() && !is_folder) {
      value = absolute_name(locate_model(value, runs_).model);
    }
  }

 protected:
  void begin_group(std::string_view /*name*/, std::string_view /*help*/) override {}
  void end_group() override {}

 private:
  const fs::path& data_;
  const fs::path& runs_;
};

/// A program finds its data and its code from any folder, too.
void make_absolute(RunConfiguration& options, const fs::path& runs) {
  if (!options.program || !options.data.path.empty()) options.data.path = absolute_name(options.data.path);
  if (options.program) options.program->folder = absolute_name(options.program->folder);
  if (const std::string folder = options.model.pretrained().value_or(""); !folder.empty()) {
    options.model.set_pretrained(absolute_name(folder));
  }
  const fs::path data = options.data.path;
  NamedPaths names(data, runs);
  visit_options(options, names);
}

/// The model type that the configuration of a run or model folder gives. Empty if it gives none: loading the weights
/// reports that. A folder of another program that has a model of `options` gives their type; throws DataError if it
/// computes something else.
std::string type_of_model(const LocatedModel& source, const ModelOptions& options) {
  const fs::path config = source.run.empty() ? source.model / "config.yaml" : RunPaths{source.run}.config();
  if (fs::is_regular_file(config)) {
    const Yaml tree = read_yaml(config);
    const Yaml* type = tree.is_map() ? find_path(tree, "model.type") : nullptr;
    return type != nullptr ? type->scalar : "";
  }
  const fs::path shape = source.model / "config.json";
  const Json json = fs::is_regular_file(shape) ? read_json(shape) : Json();
  const Json type = json.is_object() ? json.value("model_type", Json()) : Json();
  if (!type.is_string()) return "";
  if (type.get<std::string>() != options.foreign_type()) return type.get<std::string>();
  options.check_foreign(json, shape.string());
  return options.type();
}

/// Weights fit only their own type of model.
void check_type_of_source(const std::string& type, const std::string& name, const RunConfiguration& options) {
  if (type.empty() || type == options.model.type()) return;
  throw DataError(
      fmt::format("model.init_from: {} is a model of type {}, and this run's is {}", name, type, options.model.type()));
}

/// A run that begins with the weights of a checkpoint takes it along when it is submitted.
void check_checkpoint(const PlannedRun& planned) {
  const fs::path file = planned.options.init_from;
  const std::int64_t step = step_of_checkpoint(file);
  if (step < 0 || fs::exists(planned.paths.folder) || fs::is_regular_file(file)) return;
  const std::vector<std::int64_t> steps = checkpoint_steps(file.parent_path().parent_path());
  throw DataError(
      fmt::format("model.init_from: there is no checkpoint {}\n"
                  "its run has those of the steps: {}{}",
                  file.string(), steps.empty() ? "none" : "", fmt::join(steps, ", ")));
}

/// A name that runs share if they differ only in their own seed and in that of the run they begin from.
std::string setting_name(RunConfiguration options, RunInputs inputs, const std::string& source_setting) {
  constexpr std::size_t kDigits = 12;
  options.seed = 0;
  const char* key = options.continues.run.empty() ? "model.init_from" : "continue.run";
  if (!source_setting.empty()) inputs.contents[key] = source_setting;
  const std::string id = run_id(options, inputs);
  return fmt::format("{} of any seed", id.substr(0, id.rfind('-') + 1 + kDigits));
}

/// What the run of a folder started from, without the files themselves. Throws Error and Json::exception.
RunInputs inputs_of_folder(const RunPaths& paths) {
  const Json environment = read_json_object(paths.environment());
  RunInputs inputs;
  inputs.data.dataset = environment.value("dataset", "");
  inputs.data.fingerprint = environment.value("fingerprint", "");
  inputs.contents = environment.value("contents", std::map<std::string, std::string>());
  return inputs;
}

/// The same for a run folder. Empty if the folder cannot be read.
std::string setting_of_folder(const fs::path& folder) {
  const RunPaths paths{folder};
  try {
    const std::string source = read_json_object(paths.environment()).value("source_setting", "");
    return setting_name(read_run_options(read_yaml(paths.config())), inputs_of_folder(paths), source);
  } catch (const Error&) {
    return "";
  } catch (const Json::exception&) {
    return "";
  }
}

/// The folders of programs' runs whose names begin so, by the ids that their runs would have now.
std::map<std::string, fs::path> folders_by_identity(const fs::path& runs, const std::string& begin) {
  std::map<std::string, fs::path> folders;
  for (const fs::directory_entry& entry : entries_in(runs)) {
    if (!entry.path().filename().string().starts_with(begin)) continue;
    const RunPaths paths{entry.path()};
    try {
      const RunConfiguration own = read_run_options(read_yaml(paths.config()));
      if (own.program) folders.emplace(run_id(own, inputs_of_folder(paths)), paths.folder);
    } catch (const Error&) {
      continue;  // a damaged run is found by its name alone
    } catch (const Json::exception&) {
      continue;
    }
  }
  return folders;
}

}  // namespace

std::optional<bool> holds_run(const fs::path& folder, const RunConfiguration& options, const RunInputs& inputs) {
  const RunPaths paths{folder};
  try {
    return holds_run(folder, read_file(paths.config()), options, inputs);
  } catch (const Error&) {
    return std::nullopt;
  }
}

std::optional<bool> holds_run(const fs::path& folder, const std::string& config, const RunConfiguration& options,
                              const RunInputs& inputs) {
  const RunPaths paths{folder};
  try {
    const RunConfiguration own = read_run_options(parse_yaml(config, paths.config().string()));
    return own.type() == options.type() && run_identity(own, inputs_of_folder(paths)) == run_identity(options, inputs);
  } catch (const Error&) {
    return std::nullopt;
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string PlannedRun::source_id() const {
  const std::string id = run_of_content(value_or(inputs.contents, "model.init_from", ""));
  const fs::path model = fs::absolute(RunPaths{paths.folder.parent_path() / id}.model()).lexically_normal();
  const bool is_neighbour = model == options.init_from;
  return is_neighbour ? id : "";
}

PlannedRun Planner::plan(RunConfiguration options, ModelTense tense) {
  if (!options.continues.run.empty()) return plan_branch(std::move(options), tense);
  std::string setting;
  if (!options.init_from.empty()) {
    const LocatedModel source = locate_weights(options.init_from, runs_, tense);
    check_type_of_source(type_of_model(source, options.model), source.name, options);
    options.init_from = absolute_name(source.model);
    if (!source.run.empty()) setting = setting_of_folder(source.run);
    if (const std::int64_t step = step_of_checkpoint(source.model); step >= 0) setting += fmt::format(" at {}", step);
  }
  PlannedRun planned = plan_located(std::move(options), std::move(setting));
  check_checkpoint(planned);
  return planned;
}

/// A run that has a folder has taken from its parent what it needs, and the parent may be gone.
PlannedRun Planner::plan_branch(RunConfiguration options, ModelTense tense) {
  const fs::path parent = find_parent(options, runs_, tense);
  std::string setting = parent.empty() ? "" : setting_of_folder(parent);
  const RunConfiguration given = options;
  options.init_from.clear();  // the weights come with the checkpoint
  PlannedRun planned = plan_located(std::move(options), std::move(setting));
  if (fs::exists(planned.paths.folder)) return planned;
  if (parent.empty()) {
    const std::string& id = planned.options.continues.run;
    throw DataError(fmt::format(
        "continue.run: there is no run {} in {}\n"
        "bring it with its checkpoints: xlm runs merge FOLDER; a run that went on from it before resumes by "
        "itself: xlm train RUN_FOLDER/config.yaml",
        id, runs_.string()));
  }
  RunConfiguration compared = planned.options;
  compared.init_from = given.init_from;
  planned.branch = make_branch(compared, planned.inputs, parent);
  return planned;
}

PlannedRun Planner::plan_after(const PlannedRun& source, RunConfiguration options) {
  check_type_of_source(source.options.model.type(), source.id(), options);
  options.init_from = absolute_name(source.paths.model());
  return plan_located(std::move(options), setting_name(source.options, source.inputs, source.source_setting));
}

Planner::KnownInputs Planner::look_at_inputs(const RunConfiguration& options) const {
  if (!options.program) return {read_inputs(options), {}};
  RunInputs inputs = read_program_inputs(options, {runs_});
  for (const std::string& note : inputs.code->notes) spdlog::warn("{}", note);
  std::vector<RunInputs> earlier = earlier_program_inputs(options, inputs, runs_);
  const std::string changes = earlier.empty() ? changes_of_code(*inputs.code, frozen_programs(runs_)) : "";
  if (!changes.empty()) {
    spdlog::info(
        "the code differs from that of earlier runs, so runs are new: {}\n"
        "leave out what training does not read: program: {{code: [\"!FILE\"]}}",
        changes);
  }
  return {std::move(inputs), std::move(earlier)};
}

/// Those that a run of this folder is called after. A new run is called as the runs next to it are: one code has one
/// name in a folder of runs.
const RunInputs& Planner::inputs_for(const RunConfiguration& options, const KnownInputs& known) const {
  const auto has_run = [&](const RunInputs& inputs) { return fs::exists(place_of(options, inputs)); };
  if (known.earlier.empty() || has_run(known.inputs)) return known.inputs;
  const auto found = std::ranges::find_if(known.earlier, has_run);
  if (found != known.earlier.end()) return *found;
  const bool has_name = fs::exists(code_folder(frozen_programs(runs_), known.inputs.code->hash));
  return has_name ? known.inputs : known.earlier.front();
}

PlannedRun Planner::plan_located(RunConfiguration options, std::string source_setting) {
  make_absolute(options, runs_);
  std::string key = options.data.path;
  if (options.program) {
    key += fmt::format("\n{} {} {}", options.program->folder, Json(options.program->code).dump(),
                       Json(options.program->command).dump());
  }
  for (const OptionEntry& entry : option_entries(options)) {
    if (entry.content != OptionContent::kValue) key += "\n" + entry.value.get<std::string>();
  }
  auto known = inputs_.find(key);
  if (known == inputs_.end()) known = inputs_.emplace(key, look_at_inputs(options)).first;
  const RunInputs& inputs = inputs_for(options, known->second);
  fs::path folder = folder_for(options, inputs);
  if (!options.program && !fs::exists(folder)) check_processes(options, options.device);
  return {std::move(options), inputs, {std::move(folder)}, std::move(source_setting)};
}

/// The folder of a program's run that version 0.1.0 has named may be called after other metrics than it has now.
fs::path Planner::place_of(const RunConfiguration& options, const RunInputs& inputs) const {
  const std::string id = run_id(options, inputs);
  if (!options.program || fs::exists(runs_ / id)) return runs_ / id;
  if (fs::path earlier = runs_ / run_id_with_metrics(options, inputs); fs::exists(earlier)) return earlier;
  const std::string begin = id.substr(0, id.rfind('-') + 1);
  auto known = by_identity_.find(begin);
  if (known == by_identity_.end()) known = by_identity_.emplace(begin, folders_by_identity(runs_, begin)).first;
  return value_or(known->second, id, runs_ / id);
}

fs::path Planner::folder_for(const RunConfiguration& options, const RunInputs& inputs) {
  fs::path folder = place_of(options, inputs);
  if (fs::exists(folder)) {
    if (holds_run(folder, options, inputs).value_or(true)) return folder;
    throw DataError(
        fmt::format("{} does not hold the run that its name says: its config.yaml or environment.json has changed\n"
                    "move the folder away, or restore both files",
                    folder.string()));
  }
  return folder;
}

}  // namespace xlm
