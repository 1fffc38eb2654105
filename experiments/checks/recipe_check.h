// Whether a recipe asks for what it can get: its tables, figures, continuations and claims are built of the runs that
// its sweep would make, and what stays empty, what is mixed and what is shown nowhere is found.
#pragma once

#include <string>
#include <vector>

#include "base/yaml.h"
#include "experiments/checks/supposed_runs.h"

namespace xlm {

/// Something that is wrong with a recipe.
struct RecipeFinding {
  std::string place;    // file:line
  std::string message;  // what is wrong
  std::string advice;   // what to do
};

/// What a check saw.
struct RecipeCheck {
  SupposedSweep sweep;
  std::size_t tables = 0;
  std::size_t figures = 0;
  std::size_t continuations = 0;
  std::size_t claims = 0;
  std::vector<RecipeFinding> findings;
};

/// Whether `profile` of a recipe is the paper's own configuration: the profile `paper`, or none if there is no such
/// one.
bool is_paper_profile(const Yaml& file, const std::string& profile);

/// Checks a configuration as read_configuration gives it. `of_paper`: it is the paper's own, so that its printed values
/// should get verdicts and its claims should be decided. Smaller profiles try a recipe out; their claims may stay
/// undecided or not tried, and say so. Throws UsageError with file:line for a sweep or evaluations that are not valid;
/// mistakes in the description of a table, a figure, a continuation or a claim are findings.
RecipeCheck check_recipe(const Yaml& tree, bool of_paper);

}  // namespace xlm
