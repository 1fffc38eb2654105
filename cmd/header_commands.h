// The commands in the comment at the top of a recipe, tried against the runs that its sweep would make.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/yaml.h"
#include "experiments/checks/recipe_check.h"
#include "results/store/run_table.h"

namespace xlm {

/// A recipe under a profile, with the runs of its sweep in a store.
struct CheckedRecipe {
  const YamlFile& file;
  std::string profile;  // empty: none
  const Yaml& tree;     // as read_configuration gives it
  RunTable& runs;
};

/// Commands of a header are lines of the comment that opens a file, indented and beginning with `xlm`. In them THIS is
/// the file, `…`, `a|b|c` or PROFILE after --profile the profile, EXPERIMENT the recipe's experiment under it, and RUN
/// one of its runs. Each must be one that the program takes, and select something: a sweep has points, conditions hold
/// for a run, columns are known, a table or a figure is there.
std::vector<RecipeFinding> check_header_commands(const CheckedRecipe& recipe);

}  // namespace xlm
