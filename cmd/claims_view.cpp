// The claims of a recipe, judged by the runs of a store.
#include "cmd/claims_view.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "experiments/checks/configured_numbers.h"
#include "experiments/configuration/configuration.h"
#include "experiments/worker/core_library.h"
#include "results/claims/registered_claim.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

std::string title_of(const RecipeView& recipe, const RecipeOptions& options) {
  const std::string of = recipe.experiment.empty() ? recipe.path.stem().string() : recipe.experiment;
  return options.profile.empty() ? "Claims of " + of : fmt::format("Claims of {}, profile {}", of, options.profile);
}

bool has_needs(const ClaimList& list, ClaimNeeds needs) {
  return std::ranges::any_of(list.claims, [&](const JudgedClaim& claim) { return claim.description.needs == needs; });
}

/// In which keys the runs behind the claims are not as the paper's; empty if they are.
std::string note_on_sizes(RunTable& runs, const RecipeView& recipe, const ClaimList& list) {
  constexpr std::size_t kMaxNoteKeys = 5;
  std::vector<std::size_t> rows;
  for (const JudgedClaim& claim : list.claims) {
    for (const ClaimPart& part : claim.parts) rows.insert(rows.end(), part.rows.begin(), part.rows.end());
  }
  if (recipe.paper == nullptr || rows.empty()) return "";
  std::vector<std::string> keys;
  for (const KeyApart& apart : recipe.paper->keys_apart(runs, rows, {}, {})) keys.push_back(to_text(apart));
  if (keys.empty()) return "";
  return fmt::format("The runs are not configured as the paper's: {}. What is better can be tried at any size.",
                     listed_names(keys, kMaxNoteKeys));
}

/// How many runs of the recipe have a test that is still sealed; empty if none.
std::string note_on_sealed(RunTable& runs, const RecipeView& recipe, const fs::path& folder) {
  std::size_t sealed = 0;
  const std::vector<Value>& seals = runs.column_or_nothing(kSealedKey);
  const std::vector<Value>& statuses = runs.column("status");
  const std::vector<Registration> chain = read_registrations(folder);
  for (const std::size_t row : runs.select(recipe.filters)) {
    const auto opens = [&](const Registration& one) { return one.opens(runs.id(row)); };
    if (to_text(seals[row]) == "test" && to_text(statuses[row]) != name_of(RunStatus::kDiverged) &&
        std::ranges::none_of(chain, opens))
      ++sealed;
  }
  return sealed == 0 ? ""
                     : fmt::format("The test of {} is sealed: --open measures it, once, when all are done.",
                                   counted(sealed, "run"));
}

/// What the points of the recipe's sweep set; nothing if it has none.
std::vector<PlannedPoint> points_of_sweep(const RecipeView& recipe, const std::string& profile) {
  std::vector<PlannedPoint> points;
  if (recipe.file.find("sweep") == nullptr) return points;
  const Recipe planned = recipe_of(configuration_of(recipe.whole, recipe.path, profile, {}));
  SettingList own;  // of all points that do not set them
  flatten(to_json(planned.run), "", own);
  for (const SweepPoint& of_sweep : planned.points) {
    PlannedPoint& point = points.emplace_back(planned_point(of_sweep));
    for (const auto& [key, value] : own) {
      point.try_emplace(key, value.is_string() ? value.get<std::string>() : value.dump());
    }
    if (!recipe.experiment.empty()) point["experiment"] = recipe.experiment;
  }
  return points;
}

/// How many records there are up to the one that was printed when it was made.
std::size_t counted_until(const std::vector<Registration>& chain, const std::string& hash, const fs::path& folder) {
  if (hash.empty()) return chain.size();
  const auto last = std::ranges::find_if(chain, [&](const Registration& one) { return one.hash == hash; });
  if (last != chain.end()) return static_cast<std::size_t>(last - chain.begin()) + 1;
  const std::size_t digits = chain.empty() ? 0 : chain.front().hash.size();
  if (hash.size() < digits) {
    throw UsageError(fmt::format(
        "--verify {}: a part of a hash proves nothing\ngive the whole line, with all {} digits", hash, digits));
  }
  throw DataError(fmt::format(
      "no record of registered claims in {} has the hash {}\nit was changed since, or it is that of other runs",
      folder.string(), hash));
}

}  // namespace

PlannedPoint planned_point(const SweepPoint& point) {
  PlannedPoint planned;
  for (const auto& [key, value] : point) planned[key] = value.is_scalar() ? value.scalar : to_json(value).dump();
  return planned;
}

ClaimList claims_of(RunTable& runs, const RecipeView& recipe, const RecipeOptions& options, const std::string& name,
                    const fs::path& folder, const std::string& until) {
  const std::vector<Registration> chain = read_registrations(folder);
  const std::size_t counted = counted_until(chain, until, folder);
  ClaimList list{.title = title_of(recipe, options)};
  list.name = name_from_title(list.title);
  std::optional<Recipe> paper;
  ClaimContext context{.filters = recipe.filters,
                       .paper = recipe.paper.get(),
                       .configured = [&](const Yaml& settings, const std::set<std::string>& columns) {
                         if (!paper) paper = paper_recipe(recipe.whole, recipe.path);
                         return configured_numbers(
                             *paper, settings, columns,
                             [](const RunOptions& run, std::int64_t symbols) { return core().costs(run, symbols); });
                       }};
  for (const Yaml& node : find_exhibits(recipe.file, ExhibitKind::kClaim, name)) {
    const auto build = [&](const ClaimDescription& one) {
      if (one.planned > 0 && context.points.empty()) context.points = points_of_sweep(recipe, options.profile);
      return judge_claim(runs, one, context);
    };
    JudgedClaim judged = build_at_its_place(read_claim_description(node), build);
    judged.registered = registration_of(runs, judged, to_json(node), chain, counted, context, folder);
    list.claims.push_back(std::move(judged));
  }
  if (std::string note = note_on_sealed(runs, recipe, folder); !note.empty()) list.notes.push_back(std::move(note));
  if (std::string note = note_on_sizes(runs, recipe, list); !note.empty()) list.notes.push_back(std::move(note));
  if (has_needs(list, ClaimNeeds::kCosts)) {
    list.notes.emplace_back("Claims without runs are computed from configurations of the paper's own sizes.");
  }
  return list;
}

}  // namespace xlm
