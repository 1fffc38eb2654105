// Claims as HTML: grouped by their verdicts, each with a picture of its interval.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "results/pages/exhibit_pages.h"
#include "results/pages/html.h"
#include "results/pages/page.h"
#include "results/quantities/number_format.h"
#include "results/store/variation.h"

namespace xlm {
namespace {

constexpr double kPictureWidth = 240;
constexpr double kPictureEdge = 10;  // left and right of the outermost mark

/// "not tried" as a class of the style sheet.
std::string class_of(Verdict verdict) {
  return verdict == Verdict::kNotTried ? "not-tried" : std::string(name_of(verdict));
}

std::string verdict_html(Verdict verdict) {
  return fmt::format(R"(<span class="claim-verdict {}">{}</span>)", class_of(verdict), name_of(verdict));
}

/// Where numbers are in a picture that shows all of its marks.
class PictureScale {
 public:
  void show(double value) {
    if (!std::isfinite(value)) return;
    low_ = std::min(low_, value);
    high_ = std::max(high_, value);
  }

  /// Numbers beyond the picture are at its edge.
  double place(double value) const {
    if (!(high_ > low_)) return value < low_ ? 0 : value > high_ ? kPictureWidth : kPictureWidth / 2;
    const double place = kPictureEdge + (kPictureWidth - 2 * kPictureEdge) * (value - low_) / (high_ - low_);
    return std::clamp(place, 0.0, kPictureWidth);
  }

