// Reads a sweep's file.
#include "experiments/sweeps/recipe.h"

#include <fmt/format.h>

#include "base/lookup.h"
#include "base/text.h"
#include "experiments/configuration/configuration.h"

namespace xlm {
namespace {

void check_keys_of_sweep(const Yaml& sweep) {
  const std::vector<std::string> known{"grid",           "zip",    "random", "include", "exclude", "when",
                                       "early_stopping", "budget", "search"};
  if (!sweep.is_map()) fail_at(sweep, fmt::format("sweep must be a map with some of {}", join(known, ", ")));
  for (const auto& [key, value] : sweep.entries) {
    if (contains(known, key)) continue;
    fail_at(value, fmt::format("unknown key '{}' in 'sweep'{}", key, which_instead(key, known)));
  }
}

/// Those of `overrides` that set a value. The others are lists of the sweep.
std::vector<FixedKey> fixed_keys(const Yaml& configuration, const std::vector<std::string>& overrides) {
  std::vector<FixedKey> fixed;
  for (const std::string& assignment : overrides) {
    const std::string key = assignment.substr(0, assignment.find('='));
    if (const Yaml* value = find_path(configuration, key)) fixed.push_back({key, *value, assignment});
  }
  return fixed;
}

std::vector<SweepPoint> points_of(const Yaml& configuration, const std::optional<Search>& search,
                                  const std::vector<FixedKey>& fixed) {
  if (search) return supposed_points(*search);
  const Yaml* sweep = configuration.given("sweep");
  return sweep == nullptr ? std::vector<SweepPoint>{SweepPoint{}} : grid_points(configuration, *sweep, fixed);
}

/// Conditions on the data, which are maps, are no keys.
std::set<std::string> required_keys(const Yaml& configuration) {
  std::set<std::string> keys;
  const Yaml* required = configuration.find("require");
  if (required == nullptr) return keys;
  for (const Yaml& key : required->items) {
    if (key.is_scalar()) keys.insert(key.scalar);
  }
  return keys;
}

std::string place_of(const Yaml& configuration, const char* section) {
  const Yaml* node = configuration.find(section);
  return (node == nullptr ? configuration : *node).where();
}

}  // namespace

Recipe recipe_of(Yaml configuration, const std::vector<std::string>& overrides) {
  if (const Yaml* sweep = configuration.given("sweep")) check_keys_of_sweep(*sweep);
  const std::vector<FixedKey> fixed = fixed_keys(configuration, overrides);
  for (const FixedKey& one : fixed) fix_in_search(configuration, one);
  const Yaml* experiment = configuration.find("experiment");
  Recipe recipe{.experiment = experiment != nullptr ? experiment->scalar : "",
                .run = run_part(configuration),
                .search = read_search(configuration),
                .early_stopping = read_early_stopping(configuration),
                .evaluations = read_evaluations(configuration),
                .resources = read_resources(configuration.find("resources")),
                .corpora = Corpora(configuration),
                .reported = reported_names(configuration),
                .required = required_keys(configuration),
                .place_of_corpora = place_of(configuration, "corpora")};
  recipe.points = points_of(configuration, recipe.search, fixed);
  if (recipe.search) recipe.text = to_text(configuration);
  return recipe;
}

}  // namespace xlm
