// Checks that a recipe can get what it asks for. Builds its tables, figures, continuations and claims from the runs
// that its sweep would make, and counts the settings that its fits would have. Finds what stays empty, what is mixed,
// and what is shown nowhere.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/checks/supposed_runs.h"
#include "results/exhibits/exhibits.h"

namespace xlm {

/// A mistake in a recipe.
struct RecipeFinding {
  std::string place;    // file:line
  std::string message;  // what is wrong
  std::string advice;   // what to do
};

/// The result of a check.
struct RecipeCheck {
  SupposedSweep sweep;
  std::size_t tables = 0;
  std::size_t figures = 0;
  std::size_t continuations = 0;
  std::size_t claims = 0;
  std::size_t fits = 0;
  std::vector<RecipeFinding> findings;
};

/// Whether `profile` of a recipe is the paper's own configuration: the profile `paper`, or none if there is no such
/// profile.
bool is_paper_profile(const Yaml& file, const std::string& profile);

/// Checks a recipe and its exhibits. `of_paper`: it is the paper's own, so that its printed
/// values should get verdicts and its claims should be decided. Claims of smaller profiles may stay undecided, and
/// their fits may lack settings. Throws UsageError with file:line for an invalid sweep or invalid evaluations. Mistakes
/// in the description of a table, figure, continuation, claim or fit are findings. `measured`: columns of results that
/// runs have already, of which a program's configuration need not say that it reports them.
RecipeCheck check_recipe(const Recipe& recipe, const Exhibits& exhibits, bool of_paper,
                         const std::set<std::string>& measured = {});

}  // namespace xlm
