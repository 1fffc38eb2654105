// Fits and continuations as HTML.
#include "results/pages/exhibit_pages.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "results/fits/fit_text.h"
#include "results/pages/html.h"
#include "results/pages/page.h"

namespace xlm {
namespace {

std::string number_cell(const std::string& text) { return "<td class=\"number\">" + html_escape(text) + "</td>"; }

std::string head_of(const Continuations& one) {
  std::string out = "<thead><tr><th>Context</th>";
  for (const ContinuingModel& model : one.models) {
    const std::string label = html_escape(model.label);
    out += "<th>" + (model.run.empty() ? label : runs_button(label, {model.run})) + "</th>";
  }
  return out + "</tr></thead>\n";
}

std::string passage_row(const Continuations& one, const ContinuedPassage& passage) {
  std::string out = fmt::format(
      "<tr><td><span class=\"about\">{}</span><details><summary>{}</summary>\n<p>{}</p></details></td>",
      html_escape(place_text(one, passage)), html_escape(prompt_end(passage.prompt)), html_escape(passage.prompt));
  for (std::size_t i = 0; i < one.models.size(); ++i) {
    const ContinuingModel& model = one.models[i];
    out += model.run.empty() ? "<td class=\"missing\">" + html_escape(model.missing) + "</td>"
                             : "<td>" + html_escape(passage.texts[i]) + "</td>";
  }
  return out + "</tr>\n";
}

}  // namespace

std::string fit_html(const FitResult& fit) {
  const std::vector<FitRow> rows = rows_of_fit(fit);
  const bool labels = std::ranges::any_of(rows, [](const FitRow& row) { return !row.law.empty(); });
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
  Page page(store);
  std::string body = "<main class=\"wide\">\n";
  for (const FitResult& fit : fits) {
    body += fmt::format("<section>\n<h1>{}</h1>\n{}</section>\n", html_escape(fit.description.title), page.fit(fit));
  }
  return page.finish(fits.empty() ? "Fits" : fits.front().description.title, body + "</main>\n");
}

std::string continuations_page(Store& store, const std::vector<Continuations>& all) {
  Page page(store);
  std::string body = "<main class=\"wide\">\n";
  for (const Continuations& one : all) {
    for (const ContinuingModel& model : one.models) {
      if (!model.run.empty()) page.appendix().add({model.run});
    }
    body += fmt::format("<section>\n<h1>{}</h1>\n<table class=\"results continuations\">\n{}<tbody>\n",
                        html_escape(one.description.title), head_of(one));
    for (const ContinuedPassage& passage : one.passages) body += passage_row(one, passage);
    std::vector<std::string> notes{"Decoding is greedy. Click a context to see the whole prompt."};
    notes.insert(notes.end(), one.notes.begin(), one.notes.end());
    body += "</tbody></table>\n" + notes_html(notes) + "</section>\n";
  }
  return page.finish(all.empty() ? "Continuations" : all.front().description.title, body + "</main>\n");
}

}  // namespace xlm
