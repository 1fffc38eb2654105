// Self-contained HTML documents.
#include "results/pages/html.h"

#include <algorithm>

#include <fmt/format.h>
#include <boost/algorithm/string/replace.hpp>

#include "base/text.h"
#include "results/pages/assets.h"

namespace xlm {
namespace {

constexpr std::size_t kMaxHintedRuns = 12;

/// JSON in which no text can end the surrounding script element.
std::string script_json(const Json& data) {
  return boost::replace_all_copy(data.dump(-1, ' ', false, Json::error_handler_t::replace), "<", "\\u003c");
}

/// "3 runs: a, b, c", one per line: the hover text of a number. Counts the rest if there are many.
std::string runs_hint(const std::vector<std::string>& runs) {
  std::string text = counted(runs.size(), "run") + ":";
  const std::size_t shown = std::min(runs.size(), kMaxHintedRuns);
  for (std::size_t i = 0; i < shown; ++i) text += "\n" + runs[i];
  if (shown < runs.size()) text += fmt::format("\nand {} more", runs.size() - shown);
  return text;
}

}  // namespace

std::string html_escape(std::string_view text) {
  std::string out(text);
  boost::replace_all(out, "&", "&amp;");  // first, for the others bring one along
  boost::replace_all(out, "<", "&lt;");
  boost::replace_all(out, ">", "&gt;");
  boost::replace_all(out, "\"", "&quot;");
  return out;
}

std::string runs_button(std::string_view html, const std::vector<std::string>& runs) {
  return runs.empty() ? std::string(html)
                      : fmt::format(R"(<button type="button" {}>{}</button>)", runs_attributes(runs), html);
}

std::string runs_attributes(const std::vector<std::string>& runs) {
  return fmt::format(R"(title="{}" data-runs="{}")", html_escape(runs_hint(runs)),
                     html_escape(Json(runs).dump(-1, ' ', false, Json::error_handler_t::replace)));
}

std::string notes_html(const std::vector<std::string>& notes) {
  if (notes.empty()) return "";
  std::string out = "<ul class=\"notes\">\n";
  for (const std::string& note : notes) out += "<li>" + html_escape(note) + "</li>\n";
  return out + "</ul>\n";
}

std::string render_document(const Document& document) {
  std::string out = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n";
  out += fmt::format(
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'unsafe-inline'; "
      "style-src 'unsafe-inline'; img-src data: blob:{}\">\n",
      document.asks ? "; connect-src 'self'" : "");
  out += "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  if (document.asks) out += "<link rel=\"icon\" href=\"data:,\">\n";  // else a browser asks its server for one
  out += "<title>" + html_escape(document.title) + "</title>\n<style>\n";
  out += page_style();
  out += "</style>\n</head>\n<body>\n" + document.body;
  out += R"(<aside id="panel" aria-live="polite" hidden></aside>)"
         "\n";
  out += R"(<script type="application/json" id="data">)" + script_json(document.data) + "</script>\n";
  if (document.plots) {
    out += "<script>";
    out += plotly_script();
    out += "</script>\n";
  }
  out += "<script>\n";
  out += page_script();
  out += "</script>\n";
  if (document.explores) {
    for (const std::string_view script : {run_conditions_script(), run_explorer_script()}) {
      out += "<script>\n";
      out += script;
      out += "</script>\n";
    }
  }
  out += "</body>\n</html>\n";
  return out;
}

}  // namespace xlm
