// Tables as text, Markdown, CSV, JSON and LaTeX.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "results/tables/table.h"

namespace xlm {

enum class TableFormat { kText, kMarkdown, kCsv, kJson, kLatex };
inline constexpr std::array<std::string_view, 5> kTableFormatNames{"text", "markdown", "csv", "json", "latex"};

/// Text is for people and fits `width` columns by going on below with further columns (0: any width). CSV and JSON hold
/// numbers in full, with spread, count and the paper's value behind each.
std::string render_table(const Table& table, TableFormat format, int width = 0);

Json to_json(const Table& table);

/// Lines of text, broken at blanks so that each takes at most `width` columns (0: any).
std::string wrapped_lines(const std::vector<std::string>& lines, int width);

}  // namespace xlm
