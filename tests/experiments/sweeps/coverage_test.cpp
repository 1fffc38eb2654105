// docs/coverage.md against the recipes: what it names is there, and every claim of a recipe is in it.
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/text.h"
#include "experiments/configuration/configuration.h"
#include "results/claims/claim_description.h"
#include "results/exhibits/continuation_description.h"
#include "results/exhibits/exhibits.h"
#include "results/figures/figure_description.h"
#include "results/tables/table_description.h"

namespace xlm {
namespace {

/// Names of exhibits by kind: "claim", "table", "figure", "continuation".
using NamesByKind = std::map<std::string, std::set<std::string>>;

NamesByKind names_in_recipe(const fs::path& file) {
  const Yaml tree = read_configuration(file, "paper", {});
  NamesByKind names;
  const auto each = [&](ExhibitKind kind, const std::string& word, const auto& name_of) {
    if (!has_exhibits(tree, kind)) return;
    for (const Yaml& node : find_exhibits(tree, kind)) names[word].insert(name_of(node));
  };
  each(ExhibitKind::kClaim, "claim", [](const Yaml& node) { return read_claim_description(node).name; });
  each(ExhibitKind::kTable, "table", [](const Yaml& node) { return read_table_description(node).name; });
  each(ExhibitKind::kFigure, "figure", [](const Yaml& node) { return read_figure_description(node).name; });
  each(ExhibitKind::kContinuation, "continuation",
       [](const Yaml& node) { return read_continuation_description(node).name; });
  return names;
}

/// `word` without the backticks around it; empty if there are none.
std::string in_backticks(const std::string& word) {
  const bool quoted = word.size() > 2 && word.front() == '`' && word.back() == '`';
  return quoted ? word.substr(1, word.size() - 2) : "";
}

/// What the page names of each recipe.
std::map<std::string, NamesByKind> names_on_page() {
  std::map<std::string, NamesByKind> names;
  std::istringstream page(read_file(fs::path(XLM_SOURCE_DIR) / "docs/coverage.md"));
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| ") || line.starts_with("| where") || line.starts_with("| ---")) continue;
    const std::vector<std::string> cells = split(line, '|');
    if (cells.size() != 6) {
      ADD_FAILURE() << "a row has four columns: " << line;
      continue;
    }
    const std::string recipe = in_backticks(std::string(trim(cells[3])));
    EXPECT_FALSE(recipe.empty()) << line;
    std::string kind;
    std::istringstream words(cells[4]);
    for (std::string word; words >> word;) {
      const std::string name = in_backticks(word);
      if (name.empty()) {
        kind = word;
      } else {
        names[recipe][kind].insert(name);
      }
    }
    EXPECT_FALSE(names[recipe].empty()) << line;
  }
  return names;
}

fs::path recipes() { return fs::path(XLM_SOURCE_DIR) / "experiments/recipes"; }

TEST(Coverage, NamesWhatTheRecipesHave) {
  const std::map<std::string, NamesByKind> page = names_on_page();
  EXPECT_GE(page.size(), 15U);
  for (const auto& [recipe, kinds] : page) {
    const fs::path file = recipes() / (recipe + ".yaml");
    ASSERT_TRUE(fs::is_regular_file(file)) << recipe;
    NamesByKind there = names_in_recipe(file);
    for (const auto& [kind, names] : kinds) {
      for (const std::string& name : names) {
        EXPECT_TRUE(there[kind].contains(name)) << recipe << " has no " << kind << " '" << name << "'";
      }
    }
  }
}

TEST(Coverage, HasEveryClaimOfTheRecipes) {
  std::map<std::string, NamesByKind> page = names_on_page();
  std::size_t claims = 0;
  for (const auto& entry : fs::recursive_directory_iterator(recipes())) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string recipe =
        fs::path(entry.path()).replace_extension().lexically_relative(recipes()).generic_string();
    NamesByKind there = names_in_recipe(entry.path());
    for (const std::string& name : there["claim"]) {
      ++claims;
      EXPECT_TRUE(page[recipe]["claim"].contains(name)) << "docs/coverage.md lacks " << name << " of " << recipe;
    }
  }
  EXPECT_GE(claims, 80U);
}

}  // namespace
}  // namespace xlm
