// The claims of a recipe, judged by the runs of a store: what `claims` and `report` share.
#pragma once

#include "cmd/command.h"
#include "cmd/recipe_view.h"
#include "results/claims/claim_text.h"
#include "results/store/run_table.h"

namespace xlm {

/// What a point of a sweep sets, as text by key.
PlannedPoint planned_point(const SweepPoint& point);

/// Judges the claims of a recipe that are called `name` (all where it is empty). Claims on costs are of the recipe's
/// profile `paper`, whatever profile the runs are of: they need no training.
/// `folder`: of the runs. `until`: the hash of the last record of registered claims that counts; empty: all do. Throws
/// DataError if there is no such record.
ClaimList claims_of(RunTable& runs, const RecipeView& recipe, const RecipeOptions& options, const std::string& name,
                    const fs::path& folder, const std::string& until = "");

}  // namespace xlm
