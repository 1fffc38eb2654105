// The manual names every key that the descriptions of tables, figures, claims, fits and continuations take.
#include <regex>
#include <set>

#include <gtest/gtest.h>

#include "base/files.h"
#include "results/claims/claim_description.h"
#include "results/exhibits/continuation_description.h"
#include "results/figures/figure_description.h"
#include "results/fits/fit_description.h"
#include "results/tables/table_description.h"

namespace xlm {
namespace {

void expect_named(const std::vector<std::string>& keys, const std::string& page) {
  static const std::set<std::string> further{"d", "e", "f"};  // sides, of which the page names three
  const std::string text = read_file(fs::path(XLM_SOURCE_DIR) / "docs" / page);
  for (const std::string& key : keys) {
    if (further.contains(key)) continue;
    EXPECT_TRUE(std::regex_search(text, std::regex("`" + key + "[`:, ]"))) << page << " does not name " << key;
  }
}

TEST(ExhibitKeys, AreNamedInTheManual) {
  expect_named(claim_keys(), "claims.md");
  expect_named(table_keys(), "results.md");
  expect_named(figure_keys(), "results.md");
  expect_named(continuation_keys(), "results.md");
  expect_named(fit_keys(), "fits.md");
}

}  // namespace
}  // namespace xlm
