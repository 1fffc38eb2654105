// Checks the commands in a recipe's header comment against the runs that its sweep would make.
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

/// A header command is an indented line of the file's first comment that begins with `xlm`. THIS stands for the file,
/// EXPERIMENT for its experiment, RUN for one of its runs, and `…`, `a|b|c` or PROFILE behind --profile for the
/// profile. The program must accept each command, and it must select something: points, runs, known columns, a table or
/// a figure.
std::vector<RecipeFinding> check_header_commands(const CheckedRecipe& recipe);

}  // namespace xlm
