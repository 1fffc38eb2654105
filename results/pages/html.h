// HTML documents that need nothing but themselves: escaping, data for scripts, and the frame around a page's body.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace xlm {

/// `text` as the content of an element or of an attribute in double quotes.
std::string html_escape(std::string_view text);

/// "3 runs: a, b, c", a line each: what hovering over a number says of its runs. Many are counted.
std::string runs_hint(const std::vector<std::string>& runs);

/// The attributes that make an element show runs when it is hovered over (title) and clicked (page.js).
std::string runs_attributes(const std::vector<std::string>& runs);

struct Document {
  std::string title;
  std::string body;    // HTML
  Json data;           // for page.js: {"runs": {id: …}, "figures": [{"data", "layout"}, …]}
  bool plots = false;  // takes plotly.js in
};

/// One self-contained file. A content security policy inside it keeps the browser from loading anything else.
std::string render_document(const Document& document);

}  // namespace xlm
