// Continuations as a page.
#include "results/pages/continuations_page.h"

#include <fmt/format.h>

#include "results/pages/html.h"
#include "results/pages/page.h"

namespace xlm {
namespace {

std::string head_of(const Continuations& one) {
  std::string out = "<thead><tr><th>Context</th>";
  for (const ContinuingModel& model : one.models) {
    out += model.run.empty() ? "<th>" + html_escape(model.label) + "</th>"
                             : fmt::format("<th><button type=\"button\" {}>{}</button></th>",
                                           runs_attributes({model.run}), html_escape(model.label));
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

std::string continuations_page(Store& store, const std::vector<Continuations>& all) {
  Page page(store, Page::Runs::kInPanel);
  std::string body = "<main class=\"wide\">\n";
  for (const Continuations& one : all) {
    for (const ContinuingModel& model : one.models) {
      if (!model.run.empty()) page.appendix().add({model.run});
    }
    body += fmt::format("<section>\n<h1>{}</h1>\n<table class=\"results continuations\">\n{}<tbody>\n",
                        html_escape(one.description.title), head_of(one));
    for (const ContinuedPassage& passage : one.passages) body += passage_row(one, passage);
    body += "</tbody></table>\n<ul class=\"notes\">\n";
    body += "<li>Decoding is greedy. Click a context to see the whole prompt.</li>\n";
    for (const std::string& note : one.notes) body += "<li>" + html_escape(note) + "</li>\n";
    body += "</ul>\n</section>\n";
  }
  return page.finish(all.empty() ? "Continuations" : all.front().description.title, body + "</main>\n");
}

}  // namespace xlm
