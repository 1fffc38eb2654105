// Self-contained HTML documents: escaping, data for scripts, and the frame around a page's body.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace xlm {

/// `text` as the content of an element or of an attribute in double quotes.
std::string html_escape(std::string_view text);

/// The attributes with which an element shows its runs on hover (title) and on click (page.js).
std::string runs_attributes(const std::vector<std::string>& runs);

/// `html` as a button that shows the runs; as it is if there are none.
std::string runs_button(std::string_view html, const std::vector<std::string>& runs);

/// Notes below a table, as a list; empty if there are none.
std::string notes_html(const std::vector<std::string>& notes);

struct Document {
  std::string title;
  std::string body;       // HTML
  Json data;              // for page.js: {"runs": {id: …}, "figures": [{"data", "layout"}, …]}
  bool plots = false;     // includes plotly.js
  bool explores = false;  // includes run_explorer.js; `data` has "explorer"
  bool asks = false;      // its scripts may ask the server that the page comes from
};

/// One self-contained file. Its content security policy keeps the browser from loading anything else, but for a page
/// that asks its own server.
std::string render_document(const Document& document);

}  // namespace xlm
