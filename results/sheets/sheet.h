// What a table shows, as values: tables, claims, fits and fronts fill one, and have the same forms.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "base/terminal.h"

namespace xlm {

enum class TableFormat { kText, kMarkdown, kCsv, kJson, kLatex };
inline constexpr std::array<std::string_view, 5> kTableFormatNames{"text", "markdown", "csv", "json", "latex"};

struct SheetCell {
  std::string text;
  bool best = false;        // set apart
  std::string behind = {};  // not set apart with it: a spread
  bool star = false;
  std::string printed = {};  // by the paper; empty: nothing
};

struct Sheet {
  std::string title = {};  // empty: it has none
  std::string name = {};   // of its label in LaTeX, tab:NAME
  std::vector<TextTable::Column> columns = {};
  std::string under_head = {};  // what the first of several columns under one head has: of "64" and "64 test"
  std::vector<std::vector<SheetCell>> rows = {};
  std::vector<std::string> notes = {};  // below
  bool goes_on_below = false;           // text wider than the terminal, with further columns; otherwise it is cut

  void add(const std::vector<std::string>& cells);
};

/// How a form sets the best cells apart, for a note: "▸", "Bold".
std::string_view best_mark(TableFormat format);

/// Text is for people and fits `width` columns (0: any width). CSV has the cells alone. JSON is no form of a sheet.
std::string render_sheet(const Sheet& sheet, TableFormat format, int width = 0);

/// Lines of text, broken at blanks so that each takes at most `width` columns (0: any).
std::string wrapped_lines(const std::vector<std::string>& lines, int width);

}  // namespace xlm