 private:
  double low_ = std::numeric_limits<double>::infinity();
  double high_ = -std::numeric_limits<double>::infinity();
};

std::string limit_svg(const PictureScale& scale, double limit, const char* anchor) {
  if (!std::isfinite(limit)) return "";
  const double x = scale.place(limit);
  const double text = anchor == std::string_view("middle") ? std::clamp(x, 16.0, kPictureWidth - 16) : x;
  return fmt::format(
      "<line class=\"limit\" x1=\"{0:.1f}\" x2=\"{0:.1f}\" y1=\"1\" y2=\"19\"/>"
      "<text x=\"{1:.1f}\" y=\"29\" text-anchor=\"{2}\">{3}</text>",
      x, text, anchor, with_digits(limit + 0.0, 3));  // −0 is 0
}

/// Where the claim holds, its limits, our number with its interval, and the paper's number.
std::string picture_of(const JudgedClaim& judged, const ClaimPart& part) {
  const double value = part.value.value_or(0);
  const double half = part.half_width.value_or(0);
  PictureScale scale;
  for (const double shown : {value - half, value + half, part.limits.low, part.limits.high}) scale.show(shown);
  if (judged.paper) scale.show(*judged.paper);
  const double low = scale.place(part.limits.low);
  const double high = scale.place(part.limits.high);
  std::string out = fmt::format(
      "<svg class=\"forest\" viewBox=\"0 0 {:.0f} 32\" role=\"img\" aria-label=\"{}, {}\">"
      "<rect class=\"holds\" x=\"{:.1f}\" y=\"1\" width=\"{:.1f}\" height=\"18\"/>",
      kPictureWidth, html_escape(claim_number(judged.description, part)),
      html_escape(claim_interval(judged.description, part)), low, std::max(high - low, 1.0));
  const bool are_two = std::isfinite(part.limits.low) && std::isfinite(part.limits.high) && high - low < 60;
  out += limit_svg(scale, part.limits.low, are_two ? "end" : "middle");
  if (part.limits.high > part.limits.low) out += limit_svg(scale, part.limits.high, are_two ? "start" : "middle");
  if (judged.paper) {
    out += fmt::format(R"(<path class="paper" d="M{:.1f} 4l6 6l-6 6l-6 -6z"><title>paper: {}</title></path>)",
                       scale.place(*judged.paper), html_escape(judged.description.printed));
  }
  return out + fmt::format(
                   "<line class=\"ours\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"10\" y2=\"10\"/>"
                   "<circle cx=\"{:.1f}\" cy=\"10\" r=\"4\"/></svg>",
                   scale.place(value - half), scale.place(value + half), scale.place(value));
}

std::string claim_number_html(const JudgedClaim& judged, const ClaimPart& part) {
  if (!part.value) return "";
  const std::string number = html_escape(claim_number(judged.description, part));
  const std::string interval = html_escape(claim_interval(judged.description, part));
  return runs_button(number, part.runs) + fmt::format("<span class=\"note\">{}</span>", interval);
}

/// What a comparison is of, and what its verdict rests on.
std::string grounds_html(const JudgedClaim& judged, const ClaimPart& part) {
  std::vector<std::string> grounds;
  if (part.p) grounds.push_back(claim_p(judged.description, part));
  if (part.seeds > 0) grounds.push_back(counted_over(part.seeds, judged.description.over));
  if (const std::string more = beside_verdict(part); !more.empty()) grounds.push_back(more);
  return html_escape(join(grounds, ", "));
}

std::string comparison_row(const std::string& head, const std::string& note, const JudgedClaim& judged,
                           const ClaimPart& part) {
  return fmt::format(
      "<div class=\"comparison\"><div>{}<span class=\"note\">{}</span></div><div>{}</div><div "
      "class=\"number\">{}</div></div>\n",
      head, note, part.value ? picture_of(judged, part) : "", claim_number_html(judged, part));
}

/// One comparison stands in the line of its claim, several below it.
std::string answer_html(const JudgedClaim& judged) {
  std::string further;
  if (const std::string printed = claim_printed(judged); !printed.empty()) further += "; paper: " + printed;
  if (const std::string other = at_other_margins(judged); !other.empty()) further += "; " + other;
  const std::string head =
      fmt::format("{} <b>{}</b>{}", verdict_html(judged.verdict), html_escape(judged.description.claim),
                  judged.registered.empty() ? "" : " (" + html_escape(judged.registered) + ")");
  const bool is_single = judged.parts.size() == 1;
  std::string out = "<div class=\"answer\">\n" + (is_single ? "" : "<div>" + head + "</div>\n");
  for (const ClaimPart& part : judged.parts) {
    const std::string label = html_escape(part.label);
    const std::string grounds = grounds_html(judged, part);
    const std::string pill = part.verdict == judged.verdict ? "" : verdict_html(part.verdict) + " ";
    out += is_single ? comparison_row(head, join({label, grounds}, grounds.empty() ? "" : ": ") + html_escape(further),
                                      judged, part)
                     : comparison_row(pill + label, grounds, judged, part);
  }
  if (!is_single && !further.empty())
    out += fmt::format("<span class=\"note\">{}</span>\n", html_escape(further.substr(2)));
  if (!judged.notes.empty()) out += "<details><summary>notes</summary>\n" + notes_html(judged.notes) + "</details>\n";
  return out + "</div>\n";
}

/// What is not tried, folded: a line says why.
std::string untried_html(const std::vector<const JudgedClaim*>& claims) {
  if (claims.empty()) return "";
  std::string out = fmt::format(
      "<details class=\"untried\"><summary>{} {}: what they are about has no runs or numbers yet</summary>\n<ul>\n",
      verdict_html(Verdict::kNotTried), counted(claims.size(), "claim"));
  for (const JudgedClaim* claim : claims) {
    out += fmt::format("<li>{}", html_escape(claim->description.claim));
    for (const ClaimPart& part : claim->parts) {
      out += "<span class=\"note\">" + html_escape(part.missing) + "</span>";
    }
    out += "</li>\n";
  }
  return out + "</ul>\n</details>\n";
}

}  // namespace

std::string claims_html(const ClaimList& list) {
  std::string out = "<div class=\"answers\">\n";
  std::vector<const JudgedClaim*> untried;
  for (const Verdict verdict : {Verdict::kConfirmed, Verdict::kRefuted, Verdict::kUndecided, Verdict::kNotTried}) {
    for (const JudgedClaim& judged : list.claims) {
      if (judged.verdict != verdict) continue;
      if (verdict == Verdict::kNotTried) {
        untried.push_back(&judged);
      } else {
        out += answer_html(judged);
      }
    }
  }
  if (untried.size() < list.claims.size()) {
    out += fmt::format(
        "<p class=\"note\">Each picture has its own scale: our number with its 95 % interval, shaded where the claim "
        "holds{}. Verdicts are about further seeds with these data and settings.</p>\n",
        any_printed(list) ? ", and ◇ is the paper's number" : "");
  }
  return out + untried_html(untried) + "</div>\n" + notes_html(list.notes);
}

std::string claims_page(Store& store, const ClaimList& list) {
  Page page(store);
  const std::string body =
      fmt::format("<main class=\"wide\">\n<section>\n<h1>{}</h1>\n<p class=\"about\">{}</p>\n{}</section>\n</main>\n",
                  html_escape(list.title), counted_claims(count_claims(list.claims)), page.claims(list));
  return page.finish(list.title, body);
}

}  // namespace xlm
