// The recipe that table, figure and report read, and its runs.
#include "cmd/recipe_view.h"

#include "base/text.h"
#include "experiments/checks/supposed_runs.h"
#include "experiments/checks/supposed_winners.h"
#include "experiments/configuration/configuration.h"
#include "results/store/run_list.h"
#include "results/store/unmet_condition.h"

namespace xlm {
namespace {

/// The sweep of the recipe, as its profile makes it, as tables know it. Throws UsageError with file:line for
/// points that are no valid runs.
std::shared_ptr<PaperRuns> supposed_paper_runs(const Recipe& recipe) {
  SupposedSweep sweep = suppose(recipe, {}, suppose_winners());
  for (const std::string& key : sweep.chosen_keys) sweep.setting_keys.erase(key);  // nothing says what the paper chose
  PaperRunsKnown known{.runs = std::move(sweep.runs),
                       .keys = std::move(sweep.setting_keys),
                       .required = recipe.required,
                       .unnamed = std::move(sweep.unnamed),
                       .length = std::move(sweep.length)};
  for (const char* length : {"train.epochs", "train.tokens"}) {
    if (known.keys.contains(length)) known.keys.erase("train.steps");  // follows from data that are not there
  }
  return std::make_shared<PaperRuns>(std::move(known));
}

/// The runs of the profile `paper`, or those of the file alone if there is no such profile. Null for a file that
/// describes no runs or prints no values, and, with a warning, for one whose runs this program would refuse.
std::shared_ptr<PaperRuns> paper_runs_of(const Yaml& file, const fs::path& path) {
  const bool prints = has_exhibits(file, ExhibitKind::kTable) || has_exhibits(file, ExhibitKind::kClaim);
  if (file.find("model") == nullptr || !prints) return nullptr;
  try {
    return supposed_paper_runs(paper_recipe(file, path));
  } catch (const Error& error) {
    spdlog::warn("{}\nso verdicts do not say whether runs are configured as the paper's", error.what());
    return nullptr;
  }
}

/// Whether the recipe's data folder is missing. A sweep may set data.path itself, and a program needs none; then it is
/// not.
bool lacks_data(const Yaml& recipe) {
  if (recipe.find("program") != nullptr && find_path(recipe, "data.path") == nullptr) return false;
  const Yaml* sweep = recipe.find("sweep");
  if (sweep != nullptr && to_text(*sweep).find("data.path") != std::string::npos) return false;
  const Yaml* data = find_path(recipe, "data.path");
  return data == nullptr || !data->is_scalar() || !fs::exists(data->scalar);
}

/// The data folder of the newest run, as a user would write it; DIR if no run's folder exists.
std::string newest_data(RunTable& runs) {
  const std::vector<Value>& paths = runs.column_or_nothing("data.path");
  for (const std::size_t run : newest_first(runs, {})) {
    const fs::path path = to_text(paths[run]);
    if (path.empty() || !fs::exists(path)) continue;
    const fs::path near = path.lexically_relative(fs::current_path());
    return near.empty() || near.string().starts_with("..") ? path.string() : near.string();
  }
  return "DIR";
}

}  // namespace

void add_recipe_options(CLI::App& app, RecipeOptions& options, std::string_view exhibit) {
  app.add_option("--profile", options.profile, "Apply this profile of the file")->type_name("NAME");
  app.add_option("--experiment", options.experiment, "Show runs of this experiment (default: the recipe's)")
      ->type_name("NAME");
  if (!exhibit.empty()) {
    app.add_option("--name", options.name, fmt::format("Only the {} with this name", exhibit))->type_name("NAME");
  }
  app.add_option("--where", options.where, "Only runs with KEY=VALUE (!=, <, <=, >, >=)")
      ->allow_extra_args(false)
      ->type_name("CONDITION");
}

Recipe paper_recipe(const Yaml& whole, const fs::path& path) {
  const bool has_profile = find_path(whole, "profiles.paper") != nullptr;
  return recipe_of(configuration_of(whole, path, has_profile ? "paper" : "", {}));
}

RecipeView read_recipe(const fs::path& path, const RecipeOptions& options) {
  const Yaml file = read_yaml_argument(path);
  RecipeView recipe{path, file, configuration_of(file, path, options.profile, {}), options.experiment, {}};
  recipe.paper = paper_runs_of(file, path);
  recipe.filters = parse_filters(options.where);
  if (recipe.experiment.empty()) recipe.experiment = recipe_experiment(recipe.file);
  if (!recipe.experiment.empty()) {
    recipe.filters.push_back({"experiment", Filter::Relation::kEqual, {recipe.experiment}});
  }
  return recipe;
}

std::string command_for_runs(const RecipeView& recipe, const RecipeOptions& options, const GlobalOptions& global,
                             RunTable& runs) {
  const bool sweep = recipe.file.find("sweep") != nullptr;
  if (!sweep && recipe.file.find("model") == nullptr) return "";
  if (!fs::is_regular_file(recipe.path)) return "";  // a pipe cannot be read again
  std::string command = fmt::format("xlm {} {}", sweep ? "sweep" : "train", shell_word(recipe.path.string()));
  if (!options.profile.empty()) command += " --profile " + shell_word(options.profile);
  if (!options.experiment.empty()) command += " " + shell_word("experiment=" + options.experiment);
  if (global.runs != GlobalOptions().runs) command += " --runs " + shell_word(global.runs.string());
  return lacks_data(recipe.file) ? command + " " + shell_word("data.path=" + newest_data(runs)) : command;
}

void warn_without_runs(const RecipeView& recipe, const RecipeOptions& options, const GlobalOptions& global,
                       RunTable& runs) {
  if (!runs.select(recipe.filters).empty() || runs.size() + recipe.experiment.size() == 0) return;
  const Filter of_experiment{"experiment", Filter::Relation::kEqual, {recipe.experiment}};
  if (recipe.experiment.empty() || !runs.select({of_experiment}).empty()) {
    spdlog::warn("no runs to show: {}", unmet_condition(runs, recipe.filters));
    return;
  }
  if (options.profile.empty() && options.experiment.empty()) {
    for (const Value& value : runs.column("experiment")) {
      const std::string name = to_text(value);
      if (!name.starts_with(recipe.experiment + "-")) continue;
      spdlog::warn("no run of the experiment '{}' is in {} yet, but there are some of '{}'\nadd --profile {}",
                   recipe.experiment, global.runs.string(), name, name.substr(recipe.experiment.size() + 1));
      return;
    }
  }
  const std::string command = command_for_runs(recipe, options, global, runs);
  spdlog::warn("no run of the experiment '{}' is in {} yet{}", recipe.experiment, global.runs.string(),
               command.empty() ? "" : fmt::format(": `{}` makes them", command));
}

}  // namespace xlm
