// Pages of results.
#include "results/pages/page.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "results/figures/plot_style.h"
#include "results/fits/fit_figure.h"
#include "results/pages/exhibit_pages.h"
#include "results/pages/run_explorer.h"
#include "results/pages/table_html.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxListedPoints = 500;  // longer curves are better read from the store

std::size_t count_points(const Figure& figure) {
  std::size_t count = 0;
  for (const FigureSeries& series : figure.series) count += series.points.size();
  for (const std::vector<double>& row : figure.grid) count += row.size();
  return count;
}

std::string series_rows(const Figure& figure) {
  std::string out = fmt::format("<tr><th>{}</th><th class=\"number\">{}</th><th class=\"number\">{}</th></tr>\n",
                                html_escape(join(figure.description.series, ", ")), html_escape(figure.x_label),
                                html_escape(figure.y_label));
  for (const FigureSeries& series : figure.series) {
    for (const FigurePoint& point : series.points) {
      const auto place = static_cast<std::size_t>(std::lround(point.x));
      const std::string x = place < figure.x_names.size() ? figure.x_names[place] : value_text(point.x);
      std::string y = value_text(point.y);
      if (point.spread) y += " ± " + with_digits(*point.spread, 3);
      out += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>\n",
                         html_escape(series.label), html_escape(x), runs_button(html_escape(y), point.runs));
    }
  }
  return out;
}

std::string grid_rows(const Figure& figure) {
  std::string out = fmt::format("<tr><th>{} \\ {}</th>", html_escape(figure.y_label), html_escape(figure.x_label));
  for (const std::string& name : figure.x_names) out += "<th class=\"number\">" + html_escape(name) + "</th>";
  out += "</tr>\n";
  for (std::size_t y = 0; y < figure.grid.size(); ++y) {
    out += "<tr><th scope=\"row\">" + html_escape(figure.y_names[y]) + "</th>";
    for (std::size_t x = 0; x < figure.grid[y].size(); ++x) {
      const std::vector<std::string>& runs = figure.grid_runs[y][x];
      const std::string number = runs.empty() ? "–" : html_escape(value_text(figure.grid[y][x]));
      out += "<td class=\"number\">" + runs_button(number, runs) + "</td>";
    }
    out += "</tr>\n";
  }
  return out;
}

}  // namespace

std::string Page::table(const Table& table) {
  appendix_.add(runs_of(table));
  return table_html(table);
}

std::string Page::claims(const ClaimList& claims) {
  for (const JudgedClaim& claim : claims.claims) appendix_.add(runs_of(claim));
  return claims_html(claims);
}

std::string Page::fit(const FitResult& fit) { return fit_html(fit) + figure(figure_of_fit(fit)); }

std::string Page::figure(const Figure& figure) {
  appendix_.add(runs_of(figure));
  std::string out = "<figure>\n";
  out += fmt::format(
      "<div class=\"scroll\"><div class=\"plot\" data-figure=\"{}\" role=\"img\" aria-label=\"{}\"></div></div>\n",
      figures_.size(), html_escape(figure.description.title));
  figures_.push_back(plotly_figure(figure));
  out += "<figcaption>\n";
  if (!figure.caption.empty()) out += "<p>" + html_escape(figure.caption) + "</p>\n";
  for (const std::string& warning : figure.warnings) out += "<p>" + html_escape(warning) + "</p>\n";
  for (const std::string& note : figure.notes) out += "<p>" + html_escape(note) + "</p>\n";
  return out + "</figcaption>\n</figure>\n" + numbers_of(figure);
}

std::string Page::numbers_of(const Figure& figure) const {
  if (count_points(figure) > kMaxListedPoints) return "";
  return "<details class=\"numbers\"><summary>the numbers</summary>\n<div class=\"scroll\"><table "
         "class=\"results\">\n" +
         (figure.grid.empty() ? series_rows(figure) : grid_rows(figure)) + "</table></div>\n</details>\n";
}

std::string Page::explorer(Store& store, const std::string& title) {
  RunTable runs(store);
  explorer_ = explorer_looks();
  explorer_["whole"] = RunExplorer(runs).whole(appendix_.ids());
  return explorer_section(title);
}

std::string Page::finish(const std::string& title, const std::string& body) {
  Json data = {{"runs", appendix_.json()}, {"figures", figures_}};
  const bool explores = !explorer_.is_null();
  if (explores) data["explorer"] = explorer_;
  return render_document({.title = title,
                          .body = body,
                          .data = std::move(data),
                          .plots = explores || !figures_.empty(),
                          .explores = explores});
}

std::string tables_page(Store& store, const std::vector<Table>& tables) {
  Page page(store);
  std::string body = "<main class=\"wide\">\n";
  for (const Table& table : tables) {
    body += fmt::format("<section>\n<h1>{}</h1>\n{}</section>\n", html_escape(table.title), page.table(table));
  }
  return page.finish(tables.empty() ? "Tables" : tables.front().title, body + "</main>\n");
}

std::string figure_page(Store& store, const Figure& figure) {
  Page page(store);
  const std::string title = html_escape(figure.description.title);
  const std::string body =
      fmt::format("<main class=\"wide\">\n<section>\n<h1>{}</h1>\n{}</section>\n</main>\n", title, page.figure(figure));
  return page.finish(figure.description.title, body);
}

std::string runs_page(Store& store, const std::string& title, const std::vector<std::string>& runs) {
  Page page(store);
  page.appendix().add(runs);
  return page.finish(title, fmt::format("<main class=\"wide\">\n<h1>{}</h1>\n{}</main>\n", html_escape(title),
                                        page.explorer(store, "Runs")));
}

}  // namespace xlm
