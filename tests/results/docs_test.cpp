// The pages of results name exactly the tables, views and keys that exist.
#include <regex>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files.h"
#include "base/text.h"
#include "results/exhibits/continuation_description.h"
#include "results/figures/figure_description.h"
#include "results/figures/figure_kind.h"
#include "results/fits/fit_description.h"
#include "results/store/run_list.h"
#include "results/store/sql_query.h"
#include "results/store/store.h"
#include "results/tables/table_description.h"

namespace xlm {
namespace {

using ::testing::HasSubstr;

std::string page(const std::string& name) { return read_file(fs::path(XLM_SOURCE_DIR) / "docs" / (name + ".md")); }

/// The section of the one of the pages that has this heading.
std::string section_below(const std::string& heading) {
  std::string text = "\n";
  for (const char* name : {"results", "store", "fits"}) text += page(name) + "\n";
  const std::size_t begin = text.find("\n" + heading + "\n");
  EXPECT_NE(begin, std::string::npos) << heading;
  return text.substr(begin + 1, text.find("\n#", begin + 1) - begin - 1);
}

/// Names in the first columns of a text's Markdown tables.
std::set<std::string> names_in(const std::string& text) {
  std::set<std::string> names;
  const std::regex row("\\n\\| (`[a-z_]+`(, `[a-z_]+`)*)");
  for (std::sregex_iterator match(text.begin(), text.end(), row), end; match != end; ++match) {
    for (const std::string& name : split((*match)[1].str(), '`')) {
      if (name.find_first_not_of(", ") != std::string::npos) names.insert(name);
    }
  }
  return names;
}

std::set<std::string> names_below(const std::string& heading) { return names_in(section_below(heading)); }

/// Names in the first column of a table below a heading: the table whose first column has that title.
std::set<std::string> names_of_table(const std::string& heading, const std::string& title) {
  const std::string section = section_below(heading);
  const std::size_t begin = section.find("\n| " + title + " |");
  EXPECT_NE(begin, std::string::npos) << title;
  return begin == std::string::npos ? std::set<std::string>()
                                    : names_in(section.substr(begin, section.find("\n\n", begin) - begin));
}

/// That table's row about `name`.
std::string row_below(const std::string& heading, const std::string& name) {
  const std::string text = section_below(heading);
  const std::size_t begin = text.find("\n| `" + name + "` |");
  return begin == std::string::npos ? "" : text.substr(begin + 1, text.find('\n', begin + 1) - begin - 1);
}

std::set<std::string> in_store(const std::string& type) {
  Store store = Store::in_memory();
  return store.use([&](SQLite::Database& database) {
    std::set<std::string> names;
    SQLite::Statement query(database, "SELECT name FROM sqlite_master WHERE type = ?");
    query.bind(1, type);
    while (query.executeStep()) names.insert(query.getColumn(0).getString());
    return names;
  });
}

TEST(ResultsDocs, ListAllViews) { EXPECT_EQ(names_below("### Views"), in_store("view")); }

TEST(ResultsDocs, TablesBehindTheViewsHaveThePrefixThatIsNamed) {
  EXPECT_THAT(page("store"), HasSubstr("The tables behind the views, `stored_…`, are packed"));
  for (const std::string& name : in_store("table")) {
    EXPECT_TRUE(name.starts_with("stored_") || name == "schema_version") << name;
  }
}

TEST(ResultsDocs, NameEveryColumn) {
  Store store = Store::in_memory();
  for (const std::string& name : in_store("view")) {
    const std::string row = row_below("### Views", name);
    store.use([&](SQLite::Database& database) {
      SQLite::Statement query(database, "SELECT name FROM pragma_table_info('" + name + "')");
      while (query.executeStep()) EXPECT_THAT(row, HasSubstr("`" + query.getColumn(0).getString() + "`"));
    });
  }
}

TEST(ResultsDocs, TheGlossarySaysWhatEveryStatusMeans) {
  const std::string glossary = page("glossary");
  for (const std::string_view status : kRunStatusNames) {
    EXPECT_THAT(glossary, HasSubstr("\n| " + std::string(status) + " | ")) << status;
  }
}

TEST(ResultsDocs, ExampleStatementsRun) {
  const std::string text = page("store");
  Store store = Store::in_memory();
  const std::regex block("```sql\\n([^`]*)```");
  int statements = 0;
  for (std::sregex_iterator match(text.begin(), text.end(), block), end; match != end; ++match) {
    EXPECT_NO_THROW(run_sql(store, (*match)[1])) << (*match)[1];
    ++statements;
  }
  EXPECT_GE(statements, 3);
}

TEST(ResultsDocs, ExplainEveryKeyOfExhibits) {
  const auto sorted = [](const std::vector<std::string>& keys) { return std::set(keys.begin(), keys.end()); };
  EXPECT_EQ(names_of_table("## Table files", "key"), sorted(table_keys()));
  EXPECT_EQ(names_of_table("## Figure files", "key"), sorted(figure_keys()));
  EXPECT_EQ(names_of_table("## In a recipe", "key"), sorted(fit_keys()));
  EXPECT_EQ(names_of_table("## Continuations", "key"), sorted(continuation_keys()));
  OptionLister lister;
  CellOptions().visit(lister);
  std::set<std::string> cells{"choose"};
  for (const OptionEntry& entry : lister.entries()) cells.insert(entry.key);
  EXPECT_EQ(names_of_table("## Table files", "key of `cells`"), cells);
}

TEST(ResultsDocs, NameEveryKindOfFigure) {
  const std::string row = row_below("## Figure files", "kind");
  for (const FigureKind& kind : figure_kinds()) EXPECT_THAT(row, HasSubstr(kind.name));
}

}  // namespace
}  // namespace xlm
