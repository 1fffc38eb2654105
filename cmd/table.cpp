// xlm table: a paper's tables from the store.
#include <memory>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "cmd/output_format.h"
#include "cmd/recipe_view.h"
#include "cmd/results_store.h"
#include "results/pages/page.h"
#include "results/tables/table.h"
#include "results/tables/table_text.h"

namespace xlm {
namespace {

struct TableOptions : RecipeOptions {
  fs::path file;
  std::string format;
  fs::path out;
};

std::string render_tables(Store& store, const std::vector<Table>& tables, const std::string& name, int width) {
  if (name == kHtml) return tables_page(store, tables);
  const TableFormat format = table_format(name);
  if (format == TableFormat::kJson) {
    Json list = Json::array();
    for (const Table& table : tables) list.push_back(to_json(table));
    return json_text(list);
  }
  if (format == TableFormat::kCsv && tables.size() > 1) {
    std::vector<std::string> titles;
    for (const Table& table : tables) titles.push_back(table.name.empty() ? table.title : table.name);
    throw UsageError(fmt::format("CSV holds one table\nchoose it with --name: {}", join(titles, ", ")));
  }
  std::vector<std::string> texts;
  for (const Table& table : tables) texts.push_back(render_table(table, format, width));
  return join(texts, "\n");
}

int run_table(const TableOptions& options, const GlobalOptions& global) {
  const std::string format = output_format(options.format, options.out, formats_with_pages(), global);
  const RecipeView recipe = read_recipe(options.file, options);
  std::vector<TableDescription> descriptions =
      descriptions_in(recipe.file, ExhibitKind::kTable, options.name, read_table_description);
  for (TableDescription& description : descriptions) description.paper = recipe.paper;
  RunTable runs = open_runs(global);
  warn_without_runs(recipe, options, global, runs);
  std::vector<Table> tables;
  const auto build = [&](const TableDescription& one) { return build_table(runs, one, recipe.filters); };
  make_each(descriptions, build, [&](Table table) { tables.push_back(std::move(table)); });
  print_or_write(render_tables(runs.store(), tables, format, global.width(options.out)), options.out);
  return tables.size() == descriptions.size() ? kDone : kBadData;
}

}  // namespace

std::function<int()> declare_table(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<TableOptions>();
  app.add_option("SPEC.yaml", options->file, "A table file, or a recipe with tables")
      ->transform(recipe_file)
      ->required();
  add_recipe_options(app, *options, "table");
  add_output_options(app, options->format, options->out, formats_with_pages());
  app.footer(
      "docs/results.md describes table files. An HTML page links every number to its runs.\n\n"
      "Examples:\n"
      "  xlm table experiments/recipes/adaptive-span/span-limit.yaml\n"
      "  xlm table experiments/recipes/adaptive-span/span-limit.yaml --profile smoke --format markdown\n"
      "  xlm table table1.yaml --where status=done --out table1.tex\n"
      "  xlm table table1.yaml --out table1.html");
  return [options, &global] { return run_table(*options, global); };
}

}  // namespace xlm
