// xlm report: all tables, figures and fits of recipes on one page, every number traceable to its runs.
#include <algorithm>
#include <ctime>
#include <memory>
#include <set>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/version.h"
#include "cmd/claims_view.h"
#include "cmd/recipe_view.h"
#include "cmd/results_store.h"
#include "results/figures/figure_description.h"
#include "results/figures/series_looks.h"
#include "results/fits/fit_description.h"
#include "results/fits/fitted_runs.h"
#include "results/pages/report.h"
#include "results/pages/table_html.h"
#include "results/tables/table_description.h"

namespace xlm {
namespace {

struct ReportOptions : RecipeOptions {
  std::vector<fs::path> recipes;
  fs::path out = "report.html";
};

bool has_exhibits(const Yaml& file) {
  return has_exhibits(file, ExhibitKind::kTable) || has_exhibits(file, ExhibitKind::kFigure) ||
         has_exhibits(file, ExhibitKind::kClaim) || has_exhibits(file, ExhibitKind::kFit);
}

/// The recipes below a folder that describe tables, figures, claims or fits, in the order of their names.
std::vector<fs::path> recipes_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string ending = entry.path().extension().string();
    if (!entry.is_regular_file() || (ending != ".yaml" && ending != ".yml")) continue;
    if (has_exhibits(read_yaml(entry.path()))) files.push_back(entry.path());
  }
  if (files.empty()) {
    throw UsageError(
        fmt::format("no recipe below {} describes a table, a figure or a claim\n"
                    "docs/results.md and docs/claims.md describe them",
                    folder.string()));
  }
  std::ranges::sort(files);
  return files;
}

/// All recipes that were named, each once.
std::vector<fs::path> recipe_files(const ReportOptions& options) {
  std::vector<fs::path> files;
  std::set<fs::path> seen;
  for (const fs::path& named : options.recipes) {
    for (const fs::path& file : fs::is_directory(named) ? recipes_below(named) : std::vector<fs::path>{named}) {
      std::error_code is_pipe;
      const fs::path place = fs::weakly_canonical(file, is_pipe);
      if (seen.insert(is_pipe ? file : place).second) files.push_back(file);
    }
  }
  return files;
}

/// A table, figure or fit, or why there is none.
template <class Description, class Build>
Exhibit exhibit_of(const Description& description, const Build& build) {
  return std::visit([](auto&& made) { return Exhibit(std::forward<decltype(made)>(made)); },
                    build_at_its_place(description, build));
}

std::vector<Exhibit> exhibits_of(const RecipeView& recipe, RunTable& runs, const fs::path& folder) {
  std::vector<Exhibit> exhibits;
  const auto add = [&](ExhibitKind kind, const auto& read, const auto& build) {
    if (!has_exhibits(recipe.file, kind)) return;
    for (const Yaml& node : find_exhibits(recipe.file, kind)) exhibits.push_back(exhibit_of(read(node), build));
  };
  SharedLooks looks;
  const auto read_table = [&](const Yaml& node) {
    TableDescription description = read_table_description(node);
    description.paper = recipe.paper;
    return description;
  };
  add(ExhibitKind::kTable, read_table,
      [&](const TableDescription& one) { return build_table(runs, one, recipe.filters); });
  add(ExhibitKind::kFigure, read_figure_description,
      [&](const FigureDescription& one) { return looks.applied(build_figure(runs, one, recipe.filters)); });
  add(ExhibitKind::kFit, read_fit_description,
      [&](const FitDescription& one) { return fit_with_forecasts(runs, one, recipe.filters, folder); });
  return exhibits;
}

ReportRecipe part_of(const RecipeView& recipe, const ReportOptions& options, const GlobalOptions& global,
                     RunTable& runs) {
  if (!has_exhibits(recipe.file)) {
    throw UsageError(fmt::format(
        "{} describes no table and no figure, and no claim\ndocs/results.md and docs/claims.md describe them",
        recipe.path.string()));
  }
  std::vector<std::string> selected;
  if (!recipe.filters.empty()) {  // without conditions it lists no runs
    for (const std::size_t row : runs.select(recipe.filters)) {
      if (row < runs.size()) selected.push_back(runs.id(row));  // the other rows are evaluations of these runs
    }
  }
  return {.title = recipe.experiment.empty() ? recipe.path.stem().string() : recipe.experiment,
          .file = recipe.path.string(),
          .profile = options.profile,
          .command = command_for_runs(recipe, options, global, runs),
          .claims = has_exhibits(recipe.file, ExhibitKind::kClaim) ? claims_of(runs, recipe, options, "", global.runs)
                                                                   : ClaimList{},
          .exhibits = exhibits_of(recipe, runs, global.runs),
          .runs = std::move(selected)};
}

