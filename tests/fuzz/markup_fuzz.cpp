// libFuzzer target: any user's text as HTML and as LaTeX. It stays text: it makes no tag, quote, entity or command, and
// its braces match.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/json.h"
#include "results/pages/html.h"
#include "results/sheets/latex.h"
#include "results/sheets/sheet.h"

namespace {

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string_view::npos; at += what.size()) ++found;
  return found;
}

void check_html(const std::string& text) {
  const std::string escaped = xlm::html_escape(text);
  if (escaped.find_first_of("<>\"") != std::string::npos) std::abort();
  for (std::size_t at = 0; (at = escaped.find('&', at)) != std::string::npos; ++at) {
    bool known = false;
    for (const char* entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&#"})
      known = known || escaped.compare(at, std::string_view(entity).size(), entity) == 0;
    if (!known) std::abort();
  }
  // The data of a script cannot end the script, nor begin a comment that hides its end.
  const xlm::Json data = {{"runs", {{"run", text}}}, {"figures", xlm::Json::array()}};
  static const std::string empty =
      xlm::render_document({.title = "", .body = "", .data = {{"runs", xlm::Json::object()}}});
  const std::string page = xlm::render_document({.title = text, .body = "", .data = data});
  for (const char* tag : {"<script", "</script", "<!--", "<title", "</title"}) {
    if (count(page, tag) != count(empty, tag)) std::abort();
  }
}

/// Whether every brace that LaTeX sees as one has its partner.
bool braces_match(std::string_view text) {
  long depth = 0;
  for (std::size_t at = 0; at < text.size() && depth >= 0; ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '{') {
      ++depth;
    } else if (text[at] == '}') {
      --depth;
    }
  }
  return depth == 0;
}

void check_latex(const std::string& text) {
  const std::string escaped = xlm::latex_escape(text);
  if (!braces_match(escaped) || count(escaped, "$") % 2 != 0) std::abort();
  if (escaped.find_first_of("#%&_^") != std::string::npos) {
    for (std::size_t at = 0; at < escaped.size(); ++at) {
      const bool in_math = count(std::string_view(escaped).substr(0, at), "$") % 2 != 0;
      if (std::string_view("#%&_^").find(escaped[at]) != std::string_view::npos && !in_math &&
          (at == 0 || escaped[at - 1] != '\\')) {
        std::abort();
      }
    }
  }
  xlm::Sheet sheet{.title = text, .name = text, .columns = {{"a", false}}, .notes = {text}};
  sheet.add({text});
  if (!braces_match(xlm::render_sheet(sheet, xlm::TableFormat::kLatex))) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_html(text);
  check_latex(text);
  return 0;
}
