// Files inside the program that pages of results need to work anywhere, without a network. They are embedded when the
// program is built (results/pages/assets.cpp.in). The system loads them only when a page is written.
#pragma once

#include <string_view>

namespace xlm {

/// plotly.js, minified; several megabytes.
std::string_view plotly_script();

/// results/pages/page.js and results/pages/page.css.
std::string_view page_script();
std::string_view page_style();

/// results/pages/run_conditions.js and results/pages/run_explorer.js.
std::string_view run_conditions_script();
std::string_view run_explorer_script();

}  // namespace xlm