bool shows_nothing(const Exhibit& exhibit) {
  const auto* table = std::get_if<Table>(&exhibit);
  return std::holds_alternative<NothingToShow>(exhibit) || (table != nullptr && is_empty(*table));
}

std::size_t count_exhibits(const std::vector<RecipeView>& recipes, ExhibitKind kind) {
  std::size_t count = 0;
  for (const RecipeView& recipe : recipes) {
    if (has_exhibits(recipe.file, kind)) count += find_exhibits(recipe.file, kind).size();
  }
  return count;
}

Json summary_of(const Report& report, const std::vector<RecipeView>& recipes, const fs::path& file) {
  std::int64_t nothing = 0;
  for (const ReportRecipe& recipe : report.recipes) {
    nothing += std::ranges::count_if(recipe.exhibits, shows_nothing);
  }
  const PrintedCounts counts = count_printed(report);
  Json printed = {{"values", counts.total()}};
  for (std::size_t i = 0; i < kPrintedOutcomes.size(); ++i)
    printed[std::string(kPrintedOutcomes.at(i))] = counts.of.at(i);
  ClaimCounts verdicts{};
  for (const ReportRecipe& recipe : report.recipes) {
    const ClaimCounts of_recipe = count_claims(recipe.claims.claims);
    for (std::size_t i = 0; i < verdicts.size(); ++i) verdicts.at(i) += of_recipe.at(i);
  }
  Json claims = Json::object();
  for (std::size_t i = 0; i < verdicts.size(); ++i) claims[std::string(kVerdictNames.at(i))] = verdicts.at(i);
  return {{"file", file.string()},
          {"recipes", report.recipes.size()},
          {"claims", std::move(claims)},
          {"tables", count_exhibits(recipes, ExhibitKind::kTable)},
          {"figures", count_exhibits(recipes, ExhibitKind::kFigure)},
          {"fits", count_exhibits(recipes, ExhibitKind::kFit)},
          {"nothing_to_show", nothing},
          {"printed", printed}};
}

/// Programs choose by the ending how to open a file, so a page has an ending of HTML.
void refuse_other_endings(const fs::path& out) {
  const std::string ending = out.extension().string();
  if (ending.empty() || ending == ".html" || ending == ".htm") return;
  throw UsageError(
      fmt::format("--out {}: a report is an HTML page\nwrite it to {}; a browser prints it as PDF, and `xlm table` and "
                  "`xlm figure` write other formats",
                  out.string(), fs::path(out).replace_extension(".html").string()));
}

int run_report(const ReportOptions& options, const GlobalOptions& global) {
  refuse_other_endings(options.out);
  std::vector<RecipeView> recipes;
  for (const fs::path& file : recipe_files(options)) recipes.push_back(read_recipe(file, options));
  RunTable runs = open_runs(global);
  Report report;
  for (const RecipeView& recipe : recipes) {
    warn_without_runs(recipe, options, global, runs);
    report.recipes.push_back(part_of(recipe, options, global, runs));
  }
  report.title = report.recipes.size() == 1 ? "Results: " + report.recipes.front().title : "Results";
  report.origin = fmt::format("xlm {} ({}), {:%Y-%m-%d %H:%M} UTC, folder {}", kVersion, kCommit,
                              fmt::gmtime(std::time(nullptr)), global.runs.string());
  write_output(options.out, report_page(runs.store(), report));
  const Json summary = summary_of(report, recipes, options.out);
  print(global.json ? json_text(summary) : options.out.string() + "\n");
  return kDone;
}

}  // namespace

std::function<int()> declare_report(CLI::App& app, const GlobalOptions& global) {
  const auto options = std::make_shared<ReportOptions>();
  app.add_option("RECIPE.yaml", options->recipes, "Recipes, or folders of recipes")->transform(recipe_file)->required();
  add_recipe_options(app, *options, "");
  app.add_option("--out", options->out, "The page")->capture_default_str()->type_name("FILE");
  app.footer(
      "Writes one HTML page that needs only a browser: every claim, table, figure and fit, and a section about every "
      "run\n"
      "behind them. A table or figure without runs names the command that makes them.\n\n"
      "Examples:\n"
      "  xlm report experiments/recipes/adaptive-span/span-limit.yaml --profile smoke\n"
      "  xlm report experiments/recipes --profile small --out small.html\n"
      "  xlm report table1.yaml curves.yaml --where status=done");
  return [options, &global] { return run_report(*options, global); };
}

}  // namespace xlm
