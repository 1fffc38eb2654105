// Writes a report.
#include "results/pages/report.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "base/text.h"
#include "results/pages/table_html.h"
#include "results/quantities/quantities.h"

namespace xlm {
namespace {

const std::string& title_of(const Exhibit& exhibit) {
  if (const auto* table = std::get_if<Table>(&exhibit)) return table->title;
  if (const auto* figure = std::get_if<Figure>(&exhibit)) return figure->description.title;
  if (const auto* fit = std::get_if<FitResult>(&exhibit)) return fit->description.title;
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
  return out + "<li><a href=\"#explorer\">Runs</a></li>\n</ol>\n</nav>\n";
}

/// What the reader can do about missing numbers.
std::string how_to_make(const ReportRecipe& recipe) {
  if (recipe.command.empty()) return "To list the runs: <code>xlm runs ls</code>.";
  return "To make its runs: <code>" + html_escape(recipe.command) +
         "</code>. To check whether they can fill this, add <code>--check</code>.";
}

std::string exhibit_html(Page& page, const ReportRecipe& recipe, const Exhibit& exhibit) {
  if (const auto* figure = std::get_if<Figure>(&exhibit)) return page.figure(*figure);
  if (const auto* fit = std::get_if<FitResult>(&exhibit)) return page.fit(*fit);
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

/// All runs of a recipe. If the recipe describes none, those behind its numbers.
std::set<std::string> runs_of(const ReportRecipe& recipe) {
  std::set<std::string> runs(recipe.runs.begin(), recipe.runs.end());
  if (!runs.empty()) return runs;
  for (const JudgedClaim& claim : recipe.claims.claims) {
    const std::vector<std::string> shown = runs_of(claim);
    runs.insert(shown.begin(), shown.end());
  }
  for (const Exhibit& exhibit : recipe.exhibits) {
    std::vector<std::string> shown;
    if (const auto* table = std::get_if<Table>(&exhibit)) shown = runs_of(*table);
    if (const auto* figure = std::get_if<Figure>(&exhibit)) shown = runs_of(*figure);
    if (const auto* fit = std::get_if<FitResult>(&exhibit)) shown = runs_of(*fit);
    runs.insert(shown.begin(), shown.end());
  }
  return runs;
}

/// "; they cost 3.1 processor hours, 2.2P FLOPs of training": what the runs say, added up. Empty if they say nothing.
std::string cost_of_runs(Page& page, const std::set<std::string>& runs) {
  std::vector<std::string> parts;
  for (const char* name : kSweepCosts) {
    std::optional<double> sum;
    for (const std::string& run : runs) {
      const Json costs = page.appendix().run(run).value("costs", Json::object());
      const auto found = costs.find(name);
      if (found != costs.end() && found->is_number())
        sum = sum.value_or(0) + own_cost(name, found->get<double>(), costs.value("inherited_flops", 0.0));
    }
    const Quantity known = quantity(name);
    if (sum) parts.push_back(list_number(known, *sum) + " " + (known.unit.empty() ? known.label : known.unit));
  }
  return parts.empty() ? "" : "; they cost " + join(parts, ", ");
}

/// "18 runs: 17 done, 1 failed".
std::string count_runs(Page& page, const ReportRecipe& recipe) {
  const std::set<std::string> runs = runs_of(recipe);
  page.appendix().add({runs.begin(), runs.end()});
  std::map<std::string, int> counts;
  for (const std::string& run : runs) ++counts[page.appendix().run(run).value("status", "unknown")];
  std::vector<std::string> parts;
  for (const auto& [status, count] : counts) parts.push_back(fmt::format("{} {}", count, status));
  return counted(runs.size(), "run") + (parts.empty() ? "" : ": ") + join(parts, ", ") + cost_of_runs(page, runs);
}

/// What the papers claim, and the verdicts: the first thing that a reader wants to know.
std::string claims_of(Page& page, const Report& report) {
  std::string out;
  ClaimCounts all{};
  std::vector<const JudgedClaim*> judged;
  for (const ReportRecipe& recipe : report.recipes) {
    if (recipe.claims.claims.empty()) continue;
    const ClaimCounts counts = count_claims(recipe.claims.claims);
    for (std::size_t i = 0; i < all.size(); ++i) all.at(i) += counts.at(i);
    for (const JudgedClaim& claim : recipe.claims.claims) judged.push_back(&claim);
    if (report.recipes.size() > 1) out += "<h3>" + html_escape(recipe.title) + "</h3>\n";
    out += page.claims(recipe.claims);
  }
  if (out.empty()) return "";
  return fmt::format("<section id=\"claims\">\n<h2>What is claimed</h2>\n<p>{}. {}</p>\n{}</section>\n",
                     counted_claims(all), html_escape(join(notes_on_all(judged), " ")), out);
}

std::string counts_row(const std::string& label, const PrintedCounts& counts) {
  std::string out = fmt::format(R"(<tr><th scope="row">{}</th><td class="number">{}</td>)", label, counts.total());
  for (const std::int64_t count : counts.of) out += fmt::format("<td class=\"number\">{}</td>", count);
  return out + "</tr>\n";
}

/// How our numbers compare with the papers' printed values: in all, and in each table that has some.
std::string summary_of(const Report& report) {
  std::string rows;
  for (std::size_t r = 0; r < report.recipes.size(); ++r) {
    for (std::size_t e = 0; e < report.recipes[r].exhibits.size(); ++e) {
      const auto* table = std::get_if<Table>(&report.recipes[r].exhibits[e]);
      const PrintedCounts counts = table != nullptr ? count_printed(*table) : PrintedCounts{};
      if (counts.total() == 0) continue;
      rows +=
          counts_row(fmt::format("<a href=\"#{}\">{}</a>", exhibit_anchor(r, e), html_escape(table->title)), counts);
    }
  }
  const PrintedCounts all = count_printed(report);
  if (all.total() == 0) return "";
  std::vector<std::string> parts;
  std::string heads = "<th></th><th class=\"number\">printed</th>";
  for (std::size_t i = 0; i < kPrintedOutcomes.size(); ++i) {
    parts.push_back(fmt::format("{}: {}", kPrintedOutcomes.at(i), all.of.at(i)));
    heads += fmt::format("<th class=\"number\">{}</th>", kPrintedOutcomes.at(i));
  }
  return fmt::format(
      "<section id=\"summary\">\n<p>Printed values: {}. Ours in comparison: {}.</p>\n"
      "<div class=\"scroll\"><table class=\"results\">\n<thead><tr>{}</tr></thead>\n<tbody>\n{}</tbody></table></div>\n"
      "</section>\n",
      all.total(), join(parts, ", "), heads, rows);
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

std::string_view outcome_of(const TableCell& cell) {
  if (cell.compared) return name_of(cell.compared->verdict);
  return cell.value ? "no verdict" : "missing";
}

}  // namespace

PrintedCounts count_printed(const Report& report) {
  PrintedCounts counts;
  for (const ReportRecipe& recipe : report.recipes) {
    for (const Exhibit& exhibit : recipe.exhibits) {
      if (const auto* table = std::get_if<Table>(&exhibit)) counts += count_printed(*table);
    }
  }
  return counts;
}

std::string report_page(Store& store, const Report& report) {
  Page page(store);
  std::string body = fmt::format("<main>\n<h1>{}</h1>\n<p class=\"about\">{}</p>\n", html_escape(report.title),
                                 html_escape(report.origin));
  body += claims_of(page, report);
  body += summary_of(report);
  if (report.recipes.size() > 1) body += contents_of(report);
  for (std::size_t i = 0; i < report.recipes.size(); ++i) body += recipe_html(page, report, i);
  body += page.appendix().size() > 0
              ? page.explorer(store, "Runs")
              : "<section id=\"explorer\">\n<h2>Runs</h2>\n<p>There are no runs yet.</p>\n</section>\n";
  return page.finish(report.title, body + "</main>\n");
}

std::int64_t PrintedCounts::total() const { return std::accumulate(of.begin(), of.end(), std::int64_t{0}); }

PrintedCounts& PrintedCounts::operator+=(const PrintedCounts& other) {
  for (std::size_t i = 0; i < of.size(); ++i) of.at(i) += other.of.at(i);
  return *this;
}

PrintedCounts count_printed(const Table& table) {
  PrintedCounts counts;
  for (const TableRow& row : table.rows) {
    for (const TableCell& cell : row.cells) {
      if (cell.printed.empty() || cell.missing == kPrintedOnly)
        continue;  // other people's have none of ours next to them
      const auto* const outcome = std::ranges::find(kPrintedOutcomes, outcome_of(cell));
      ++counts.of.at(static_cast<std::size_t>(outcome - kPrintedOutcomes.begin()));
    }
  }
  return counts;
}

}  // namespace xlm
