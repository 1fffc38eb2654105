// Claims as HTML.
#include "results/pages/claims_page.h"

#include <fmt/format.h>

#include "base/text.h"
#include "results/judgement/verdict.h"
#include "results/pages/html.h"
#include "results/pages/page.h"

namespace xlm {
namespace {

/// "not tried" as a class of the style sheet.
std::string class_of(Verdict verdict) {
  return verdict == Verdict::kNotTried ? "not-tried" : std::string(name_of(verdict));
}

std::string verdict_html(Verdict verdict) {
  return fmt::format(R"(<span class="claim-verdict {}">{}</span>)", class_of(verdict), name_of(verdict));
}

std::string claim_number_html(const JudgedClaim& judged, const ClaimPart& part, const RunReferences& references) {
  if (!part.value) return "–";
  std::string number = html_escape(claim_number(judged.description, part));
  if (part.runs.empty()) return number;
  std::string out = fmt::format(R"(<button type="button" {}>{}</button>)", runs_attributes(part.runs), number);
  const std::string links = references ? references(part.runs) : "";
  if (links.empty()) return out;
  return out + fmt::format(R"(<span class="references">run{} {}</span>)", part.runs.size() == 1 ? "" : "s", links);
}

/// The claim itself, in the first of its rows; below it what it is compared on, and its notes.
std::string claim_html(const JudgedClaim& judged) {
  std::string out = fmt::format(R"(<th scope="rowgroup" rowspan="{}" class="claim">{})", judged.parts.size(),
                                html_escape(judged.description.claim));
  for (const std::string& note : judged.notes) out += R"(<span class="note">)" + html_escape(note) + "</span>";
  return out + "</th>";
}

std::string part_html(const JudgedClaim& judged, const ClaimPart& part, const RunReferences& references) {
  const std::string needs = beside_verdict(part);
  std::string out = "<td>" + html_escape(part.label);
  if (!needs.empty()) out += "<span class=\"note\">" + html_escape(needs) + "</span>";
  out += fmt::format("</td><td>{}</td>", judged.parts.size() == 1 ? "" : verdict_html(part.verdict));
  out += "<td class=\"number\">" + claim_number_html(judged, part, references) + "</td>";
  out += "<td class=\"number\">" + html_escape(claim_interval(judged.description, part)) + "</td>";
  out += fmt::format("<td class=\"number\">{}</td>", part.p ? html_escape(p_text(*part.p)) : "");
  return out + fmt::format("<td class=\"number\">{}</td>", part.seeds > 0 ? fmt::format("{}", part.seeds) : "");
}

}  // namespace

std::string claims_html(const ClaimList& list, const RunReferences& references) {
  std::string out =
      "<div class=\"scroll\"><table class=\"results claims\">\n<thead><tr><th>verdict</th><th>claim</th><th>of</th>"
      "<th></th><th class=\"number\">ours</th><th class=\"number\">95 % interval</th><th class=\"number\">p</th>"
      "<th class=\"number\">seeds</th><th class=\"number\">paper</th></tr></thead>\n";
  for (const JudgedClaim& judged : list.claims) {
    out += "<tbody>\n";
    for (const ClaimPart& part : judged.parts) {
      const bool first = &part == &judged.parts.front();
      out += "<tr>";
      if (first) {
        out += fmt::format("<td rowspan=\"{}\">{}</td>", judged.parts.size(), verdict_html(judged.verdict));
        out += claim_html(judged);
      }
      out += part_html(judged, part, references);
      out += fmt::format("<td class=\"number\">{}</td></tr>\n", first ? html_escape(claim_printed(judged)) : "");
    }
    out += "</tbody>\n";
  }
  return out + "</table></div>\n" + notes_html(list.notes);
}

std::string claims_page(Store& store, const ClaimList& list) {
  Page page(store, Page::Runs::kInPanel);
  const std::string body =
      fmt::format("<main class=\"wide\">\n<section>\n<h1>{}</h1>\n<p class=\"about\">{}</p>\n{}</section>\n</main>\n",
                  html_escape(list.title), counted_claims(count_claims(list.claims)), page.claims(list));
  return page.finish(list.title, body);
}

}  // namespace xlm
