// A report.
#include "results/pages/report.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/text.h"
#include "results/pages/table_html.h"

namespace xlm {
namespace {

const std::string& title_of(const Exhibit& exhibit) {
  if (const auto* table = std::get_if<Table>(&exhibit)) return table->title;
  if (const auto* figure = std::get_if<Figure>(&exhibit)) return figure->description.title;
  return std::get<NothingToShow>(exhibit).title;
}

std::string recipe_anchor(std::size_t recipe) { return fmt::format("recipe-{}", recipe + 1); }
std::string exhibit_anchor(std::size_t recipe, std::size_t exhibit) {
  return fmt::format("exhibit-{}-{}", recipe + 1, exhibit + 1);
}

std::string contents_of(const Report& report) {
  std::string out = "<nav>\n<h2>Contents</h2>\n<ol>\n";
  for (std::size_t r = 0; r < report.recipes.size(); ++r) {
    const ReportRecipe& recipe = report.recipes[r];
    out += fmt::format("<li><a href=\"#{}\">{}</a>\n<ol>\n", recipe_anchor(r), html_escape(recipe.title));
    for (std::size_t e = 0; e < recipe.exhibits.size(); ++e) {
      out += fmt::format("<li><a href=\"#{}\">{}</a></li>\n", exhibit_anchor(r, e),
                         html_escape(title_of(recipe.exhibits[e])));
    }
    out += "</ol></li>\n";
  }
  return out + "<li><a href=\"#runs\">Runs</a></li>\n</ol>\n</nav>\n";
}

/// What to do where numbers are missing.
std::string how_to_make(const ReportRecipe& recipe) {
  if (recipe.command.empty()) return "<code>xlm runs ls</code> lists the runs that there are.";
  return "Runs of this recipe are made with: <code>" + html_escape(recipe.command) + "</code>";
}

std::string exhibit_html(Page& page, const ReportRecipe& recipe, const Exhibit& exhibit) {
  if (const auto* figure = std::get_if<Figure>(&exhibit)) return page.figure(*figure);
  if (const auto* nothing = std::get_if<NothingToShow>(&exhibit)) {
    return fmt::format("<p class=\"nothing\">Nothing to show: {}. {}</p>\n", html_escape(nothing->reason),
                       how_to_make(recipe));
  }
  const auto& table = std::get<Table>(exhibit);
  std::string out = page.table(table);
  if (is_empty(table)) {
    out += "<p class=\"nothing\">No run has a number for this table yet. " + how_to_make(recipe) + "</p>\n";
  }
  return out;
}

/// "18 runs: 17 done, 1 failed".
std::string count_runs(Page& page, const ReportRecipe& recipe) {
  page.appendix().add(recipe.runs);
  std::map<std::string, int> counts;
  for (const std::string& run : recipe.runs) ++counts[page.appendix().run(run).value("status", "unknown")];
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts) parts.push_back(fmt::format("{} {}", count, status));
  return fmt::format("{} run{}{}{}", recipe.runs.size(), recipe.runs.size() == 1 ? "" : "s", parts.empty() ? "" : ": ",
                     join(parts, ", "));
}

/// How ours stand beside the printed values of all tables: "Printed values: 24. Ours beside them: agrees: 10, …".
std::string verdicts_of(const Report& report) {
  std::map<std::string, int> counts;
  int printed = 0;
  const auto count = [&](const TableCell& cell) {
    if (cell.printed.empty() || cell.missing == kPrintedOnly) return;  // other people's have none of ours beside them
    ++printed;
    ++counts[cell.compared ? std::string(name_of(cell.compared->verdict)) : cell.value ? "not a number" : "missing"];
  };
  for (const ReportRecipe& recipe : report.recipes) {
    for (const Exhibit& exhibit : recipe.exhibits) {
      const auto* table = std::get_if<Table>(&exhibit);
      if (table == nullptr) continue;
      for (const TableRow& row : table->rows) std::for_each(row.cells.begin(), row.cells.end(), count);
    }
  }
  if (printed == 0) return "";
  std::vector<std::string> parts;
  for (const auto& [verdict, cells] : counts) parts.push_back(fmt::format("{}: {}", verdict, cells));
  return fmt::format("<p class=\"verdicts\">Printed values: {}. Ours beside them: {}.</p>\n", printed,
                     join(parts, ", "));
}

std::string recipe_html(Page& page, const Report& report, std::size_t index) {
  const ReportRecipe& recipe = report.recipes[index];
  std::string exhibits;
  for (std::size_t e = 0; e < recipe.exhibits.size(); ++e) {
    exhibits +=
        fmt::format("<section class=\"exhibit\" id=\"{}\">\n<h3>{}</h3>\n{}</section>\n", exhibit_anchor(index, e),
                    html_escape(title_of(recipe.exhibits[e])), exhibit_html(page, recipe, recipe.exhibits[e]));
  }
  std::string about = fmt::format("<code>{}</code>", html_escape(recipe.file));
  if (!recipe.profile.empty()) about += ", profile " + html_escape(recipe.profile);
  return fmt::format("<section id=\"{}\">\n<h2>{}</h2>\n<p class=\"about\">{}; {}</p>\n{}</section>\n",
                     recipe_anchor(index), html_escape(recipe.title), about, count_runs(page, recipe), exhibits);
}

}  // namespace

std::string report_page(Store& store, const Report& report) {
  Page page(store, Page::Runs::kInSection);
  std::string body = fmt::format("<main>\n<h1>{}</h1>\n<p class=\"about\">{}</p>\n", html_escape(report.title),
                                 html_escape(report.origin));
  body += verdicts_of(report);
  if (report.recipes.size() > 1) body += contents_of(report);
  for (std::size_t i = 0; i < report.recipes.size(); ++i) body += recipe_html(page, report, i);
  body += "<section id=\"runs\">\n<h2>Runs</h2>\n";
  body += page.appendix().size() > 0 ? page.appendix().section() : "<p>There are no runs yet.</p>\n";
  return page.finish(report.title, body + "</section>\n</main>\n");
}

}  // namespace xlm
