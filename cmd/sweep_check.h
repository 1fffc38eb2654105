// xlm sweep --check: what it prints.
#pragma once

#include <string>

#include "base/files.h"
#include "cmd/command.h"
#include "experiments/checks/recipe_check.h"

namespace xlm {

/// Prints what the check of a recipe found; kDone if it found nothing, otherwise kUsage.
int report_check(const fs::path& file, const std::string& profile, const RecipeCheck& check,
                 const GlobalOptions& global);

}  // namespace xlm
