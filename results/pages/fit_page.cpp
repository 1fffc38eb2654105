// Fits as HTML.
#include "results/pages/fit_page.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "results/fits/fit_text.h"
#include "results/pages/html.h"
#include "results/pages/page.h"

namespace xlm {
namespace {

std::string number_cell(const std::string& text) { return "<td class=\"number\">" + html_escape(text) + "</td>"; }

}  // namespace

std::string fit_html(const FitResult& fit) {
  const std::vector<FitRow> rows = rows_of_fit(fit);
  const bool labels = std::any_of(rows.begin(), rows.end(), [](const FitRow& row) { return !row.law.empty(); });
  std::string out = "<div class=\"scroll\"><table class=\"results\">\n<thead><tr>";
  if (labels) out += "<th>" + html_escape(join(fit.description.by, ", ")) + "</th>";
  out += fmt::format(
      "<th></th><th class=\"number\">value</th><th class=\"number\">{:g} % interval</th><th class=\"number\">runs "
      "reached</th></tr></thead>\n<tbody>\n",
      fit.description.level);
  for (const FitRow& row : rows) {
    out += "<tr>";
    if (labels) out += "<th scope=\"row\">" + html_escape(row.law) + "</th>";
    out += "<th scope=\"row\">" + html_escape(row.quantity) + "</th>" + number_cell(fit_number(row.value)) +
           number_cell(fit_interval(row.interval)) + number_cell(row.made ? fit_number(*row.made) : "") + "</tr>\n";
  }
  return out + "</tbody></table></div>\n" + notes_html(notes_of_fit(fit));
}

std::string fits_page(Store& store, const std::vector<FitResult>& fits) {
  Page page(store, Page::Runs::kInPanel);
  std::string body = "<main class=\"wide\">\n";
  for (const FitResult& fit : fits) {
    body += fmt::format("<section>\n<h1>{}</h1>\n{}</section>\n", html_escape(fit.description.title), page.fit(fit));
  }
  return page.finish(fits.empty() ? "Fits" : fits.front().description.title, body + "</main>\n");
}

}  // namespace xlm
