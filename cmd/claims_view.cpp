// The claims of a recipe, judged by the runs of a store.
#include "cmd/claims_view.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "experiments/checks/configured_numbers.h"
#include "experiments/configuration/configuration.h"
#include "experiments/worker/core_library.h"

namespace xlm {
namespace {

/// The recipe's own sizes: its profile `paper`, or the file alone where it has none.
Yaml paper_configuration(const RecipeView& recipe) {
  const bool has_profile = find_path(recipe.whole, "profiles.paper") != nullptr;
  return configuration_of(recipe.whole, recipe.path, has_profile ? "paper" : "", {});
}

std::string title_of(const RecipeView& recipe, const RecipeOptions& options) {
  const std::string of = recipe.experiment.empty() ? recipe.path.stem().string() : recipe.experiment;
  return options.profile.empty() ? "Claims of " + of : fmt::format("Claims of {}, profile {}", of, options.profile);
}

bool has_needs(const ClaimList& list, ClaimNeeds needs) {
  return std::any_of(list.claims.begin(), list.claims.end(),
                     [&](const JudgedClaim& claim) { return claim.description.needs == needs; });
}

}  // namespace

ClaimList claims_of(RunTable& runs, const RecipeView& recipe, const RecipeOptions& options, const std::string& name) {
  ClaimList list{.title = title_of(recipe, options)};
  list.name = name_from_title(list.title);
  std::optional<Yaml> paper;
  const ClaimContext context{.filters = recipe.filters,
                             .paper_size = recipe.paper_size,
                             .configured = [&](const Yaml& settings, const std::set<std::string>& columns) {
                               if (!paper) paper = paper_configuration(recipe);
                               return configured_numbers(*paper, settings, columns,
                                                         [](const RunOptions& run, std::int64_t symbols) {
                                                           return core().costs(run, symbols);
                                                         });
                             }};
  for (const Yaml& node : choose_exhibits(find_exhibits(recipe.file, ExhibitKind::kClaim), ExhibitKind::kClaim, name)) {
    const auto build = [&](const ClaimDescription& one) { return judge_claim(runs, one, context); };
    list.claims.push_back(build_at_its_place(read_claim_description(node), build));
  }
  if (!recipe.paper_size && has_needs(list, ClaimNeeds::kRuns)) {
    list.notes.push_back(
        fmt::format("Runs are of the profile {}, which is smaller than the paper's.", options.profile));
  }
  if (has_needs(list, ClaimNeeds::kCosts)) {
    list.notes.emplace_back("Claims without runs are computed from configurations of the paper's own sizes.");
  }
  return list;
}

}  // namespace xlm
