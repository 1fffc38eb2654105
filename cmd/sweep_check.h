// xlm sweep --check: whether a recipe's tables and figures can be filled.
#pragma once

#include <string>
#include <vector>

#include "base/files.h"
#include "base/yaml.h"
#include "cmd/command.h"
#include "experiments/checks/recipe_check.h"

namespace xlm {

/// Checks the recipe `file` under a profile (empty: none), whose configuration is `tree`: its sweep, evaluations,
/// tables, figures and the commands in its header.
RecipeCheck check_sweep(const YamlFile& file, const std::string& profile, const Yaml& tree);

/// Prints the findings. Returns kDone if there are none, otherwise kUsage.
int report_check(const fs::path& file, const std::string& profile, const RecipeCheck& check,
                 const GlobalOptions& global);

}  // namespace xlm
