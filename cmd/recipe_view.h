// The recipe of table, figure and report, and the runs that it shows.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "base/error.h"
#include "base/yaml.h"
#include "cmd/command.h"
#include "experiments/sweeps/recipe.h"
#include "results/exhibits/exhibits.h"
#include "results/store/nothing_to_show.h"
#include "results/store/run_table.h"
#include "results/tables/paper_runs.h"

namespace xlm {

struct RecipeOptions {
  std::string profile;
  std::string experiment;
  std::string name;
  std::vector<std::string> where;
};

/// Declares them. `exhibit` is what --name chooses ("table"); empty: there is no --name.
void add_recipe_options(CLI::App& app, RecipeOptions& options, std::string_view exhibit);

struct RecipeView {
  fs::path path;
  Yaml whole;              // as it stands in the file, with its profiles
  Yaml file;               // with the profile laid over it
  std::string experiment;  // empty: all experiments
  std::vector<Filter> filters;
  std::shared_ptr<PaperRuns> paper;  // the runs of its profile `paper`; null: it describes no runs
};

/// Reads `path`, lays the profile over it, and finds the conditions on its runs. Throws UsageError.
RecipeView read_recipe(const fs::path& path, const RecipeOptions& options);

/// The recipe of the paper's own sizes: with the profile `paper`, or the file alone if it has none. Throws UsageError.
Recipe paper_recipe(const Yaml& whole, const fs::path& path);

/// The command that does a recipe's runs; empty if it describes none. If the data that the recipe names are not there,
/// it names those of the newest run.
std::string command_for_runs(const RecipeView& recipe, const RecipeOptions& options, const GlobalOptions& global,
                             RunTable& runs);

/// Warns if the store has no run of the recipe's experiment yet.
void warn_without_runs(const RecipeView& recipe, const RecipeOptions& options, const GlobalOptions& global,
                       RunTable& runs);

/// The descriptions of a kind in a file, or those called `name`, as `read` reads them.
template <class Read>
auto descriptions_in(const Yaml& file, ExhibitKind kind, const std::string& name, const Read& read) {
  std::vector<std::invoke_result_t<Read, const Yaml&>> descriptions;
  for (const Yaml& node : find_exhibits(file, kind, name)) descriptions.push_back(read(node));
  return descriptions;
}

/// What `build` makes of a description. An error in it, such as an unknown column, is reported with the description's
/// place.
template <class Description, class Build>
auto build_at_its_place(const Description& description, const Build& build) {
  try {
    return build(description);
  } catch (const UsageError& error) {
    throw UsageError(fmt::format("{}: {}", description.place, error.what()));
  }
}

/// Builds each of `descriptions` and passes the result to `use`. A description without data is a warning, or a
/// DataError if it is the only one. Returns how many were built.
template <class Description, class Build, class Use>
std::size_t make_each(const std::vector<Description>& descriptions, const Build& build, const Use& use) {
  std::size_t made = 0;
  for (const Description& description : descriptions) {
    auto built = build_at_its_place(description, build);
    if (const auto* nothing = std::get_if<NothingToShow>(&built)) {
      if (descriptions.size() == 1) throw DataError(nothing->message);
      spdlog::warn(nothing->message);
      continue;
    }
    use(std::get<0>(std::move(built)));
    ++made;
  }
  return made;
}

}  // namespace xlm
