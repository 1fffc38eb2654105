// Files that are part of the program: what pages of results need to work anywhere, without a network. They are embedded
// when the program is built (results/assets.cpp.in) and read from disk only where a page is written.
#pragma once

#include <string_view>

namespace xlm {

/// plotly.js, minified; several megabytes.
std::string_view plotly_script();

/// results/pages/page.js and results/pages/page.css.
std::string_view page_script();
std::string_view page_style();

}  // namespace xlm
